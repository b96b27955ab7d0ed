"""Whom the user trusts: the folders that the user names, and the seals of this user's own processes.

Both lie in the user's data, where no repository can write. Until its folder is trusted, a repository's settings cannot switch on
anything that costs or destroys, hooks pass none of its rules to agents, and the memories that it brings are not used.

Processes of the user seal what they write into a project's folder, so that what came with the folder is told apart. A seal says who
wrote something, not when or where: a moved or copied folder keeps its seals, and somebody who got a sealed file can give back that
file, but no other one.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import secrets
from functools import cache
from pathlib import Path
from typing import Any

from rag_ls.config.json_file import JsonFile
from rag_ls.errors import StoreUnavailable
from rag_ls.locations import account_home, user_data_folder
from rag_ls.project import make_private_folder
from rag_ls.util.files import create_private_file, whole_file

_log = logging.getLogger(__name__)

TRUSTED_FOLDERS_FILE = "trusted.json"


class TrustedFolders:
    """The folders that are trusted; none while the file cannot be read. Safe from several threads and processes."""

    def __init__(self, file: Path) -> None:
        self._file = JsonFile[tuple[str, ...]](
            file,
            parse=_parse,
            dump=lambda folders: {"trusted": list(folders)},
            empty=(),
            holds="trust",
            remedy="then trust your folders again with `rag-ls trust`",
        )

    def folders(self) -> tuple[str, ...]:
        """All of them, in the order in which they were added. Absolute, symbolic links resolved."""
        try:
            return self._file.read()
        except StoreUnavailable as error:
            _log.warning("no folder is trusted: %s", error)
            return ()

    def trusts(self, folder: Path) -> bool:
        """Whether a folder, or one above it, is trusted."""
        real = Path(os.path.realpath(folder))
        known = {Path(each) for each in self.folders()}
        return any(each in known for each in (real, *real.parents))

    def add(self, folder: Path) -> None:
        """Trust a folder with all below it. Raises `StoreUnavailable`."""
        self._file.change(lambda held: tuple(dict.fromkeys((*held, os.path.realpath(folder)))))

    def remove(self, folder: Path) -> None:
        """Trust a folder no longer; one above it may still be trusted. Raises `StoreUnavailable`."""
        real = os.path.realpath(folder)
        self._file.change(lambda held: tuple(each for each in held if each != real))


def _parse(content: dict[str, Any]) -> tuple[str, ...]:
    folders = content["trusted"]
    if not isinstance(folders, list):
        raise ValueError(f"no list of folders: {folders!r}")
    if odd := [each for each in folders if not (isinstance(each, str) and os.path.isabs(each))]:
        raise ValueError(f"no absolute path: {odd[0]!r}")
    return tuple(dict.fromkeys(folders))


def users_trusted_folders() -> TrustedFolders:
    """The trusted folders of this user."""
    return TrustedFolders(find_trusted_folders_file())


def find_trusted_folders_file() -> Path:
    """The file that keeps this user's trusted folders."""
    return user_data_folder() / TRUSTED_FOLDERS_FILE


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
            # Imported here: it is seldom needed, and a relay should not wait for it.
            from filelock import FileLock

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
