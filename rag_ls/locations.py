"""The folders of the user's settings and data, and those that are no projects.

Settings that name folders are needed before the others are loaded, and stay for a process's life. `config` checks the same values, and
tells what is wrong with them.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

from rag_ls.util.decoding import decode_marked, read_toml

_SECTION = "locations"
_ENVIRONMENT_PREFIX = "RAG_LS_LOCATIONS_"


def named_location(config_file: Path, key: str) -> Path | None:
    """The folder that the environment or the user's file names for one kind of data; None where none is, or it is no full path."""
    named = os.environ.get(f"{_ENVIRONMENT_PREFIX}{key.upper()}") or _read_section(config_file).get(key)
    folder = os.path.expanduser(named) if isinstance(named, str) else ""
    return Path(os.path.realpath(folder)) if os.path.isabs(folder) and "\0" not in folder else None


@functools.cache
def _read_section(config_file: Path) -> dict[str, Any]:
    """The section of the user's file as this process found it first: data must not move while it works."""
    try:
        section = read_toml(decode_marked(config_file.read_bytes())).get(_SECTION)
    except (OSError, ValueError):
        return {}
    return section if isinstance(section, dict) else {}


def user_home() -> Path | None:
    """The folder that `RAG_LS_HOME` names for all user-level state, or None when it is not set."""
    value = os.environ.get("RAG_LS_HOME")
    return Path(os.path.realpath(os.path.expanduser(value))) if value else None


def user_config_file() -> Path:
    """The user's own settings file."""
    return _user_folder("config") / "config.toml"


def user_data_folder() -> Path:
    """The folder of memories and models: that of the setting `locations.data`, else the system's for such data."""
    return named_location(user_config_file(), "data") or _user_folder("data")


def indexes_folder() -> Path | None:
    """The folder of all projects' indexes, as the setting `locations.indexes` names it; None where each lies in its project."""
    return named_location(user_config_file(), "indexes")


def _user_folder(kind: str) -> Path:
    if home := user_home():
        return home / kind
    import platformdirs

    finder = {"config": platformdirs.user_config_path, "data": platformdirs.user_data_path}[kind]
    return finder("rag-ls", appauthor=False)


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
    import tempfile

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
