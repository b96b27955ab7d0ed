"""Folders that are no projects: those of the system, of other users, and of credentials."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

# Anywhere, in any user's home.
_CREDENTIAL_NAMES = frozenset({".ssh", ".gnupg", ".aws", ".kube", ".azure", ".password-store"})
_CREDENTIALS_AT_HOME = (
    ".docker", ".config/gcloud", ".config/gh", ".config/op", ".config/rclone", ".config/sops", ".config/google-chrome",
    ".config/chromium", ".mozilla", ".local/share/keyrings", ".local/share/kwalletd", "Library/Keychains",
    "AppData/Roaming/Microsoft/Credentials", "AppData/Roaming/Microsoft/Protect", "AppData/Roaming/Microsoft/Crypto",
)  # fmt: skip
_NEVER = (
    "/proc", "/sys", "/dev", "/run/secrets", "/run/credentials", "/var/run/secrets", "/var/lib/kubelet",
    "/etc/ssh", "/etc/ssl/private", "/etc/pki", "/etc/sudoers.d", "/etc/kubernetes", "/Library/Keychains",
)  # fmt: skip
_TEMPORARY = "/tmp"
_NEVER_ITSELF = ("/etc", "/private/etc")
# Memory that programs use as a temporary folder.
_SHARED_MEMORY = "/dev/shm"
_SYSTEM = (
    "/etc", "/usr", "/var", "/boot", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/run", "/lost+found",
    "/System", "/Library", "/Applications", "/private/etc", "/private/var", "/cores", "/nix/store",
    "C:/Windows", "C:/Program Files", "C:/Program Files (x86)", "C:/ProgramData",
)  # fmt: skip
# Below these lie the places where people keep their work.
_WORK = ("/usr/src", "/usr/local/src", "/var/www", "/var/tmp", "/run/media", "/run/user", _SHARED_MEMORY)
_OF_PROGRAMS_AT_HOME = (".config", ".local", ".cache", "Library", "AppData")
_HOMES = ("/home", "/Users", "C:/Users")
# Where drives are mounted.
_DRIVES = ("/mnt", "/media", "/Volumes")


def why_never_a_project(folder: Path) -> str:
    """The reason never to index a folder, even if the user asks for it; empty without one."""
    if _CREDENTIAL_NAMES.intersection(folder.parts) or any(
        _is_in(folder, _home() / place) for place in _CREDENTIALS_AT_HOME
    ):
        return "holds credentials"
    if _is_in(folder, _SHARED_MEMORY) and str(folder) != _SHARED_MEMORY:
        return ""
    if any(_is_in(folder, place) for place in _NEVER) or str(folder) in _NEVER_ITSELF:
        return "belongs to the system and holds credentials or no files at all"
    return ""


def why_no_project_unasked(folder: Path) -> str:
    """The reason to index a folder only if the user insists, or where it has a repository of its own; else empty.

    That rests with the caller.
    """
    if _is_in(folder, _home()) and not _is_system(_home()):
        inside = any(_is_in(folder, _home() / place) for place in _OF_PROGRAMS_AT_HOME)
        return (
            "holds settings and data of programs" if inside and not _is_in_temporary_folder_of(_home(), folder) else ""
        )
    if folder.as_posix() in _HOMES:
        return "holds the homes of all users"
    if folder.as_posix() in _DRIVES:
        return "holds whole drives"
    if _is_of_another_user(folder):
        return "is another user's"
    if any(_is_in(folder, place) and str(folder) != place for place in (*_WORK, os.path.realpath(temporary_folder()))):
        return ""
    return "belongs to the system" if _is_system(folder) else ""


def temporary_folder() -> str:
    """The system's temporary folder. Where none can be written, Python takes the working directory, which is none."""
    try:
        found = tempfile.gettempdir()
    except FileNotFoundError:
        return _TEMPORARY
    named = [os.path.abspath(place) for name in ("TMPDIR", "TEMP", "TMP") if (place := os.environ.get(name))]
    is_fallback = found == _working_folder() and found not in (*named, "/var/tmp", "/usr/tmp")
    return _TEMPORARY if is_fallback else found


def _working_folder() -> str:
    """The folder that this process works in; empty where that was deleted."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def account_home() -> str:
    """The home folder of the account that this process runs as, whatever HOME says; HOME's where that cannot be told."""
    try:
        import pwd
    except ImportError:
        return os.path.expanduser("~")
    try:
        return pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return os.path.expanduser("~")


def _is_system(folder: Path) -> bool:
    return any(_is_in(folder, place) for place in _SYSTEM)


def _is_of_another_user(folder: Path) -> bool:
    """Whether a folder is in the home folder of another user, even if this user may read it."""
    homes = [Path(place) / name for place in _HOMES for name in folder.parts if _is_in(folder, Path(place) / name)]
    if _is_in(folder, "/root"):
        homes.append(Path("/root"))
    return any(_has_another_owner(home) for home in homes if home.as_posix() not in _HOMES)


def _has_another_owner(home: Path) -> bool:
    try:
        return hasattr(os, "geteuid") and os.stat(home).st_uid != os.geteuid()
    except OSError:
        return True


def _is_in_temporary_folder_of(home: Path, folder: Path) -> bool:
    """Whether a folder is in the temporary folder, which Windows keeps at home among the data of programs."""
    temporary = Path(os.path.realpath(temporary_folder()))
    return _is_in(temporary, home) and _is_in(folder, temporary) and folder != temporary


def _is_in(folder: Path, place: str | Path) -> bool:
    """Whether a folder is a place or below it."""
    return folder == Path(place) or Path(place) in folder.parents


def _home() -> Path:
    return Path(os.path.realpath(os.path.expanduser("~")))
