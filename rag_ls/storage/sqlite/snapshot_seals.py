"""Seals snapshots of vectors: usearch crashes on a damaged file, and a project may come with one made for that.

The key lies with the user, not in the project. So a snapshot that another user or machine wrote is made anew.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from functools import cache
from pathlib import Path

from rag_ls.project import make_private_folder, user_data_folder
from rag_ls.util.whole_files import whole_file

KEY_FILE = "snapshots.key"
_KEY_BYTES = 32


def seal_of(file: Path, facts: str) -> str:
    """The seal of a file and of what is said of it, which only processes of this user can make. Raises `OSError`."""
    with file.open("rb") as stream:
        content = hashlib.file_digest(stream, "sha256").digest()
    return hmac.new(_key(user_data_folder()), content + facts.encode(), hashlib.sha256).hexdigest()


@cache
def _key(folder: Path) -> bytes:
    file = folder / KEY_FILE
    try:
        return _read(file) or _made(folder, file)
    except OSError:
        # Where nothing can be kept, a snapshot is good for this process alone.
        return secrets.token_bytes(_KEY_BYTES)


def _read(file: Path) -> bytes:
    try:
        key = bytes.fromhex(file.read_text(encoding="ascii"))
    except (FileNotFoundError, ValueError):
        return b""
    return key if len(key) == _KEY_BYTES else b""


def _made(folder: Path, file: Path) -> bytes:
    make_private_folder(folder)
    with whole_file(file) as stream:
        stream.write(secrets.token_hex(_KEY_BYTES))
    # Another process may have made one at the same time.
    return _read(file) or secrets.token_bytes(_KEY_BYTES)
