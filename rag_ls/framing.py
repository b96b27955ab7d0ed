"""JSON-RPC over standard streams, as far as an answer to `initialize` needs it.

Protocol libraries take up to a second to import. An editor or agent waits for that answer, so it is given
first, by hand; then the library reads the same message, and its own answer to it is dropped.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import IO, Any

Message = dict[str, Any]


def claim_standard_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Keep stdin and stdout for the protocol alone: whatever else prints goes to stderr."""
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


class ReplayedInput:
    """A binary stream that gives some bytes again before it goes on reading."""

    def __init__(self, replay: bytes, source: IO[bytes]) -> None:
        self._replay = replay
        self._source = source

    def readline(self) -> bytes:
        """The next line."""
        if not self._replay:
            return self._source.readline()
        line, separator, self._replay = self._replay.partition(b"\n")
        return line + separator if separator else line + self._source.readline()

    def read(self, count: int) -> bytes:
        """Up to `count` bytes."""
        part, self._replay = self._replay[:count], self._replay[count:]
        return part if len(part) == count else part + self._source.read(count - len(part))


class AnswerOnce:
    """A writer of whole messages that drops the one which answers a request that was answered already."""

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
            # Unbuffered: a partial write must be continued.
            view = memoryview(data)
            while view:
                view = view[self._output.write(view) :]

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """Close the stream."""
        self._output.close()

    def _is_answer(self, data: bytes) -> bool:
        message = parsed(data.partition(b"\r\n\r\n")[2] or data)
        return message is not None and message.get("id") == self._answered_id and "method" not in message
