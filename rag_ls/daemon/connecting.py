"""Listens for clients of one user, finds the running engine, and starts one: a Unix domain socket, or on Windows a port with a token."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import sys
import time
from collections.abc import Callable
from enum import StrEnum
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from rag_ls.daemon.channel import SILENT_S, Channel, EngineLost, Refused, greet
from rag_ls.daemon.paths import EnginePaths, check_private, engine_paths, make_private, user_config_file, user_home
from rag_ls.util.files import whole_file
from rag_ls.util.processes import command_of

if TYPE_CHECKING:
    import subprocess


HAS_UNIX_SOCKETS = hasattr(socket, "AF_UNIX") and sys.platform != "win32"
_MAX_BACKLOG = 128

T = TypeVar("T")
_CONNECT_S = 5.0
# A busy machine may take this long to start a Python process, after a former engine has released its lock.
_LISTEN_S = 60.0
_LOOK_S = 0.02
_OTHER_S = 1.0


class Listening(NamedTuple):
    """A listening socket, and the token that clients must send (empty where the system tells their user)."""

    socket: socket.socket
    token: str
    address: str


def listen(paths: EnginePaths, *, unix: bool = HAS_UNIX_SOCKETS) -> Listening:
    """Listen for clients of this user. Replaces the socket of a dead engine; the caller must hold the lock."""
    make_private(paths.folder)
    remove(paths)
    if not unix:
        return _listen_on_port(paths)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # No other user can connect between `bind` and `chmod` either, because the folder is private.
    listener.bind(paths.socket)
    os.chmod(paths.socket, 0o600)
    listener.listen(_MAX_BACKLOG)
    return Listening(listener, "", paths.socket)


def connect(paths: EnginePaths, timeout_s: float, *, unix: bool = HAS_UNIX_SOCKETS) -> tuple[socket.socket, str] | None:
    """Connect to the engine: the socket and the token to send, or None if no engine answers.

    Raises `PermissionError` if another user could be at the other end: in a shared folder (/tmp), another user may have
    taken the name first.
    """
    if not os.path.lexists(paths.socket):
        return None
    check_private(paths.folder)
    try:
        if not unix:
            with open(paths.socket, encoding="utf-8") as file:
                place = json.load(file)
            return socket.create_connection(("127.0.0.1", place["port"]), timeout_s), place["token"]
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(timeout_s)
            connection.connect(paths.socket)
        except BaseException:
            connection.close()
            raise
    except (OSError, ValueError, KeyError):
        return None
    if peer_user(connection) not in (None, os.getuid()):
        connection.close()
        raise PermissionError(f"{paths.socket} is served by another user; set RAG_LS_HOME to a folder of your own")
    return connection, ""


def is_listening(paths: EnginePaths, timeout_s: float) -> bool:
    """Whether an engine accepts a connection. Raises `PermissionError` as `connect` does."""
    answered = connect(paths, timeout_s)
    if answered is not None:
        answered[0].close()
    return answered is not None


def remove(paths: EnginePaths) -> None:
    """Delete the socket file. Where Windows does not, because a client reads it, it is replaced."""
    with contextlib.suppress(FileNotFoundError, *(() if HAS_UNIX_SOCKETS else (PermissionError,))):
        os.unlink(paths.socket)


def peer_user(connection: socket.socket) -> int | None:
    """The user id of the process at the other end; None where the system does not tell it."""
    if hasattr(socket, "SO_PEERCRED"):
        data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", data)[1])
    if sys.platform == "darwin":
        # LOCAL_PEERCRED of <sys/un.h> gives struct xucred: its version, then the user id.
        return int(struct.unpack_from("II", connection.getsockopt(0, 1, 76))[1])
    return None


def _listen_on_port(paths: EnginePaths) -> Listening:
    import secrets

    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    listener.listen(_MAX_BACKLOG)
    token, port = secrets.token_urlsafe(32), listener.getsockname()[1]
    with whole_file(paths.socket) as file:
        json.dump({"port": port, "token": token}, file)
    return Listening(listener, token, f"127.0.0.1:{port}")


class Mode(StrEnum):
    """The setting `daemon`: which process does the work."""

    AUTO = "auto"
    """The running engine; if there is none, start one."""
    MANUAL = "manual"
    """The running engine; if there is none, the client's own process."""
    NEVER = "never"
    """Always the client's own process."""

    @classmethod
    def of(cls, arguments: SimpleNamespace) -> Mode:
        """The mode that the command line, else the environment, else the user's settings ask for."""
        if getattr(arguments, "standalone", False):
            return cls.NEVER
        wanted = os.environ.get("RAG_LS_DAEMON_MODE") or os.environ.get("RAG_LS_DAEMON") or _in_config()
        return cls(wanted) if wanted in tuple(cls) else cls.AUTO


