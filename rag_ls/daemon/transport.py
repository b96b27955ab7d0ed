"""The connection between processes of one user: a Unix domain socket, or a loopback port with a token (Windows)."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import sys
from typing import NamedTuple

from rag_ls.daemon.paths import EnginePaths, check_private, make_private
from rag_ls.util.files import whole_file

HAS_UNIX_SOCKETS = hasattr(socket, "AF_UNIX") and sys.platform != "win32"
_MAX_BACKLOG = 128


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
