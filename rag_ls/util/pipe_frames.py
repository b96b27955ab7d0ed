"""Frames on the pipes between a process of ours and its children: a kind, a length, a body."""

from __future__ import annotations

import struct
from typing import IO

# Kinds of frames: a function with its arguments, its result, an error that it raised.
CALL, ANSWER, RAISED = b"c", b"a", b"r"
_HEADER = struct.Struct("<cI")


def write_frame(stream: IO[bytes], kind: bytes, body: bytes) -> None:
    """Write one frame: its kind (a byte), the length of its body, its body."""
    stream.write(_HEADER.pack(kind, len(body)) + body)
    stream.flush()


def read_frame(stream: IO[bytes]) -> tuple[bytes, bytes]:
    """Read one frame. Raises `EOFError` where the stream ends."""
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        raise EOFError("end of stream")
    kind, length = _HEADER.unpack(header)
    body = stream.read(length)
    if len(body) < length:
        raise EOFError("end of stream within a frame")
    return kind, body