def find_engine(
    surface: str, mode: Mode, about: dict[str, Any] | None = None, *, answer_s: float = SILENT_S
) -> Channel | None:
    """Connect to the engine as a client of `surface`; None if this process should do the work itself.

    Starts an engine if none runs and `mode` allows it; one that is busy or still starting may take `answer_s` seconds. Prints
    one line if an engine was wanted and none is available.
    """
    if mode is Mode.NEVER:
        return None
    paths = engine_paths()
    try:
        found = _try_connect(paths, surface, about or {}, answer_s)
        if found is None and mode is Mode.AUTO:
            found = start_and_connect(lambda: _try_connect(paths, surface, about or {}, answer_s))
    except (Refused, OSError) as error:
        _warn(str(error))
        return None
    if found is None:
        _warn(
            "no engine runs"
            if mode is Mode.MANUAL
            else f"no engine could be started: `rag-ls serve` says why, and {paths.log}"
        )
    return found


def start_engine() -> subprocess.Popen[bytes]:
    """Start an engine in the background. The process exits with 0 if another engine was faster."""
    import subprocess
    import threading

    command = command_of("rag_ls.cli.main", "serve", "--background")
    # Not in the caller's folder: an engine outlives the caller, and would keep that file system busy.
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=os.path.expanduser("~") if os.path.isdir(os.path.expanduser("~")) else "/",
        start_new_session=True,
        # Windows: a hidden console, which its child processes share; without one, each of them would open a window.
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        env={name: value for name, value in os.environ.items() if not name.startswith("RAG_LS_LOG")} | _whole_home(),
    )
    # An ended process stays a zombie until its parent waits for it.
    threading.Thread(target=process.wait, name="reaper", daemon=True).start()
    return process


def _whole_home() -> dict[str, str]:
    """A home named from the current folder, named from the root: the engine works in another folder."""
    home = user_home()
    return {"RAG_LS_HOME": home} if home else {}


def start_and_connect(connect: Callable[[], T | None]) -> T | None:
    """Start an engine, and call `connect` until it returns something; None if no engine can be had."""
    process = start_engine()
    deadline, again_at = time.monotonic() + _LISTEN_S, 0.0
    while time.monotonic() < deadline and not process.poll():
        if process.poll() is None:
            again_at = time.monotonic() + _OTHER_S
        elif time.monotonic() >= again_at:
            # Another engine listened, and takes no clients: it was about to end.
            process = start_engine()
        # Polled, because another process gives no signal when it begins to listen.
        time.sleep(_LOOK_S)
        if (found := connect()) is not None:
            return found
    return None


def _try_connect(paths: EnginePaths, surface: str, about: dict[str, Any], answer_s: float) -> Channel | None:
    """A greeted connection; None if no engine accepts clients, or the engine is making way for another."""
    answered = connect(paths, _CONNECT_S)
    if answered is None:
        return None
    try:
        return greet(*answered, surface, about, answer_s=answer_s)
    except EngineLost:
        return None
    except Refused as refused:
        if refused.reason == "leaving":
            return None
        raise


def _in_config() -> str:
    """The setting `daemon` of the user's file, unchecked: the process that does the work checks the whole file."""
    try:
        with open(user_config_file(), "rb") as file:
            from rag_ls.util.decoding import decode_marked, read_toml

            value = read_toml(decode_marked(file.read())).get("daemon", "")
    except (OSError, ValueError):
        return ""
    return str(value.get("mode", "") if isinstance(value, dict) else value)


def _warn(reason: str) -> None:
    print(f"rag-ls: {reason}; working without it", file=sys.stderr)
