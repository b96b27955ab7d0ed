"""Seals what processes of this user write into a project's folder, so that what came with the folder is told apart.

The key lies with the user, not in the project. A seal says who wrote something, not when or where: a moved or copied
folder keeps its seals, and somebody who got a sealed file can give back that file, but no other one.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from functools import cache
from pathlib import Path

from filelock import FileLock

from rag_ls.locations import account_home, user_data_folder
from rag_ls.project import make_private_folder
from rag_ls.util.files import create_private_file, whole_file

KEY_FILE = "seals.key"
_KEY_BYTES = 32
_LOCK_S = 5.0


def file_seal(file: Path, facts: str) -> str:
    """The seal of a file together with `facts` that are said of it elsewhere. Raises `OSError`."""
    with file.open("rb") as stream:
        return _seal(hashlib.file_digest(stream, "sha256").digest(), facts)


def bytes_seal(content: bytes, facts: str) -> str:
    """As `file_seal`, for the content of a file."""
    return _seal(hashlib.sha256(content).digest(), facts)


def text_seal(kind: str, text: str) -> str:
    """The seal of a short text. The same text of another kind has another seal."""
    return _seal(kind.encode() + b"\0", text)


def is_own_text_seal(seal: str, kind: str, text: str) -> bool:
    """Whether this user's processes made the seal of a text, also those with the account's home where `HOME` is another."""
    content = kind.encode() + b"\0"
    keys = (_own_key(), _account_key())
    return any(is_equal(seal, _sign(key, content, text)) for key in keys if key)


def is_equal(seal: str, made: str) -> bool:
    """Whether a seal that was read is the one that this user makes."""
    return hmac.compare_digest(seal.encode("utf-8", "replace"), made.encode())


def can_be_made() -> bool:
    """Whether a seal is good for later processes too: not where the user's data cannot be written."""
    return _key(user_data_folder()) is not None


def _seal(content: bytes, facts: str) -> str:
    return _sign(_own_key(), content, facts)


def _sign(key: bytes, content: bytes, facts: str) -> str:
    return hmac.new(key, content + facts.encode(), hashlib.sha256).hexdigest()


def _own_key() -> bytes:
    return _key(user_data_folder()) or _passing_key()


def _account_key() -> bytes:
    """The key in the account's home; empty where there is none to be read.

    The place depends on the variables, so a checkout may have a file there: only one that this user alone can read counts.
    """
    try:
        file = Path(account_home(), user_data_folder().relative_to(Path.home()), KEY_FILE)
        state = file.stat()
        is_private = not state.st_mode & 0o077 and state.st_uid == os.geteuid()
        return _read_key(file) if is_private else b""
    except (OSError, ValueError, RuntimeError):
        return b""


@cache
def _passing_key() -> bytes:
    """The key of this process alone."""
    return secrets.token_bytes(_KEY_BYTES)


@cache
def _key(folder: Path) -> bytes | None:
    file = folder / KEY_FILE
    try:
        if not (key := _read_key(file)):
            make_private_folder(folder)
            create_private_file(file.with_suffix(".lock"))
            # If processes start at the same time, one of them makes the key. filelock.Timeout is an OSError.
            with FileLock(file.with_suffix(".lock"), timeout=_LOCK_S, mode=0o600):
                key = _read_key(file) or _make_key(file)
        return key
    except OSError:
        return None


def _read_key(file: Path) -> bytes:
    try:
        key = bytes.fromhex(file.read_text(encoding="ascii"))
    except (FileNotFoundError, ValueError):
        return b""
    return key if len(key) == _KEY_BYTES else b""


def _make_key(file: Path) -> bytes:
    key = secrets.token_bytes(_KEY_BYTES)
    with whole_file(file) as stream:
        stream.write(key.hex())
    return key
