"""JSON-RPC messages on byte streams, for relays and for the early answer to `initialize`.

Protocol libraries take up to a second to import. An editor or agent waits for that answer, so our code sends it
first. Then the library reads the same message, and its own answer is dropped.
"""

from __future__ import annotations

import json
import os
import select
import sys
import threading
from collections.abc import Callable
from typing import IO, Any

Message = dict[str, Any]

# JSON-RPC 2.0, "Error object", and LSP's `RequestFailed`.
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
REQUEST_FAILED = -32803

LOST_MEMORIES = "rag-ls/lost-memories"
"""In `_meta` of the `initialize` that a relay gives a new engine: the former one ended with memories of this session."""

# Editors synchronise no larger file, and no other message is as long.
MAX_MESSAGE_BYTES = 128_000_000
_MAX_HEADER_BYTES = 8192


class MessageTooLong(Exception):
    """The sender announced or sent a message beyond the limit."""


def claim_standard_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Reserve stdin and stdout for the protocol; all other output goes to stderr."""
    for stream in (0, 1) if os.name == "posix" else ():
        # A client may hand over its own pipes, which never wait: reading would end, and writing would take nothing.
        os.set_blocking(stream, True)
    output = os.fdopen(os.dup(1), "wb", buffering=0)
    source = os.fdopen(os.dup(0), "rb")
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    sys.stdout = sys.stderr
    return source, output


def parsed(body: bytes) -> Message | None:
    """The message in a body, or None where it is not a JSON object."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def refuse_unreadable(body: bytes) -> Message:
    """The answer to a body that `parsed` finds no message in; it has no id, as JSON-RPC 2.0 says."""
    code = INVALID_REQUEST
    try:
        json.loads(body)
    except ValueError:
        code = PARSE_ERROR
    except RecursionError:
        pass
    error = {"code": code, "message": "unreadable message: a message is one JSON object"}
    return {"jsonrpc": "2.0", "id": None, "error": error}


def read_framed(source: Any) -> bytes | None:
    """The body of the next message with a `Content-Length` header (LSP base protocol); None at the end.

    Skips headers without a length. Raises `MessageTooLong`.
    """
    length = 0
    while line := source.readline(_MAX_HEADER_BYTES):
        if not line.endswith(b"\n"):
            if len(line) == _MAX_HEADER_BYTES:
                raise MessageTooLong("a header line does not end")
            return None
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            length = int(value)
        elif not line.strip() and length:
            if length > MAX_MESSAGE_BYTES:
                raise MessageTooLong(
                    f"a message of {length:,} bytes was announced, {MAX_MESSAGE_BYTES:,} are the limit"
                )
            body: bytes = source.read(length)
            return body if len(body) == length else None
    return None


def framed(body: bytes) -> bytes:
    """A message with its `Content-Length` header."""
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def read_line(source: Any) -> bytes | None:
    """The next message of one line (MCP's stdio transport); None at the end. Raises `MessageTooLong`."""
    line: bytes = source.readline(MAX_MESSAGE_BYTES)
    if len(line) == MAX_MESSAGE_BYTES and not line.endswith(b"\n"):
        raise MessageTooLong(f"a line is longer than {MAX_MESSAGE_BYTES:,} bytes")
    return line if line.endswith(b"\n") else None


def write_all(output: IO[bytes], data: bytes) -> None:
    """Write all of it to an unbuffered stream, which may take a part at a time."""
    view = memoryview(data)
    while view:
        view = view[output.write(view) :]


class FramedInput:
    """A stream of whole framed messages for pygls. It ends at a message that is broken or too long."""

    def __init__(self, source: Any, on_waiting: Callable[[], None] = lambda: None) -> None:
        """`on_waiting` is called when all messages so far are handled."""
        self._source = source
        self._on_waiting = on_waiting
        self._rest = b""
        self._is_waiting = False

    def has_unread(self) -> bool:
        """Whether a message was not handed on yet, or its handler still runs. Any thread may call this."""
        if not self._is_waiting:
            return True
        try:
            return bool(select.select([self._source.fileno()], [], [], 0)[0])
        except (OSError, ValueError, AttributeError):
            # The stream is closed, or `select` does not support it (a pipe on Windows).
            return False

    def readline(self) -> bytes:
        """The next line."""
        if not self._rest:
            try:
                # All earlier messages are handled: pygls asks for the next one only then.
                self._is_waiting = True
                self._on_waiting()
                self._source.peek(1)
                self._is_waiting = False
                body = read_framed(self._source)
            except (MessageTooLong, OSError, ValueError):
                body = None
            # An ended stream has no more messages.
            self._is_waiting = body is None
            self._rest = b"" if body is None else framed(body)
        line, separator, self._rest = self._rest.partition(b"\n")
        return line + separator

    def read(self, count: int) -> bytes:
        """The next `count` bytes."""
        part, self._rest = self._rest[:count], self._rest[count:]
        return part


class ReplayedInput:
    """A binary stream that first replays some bytes, then reads on from its source."""

    def __init__(self, replay: bytes, source: IO[bytes]) -> None:
        self._replay = replay
        self._source = source

    def readline(self, limit: int = -1) -> bytes:
        """The next line, or its first `limit` bytes."""
        if not self._replay:
            return self._source.readline(limit)
        line, separator, self._replay = self._replay.partition(b"\n")
        return line + separator if separator else line + self._source.readline(limit)

    def peek(self, count: int) -> bytes:
        """Wait for data, and return the next bytes without consuming them."""
        return self._replay or self._source.peek(count)  # type: ignore[attr-defined]

    def fileno(self) -> int:
        """The descriptor of the source."""
        return self._source.fileno()

    def read(self, count: int) -> bytes:
        """Up to `count` bytes."""
        part, self._replay = self._replay[:count], self._replay[count:]
        return part if len(part) == count else part + self._source.read(count - len(part))


class AnswerOnce:
    """A writer of whole messages that drops the second answer to a request that was already answered."""

    def __init__(self, output: IO[bytes], answered_id: object) -> None:
        self._output = output
        self._answered_id = answered_id
        self._waiting = answered_id is not None
        self._lock = threading.Lock()

    def write(self, data: bytes) -> None:
        """Write one message, with or without its header."""
        with self._lock:
            if self._waiting and self._is_answer(data):
                self._waiting = False
                return
            write_all(self._output, data)

    def flush(self) -> None:
        """Do nothing: `write` does not buffer."""

    def close(self) -> None:
        self._output.close()

    def _is_answer(self, data: bytes) -> bool:
        message = parsed(data.partition(b"\r\n\r\n")[2] or data)
        return message is not None and message.get("id") == self._answered_id and "method" not in message
