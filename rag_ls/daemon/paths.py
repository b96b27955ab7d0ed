"""The files by which a user's engine is found. Uses only strings and `os`, because every relay pays for the imports here."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

# Below the smallest limit of a socket's path on any of our systems (macOS: 104 bytes with the final NUL).
_MAX_SOCKET_PATH_BYTES = 100


class EnginePaths(NamedTuple):
    """The files of a running engine, all in a folder that its user alone can enter."""

    folder: str
    socket: str
    """The Unix domain socket; on Windows, a file with the port and the token instead."""
    pid: str
    lock: str
    """The engine holds this lock while it lives and accepts clients; nothing else proves that one runs."""
    stopped: str
    """Exists after the user stopped the engine."""
    log: str


def engine_paths() -> EnginePaths:
    """The paths of this user's engine, whether it runs or not."""
    folder = _runtime_folder()
    if sys.platform != "win32" and len(os.fsencode(os.path.join(folder, "engine.sock"))) > _MAX_SOCKET_PATH_BYTES:
        folder = os.path.join("/tmp", f"rag-ls-{_user()}-{_digest(folder)}")
    return EnginePaths(
        folder,
        socket=os.path.join(folder, "engine.sock"),
        pid=os.path.join(folder, "engine.pid"),
        lock=os.path.join(folder, "engine.lock"),
        stopped=os.path.join(folder, "engine.stopped"),
        log=_log_file(),
    )


def noted_pid(paths: EnginePaths) -> str:
    """The PID of the engine that runs, or of the last one if it ended suddenly; else empty."""
    try:
        with open(paths.pid, encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


def make_private(folder: str) -> None:
    """Make a folder that only its user can enter. Raises `PermissionError` if another user owns it."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    check_private(folder)
    if hasattr(os, "getuid") and os.lstat(folder).st_mode & 0o777 != 0o700:
        os.chmod(folder, 0o700)


def check_private(folder: str) -> None:
    """Raise `PermissionError` if the user does not own a folder."""
    if hasattr(os, "getuid") and (os.path.islink(folder) or os.lstat(folder).st_uid != os.getuid()):
        raise PermissionError(f"{folder} belongs to another user; set RAG_LS_HOME to a folder of your own")


def user_config_file() -> str:
    """The user's settings file, as `project.user_config_file` finds it."""
    if home := user_home():
        return os.path.join(home, "config", "config.toml")
    base = _user_folder(mac="~/Library/Application Support", variable="XDG_CONFIG_HOME", otherwise="~/.config")
    return os.path.join(base, "rag-ls", "config.toml")


def why_no_home() -> str:
    """The reason why nothing can be kept for this user, with the remedy; empty where it can.

    An account may have no home, and `sudo` may leave `HOME` another user's.
    """
    return _why_unnamed() or _why_closed()


def _why_closed() -> str:
    home = user_home()
    data = _user_folder(mac="~/Library/Application Support", variable="XDG_DATA_HOME", otherwise="~/.local/share")
    for folder in (os.path.dirname(user_config_file()), os.path.join(home or data, "data" if home else "rag-ls")):
        try:
            os.stat(os.path.join(folder, "any"))
        except PermissionError:
            return (
                f"{folder}, where settings and memories are kept, cannot be looked at (Permission denied): HOME or RAG_LS_HOME "
                "may be another user's; set RAG_LS_HOME to a folder of your own, or make that one yours again"
            )
        except (OSError, ValueError):
            continue
    return ""


def _why_unnamed() -> str:
    value = os.environ.get("RAG_LS_HOME", "")
    if value and not value.startswith("~"):
        return ""
    if not os.path.expanduser(value or "~").startswith("~"):
        return ""
    if not value and all(os.environ.get(name) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")):
        return ""
    return (
        "this account has no home folder (HOME is not set, and the system knows none): set RAG_LS_HOME to a folder of "
        "your own, in which settings and memories are kept"
    )


def user_home() -> str:
    """The folder that `RAG_LS_HOME` names for all user-level state, from the root; empty where it is not set."""
    value = os.environ.get("RAG_LS_HOME")
    return os.path.realpath(os.path.expanduser(value)) if value else ""


def _runtime_folder() -> str:
    if home := user_home():
        # Where root works with a user's state, its engine has a folder beside that of the user's.
        is_another_s = sys.platform != "win32" and os.path.exists(home) and not _is_own(home)
        return os.path.join(home, f"run-{_user()}" if is_another_s else "run")
    if sys.platform in ("win32", "darwin"):
        # Not the temporary folder: programs set that to places of their own, and each of those would get an engine.
        return os.path.join(_user_folder(mac="~/Library/Caches", variable="", otherwise=""), "rag-ls", "run")
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    temporary = os.environ.get("TMPDIR") or os.environ.get("TEMP") or "/tmp"
    folder = os.path.join(runtime, "rag-ls") if _is_own(runtime) else os.path.join(temporary, f"rag-ls-{_user()}")
    return f"{folder}{_mark_of_home()}"


def _mark_of_home() -> str:
    """The end of the folder's name where `HOME` is another than the account's: such a home has memories and settings of its own."""
    import pwd

    home = os.path.realpath(os.path.expanduser("~"))
    try:
        is_usual = home == os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        is_usual = False
    return "" if is_usual or home.endswith("~") else f"-{_digest(home)}"


def _is_own(folder: str) -> bool:
    """Whether a folder is there and the user's: `su` and `sudo` leave the variables of another user."""
    try:
        return os.stat(folder).st_uid == os.getuid()
    except OSError:
        return False


def _digest(path: str) -> str:
    import hashlib

    return hashlib.sha256(os.fsencode(path)).hexdigest()[:12]


def _log_file() -> str:
    if home := user_home():
        return os.path.join(home, "log", "engine.log")
    base = _user_folder(mac="~/Library/Logs", variable="XDG_STATE_HOME", otherwise="~/.local/state")
    return os.path.join(base, "rag-ls", "engine.log")


def _user_folder(*, mac: str, variable: str, otherwise: str) -> str:
    """The user's folder of one kind on this system; elsewhere than on Windows and macOS, the XDG variable names it."""
    if sys.platform == "win32":
        return os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
    if sys.platform == "darwin":
        return os.path.expanduser(mac)
    return os.environ.get(variable) or os.path.expanduser(otherwise)


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
