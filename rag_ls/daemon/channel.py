"""A connection to the engine: first a greeting, then calls as lines of JSON, or a surface's own protocol."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from collections.abc import Callable, Sequence
from typing import IO, Any

from rag_ls import __version__, errors
from rag_ls.errors import RagLsError

Json = dict[str, Any]

# Increase this when messages change their meaning. Two ends with different numbers refuse each other.
PROTOCOL_VERSION = 2
# A greeting is short: a peer that sends more, or nothing for this long, is not one of our clients.
MAX_GREETING_BYTES = 1_000_000
GREETING_S = 10.0
_MAX_LINE_BYTES = 128_000_000
# An engine that works for a shell command sends a sign of life this often; one that is silent for `SILENT_S` hangs. An engine that
# starts may take as long until it greets a client.
ALIVE_EVERY_S = 5.0
SILENT_S = 30.0


class EngineLost(RagLsError):
    """The engine ended, or sent an unreadable message."""


class Refused(RagLsError):
    """The engine refuses the client; `reason` is one word for why."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Channel:
    """One connection. Several threads may send, one receives."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.input: IO[bytes] = connection.makefile("rb")
        self.greeting: Json = {}
        self._sending = threading.Lock()

    def send(self, message: Json) -> None:
        """Send one line. Raises `OSError` if the other end is gone."""
        line = json.dumps(message).encode() + b"\n"
        with self._sending:
            self.socket.sendall(line)

    def receive(self, longest: int = _MAX_LINE_BYTES) -> Json | None:
        """The next message, or None at the end. Raises `EngineLost` unless it is a JSON object on one line."""
        line = self.input.readline(longest)
        if not line:
            return None
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise EngineLost(f"unreadable message: {error}") from error
        if not line.endswith(b"\n") or not isinstance(message, dict):
            raise EngineLost("unreadable message")
        return message

    def hang_up(self) -> None:
        """End the connection, so that neither end waits for the other any more."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError):
            self.input.close()
            self.socket.close()


def greet(connection: socket.socket, token: str, surface: str, about: Json, *, answer_s: float = SILENT_S) -> Channel:
    """Introduce a client. Raises `Refused` (also if no answer comes within `answer_s` seconds) or `EngineLost`."""
    channel = Channel(connection)
    variables = {name: value for name, value in os.environ.items() if name.startswith("RAG_LS_")}
    hello = {"rag_ls": PROTOCOL_VERSION, "version": __version__, "token": token, "surface": surface, "pid": os.getpid()}
    try:
        connection.settimeout(answer_s)
        channel.send({**hello, "environment": variables, **about})
        answer = channel.receive(MAX_GREETING_BYTES)
        connection.settimeout(None)
    except TimeoutError as error:
        channel.hang_up()
        raise Refused("silent", f"the engine has not answered for {answer_s:.0f} s") from error
    except (OSError, EngineLost) as error:
        channel.hang_up()
        raise EngineLost(f"the engine ended: {error}") from error
    if answer is None:
        channel.hang_up()
        raise EngineLost("the engine ended")
    if not answer.get("ok"):
        channel.hang_up()
        raise Refused(str(answer.get("reason", "")), str(answer.get("message", "the engine refused")))
    channel.greeting = answer
    return channel


def call(
    channel: Channel,
    operation: str,
    folder: str,
    arguments: Json,
    show: Callable[[Json], None] | None = None,
    warn: Callable[[str], None] = lambda _: None,
    beside: Sequence[str] = (),
) -> Json:
    """Run an operation on the project around `folder` (empty for none), and on those in `beside`.

    `show` receives progress, `warn` warnings.

    Raises the operation's errors, or `EngineLost` if the engine ends or hangs meanwhile.
    """
    try:
        channel.send({"operation": operation, "folder": folder, "beside": list(beside), "arguments": arguments})
        channel.socket.settimeout(SILENT_S)
        while (message := channel.receive()) is not None:
            if "result" in message or "error" in message:
                for warning in message.get("warnings", ()):
                    warn(str(warning))
                return _result(message)
            if show is not None and "progress" in message:
                show(message["progress"])
    except TimeoutError as error:
        raise EngineLost(f"the engine has been silent for {SILENT_S:.0f} s") from error
    except OSError as error:
        raise EngineLost(f"the engine ended: {error}") from error
    finally:
        channel.hang_up()
    raise EngineLost("the engine ended before it answered")


def _result(message: Json) -> Json:
    error = message.get("error")
    if error is None:
        result: Json = message["result"]
        return result
    kind = getattr(errors, str(error.get("type")), RagLsError)
    is_ours = isinstance(kind, type) and issubclass(kind, RagLsError)
    raise (kind if is_ours else RagLsError)(str(error.get("message")))
