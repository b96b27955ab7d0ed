"""git indexes as no git writes them: with any names."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from pathlib import Path

_NO_STAMPS = bytes(40)
_MODE = 0o100644
_MAX_NAME_BITS = 0xFFF


def forge_index(root: Path, names: Sequence[str]) -> None:
    """Replace a repository's index by one that tracks files of these names, in git's order."""
    entries = b""
    for name in sorted(map(str.encode, names)):
        head = _head(len(name)) + name
        entries += head + b"\0" * (8 - len(head) % 8)
    _write(root, 2, len(names), entries)


def forge_packed_index(root: Path, count: int, length: int) -> None:
    """Replace a repository's index by a small one that tracks many files whose names are long: each repeats the one before."""
    first = _head(length) + _varint(0) + b"a" * (length - 6) + b"000000\0"
    others = (_head(length) + _varint(6) + b"%06d\0" % at for at in range(1, count))
    _write(root, 4, count, first + b"".join(others))


def _head(length: int) -> bytes:
    return (
        _NO_STAMPS[:24]
        + struct.pack(">I", _MODE)
        + _NO_STAMPS[:12]
        + b"\1" * 20
        + struct.pack(">H", min(length, _MAX_NAME_BITS))
    )


def _varint(value: int) -> bytes:
    """How many bytes of the name before are dropped."""
    assert value < 128
    return bytes([value])


def _write(root: Path, version: int, count: int, entries: bytes) -> None:
    content = struct.pack(">4sII", b"DIRC", version, count) + entries
    (root / ".git/index").write_bytes(content + hashlib.sha1(content, usedforsecurity=False).digest())
