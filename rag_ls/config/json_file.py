"""One small JSON file of the user's that several processes read and change.

A file that cannot be read, or is damaged, is never overwritten: that would lose its content. Keys that this version does not
know stay as they are: a newer version wrote them.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from rag_ls.errors import StoreUnavailable
from rag_ls.project import make_private_folder
from rag_ls.util.decoding import read_json
from rag_ls.util.files import create_private_file, whole_file
from rag_ls.util.text import fold

T = TypeVar("T")

_LOCK_S = 5.0
_MAX_CAUSE = 200


class JsonFile(Generic[T]):
    """A file whose content is one value. Safe from several threads and processes."""

    def __init__(
        self,
        file: Path,
        *,
        parse: Callable[[dict[str, Any]], T],
        dump: Callable[[T], dict[str, Any]],
        empty: T,
        holds: str,
        remedy: str,
    ) -> None:
        """`parse` raises `ValueError`, `TypeError` or `KeyError` for content that is not such a value.

        `holds` names the content for errors, and `remedy` says how it comes back once a damaged file is moved away.
        """
        self.path = file
        self._parse, self._dump, self._empty = parse, dump, empty
        self._holds, self._remedy = holds, remedy

    def read(self) -> T:
        """The value; `empty` if there is no file, or an empty one. Raises `StoreUnavailable`."""
        return self._read()[0]

    def _read(self) -> tuple[T, dict[str, Any]]:
        """The value, and the whole content of the file."""
        try:
            text = self.path.read_text(encoding="utf-8")
            if not text.strip():
                return self._empty, {}
            content = _read_object(text)
            return self._parse(content), content
        except FileNotFoundError:
            return self._empty, {}
        except OSError as error:
            raise StoreUnavailable(
                f"{self.path} cannot be read ({error.strerror}): it must be yours to read and write", self._holds
            ) from error
        except (ValueError, TypeError, KeyError) as error:
            raise StoreUnavailable(
                f"{self.path} is damaged ({_describe(error)}): mend it, or move it away; {self._remedy}", self._holds
            ) from error

    def change(self, edit: Callable[[T], T]) -> T:
        """Replace the value by `edit(value)` while other processes wait. Raises `StoreUnavailable`."""
        # Imported here: only writing needs it, and importing takes time.
        from filelock import FileLock, Timeout

        lock = self.path.with_suffix(".lock")
        try:
            make_private_folder(self.path.parent)
            create_private_file(lock)
            with FileLock(lock, timeout=_LOCK_S, mode=0o600):
                former, content = self._read()
                changed = edit(former)
                if changed != former:
                    unknown = {key: value for key, value in content.items() if key not in self._dump(former)}
                    with whole_file(self.path) as stream:
                        stream.write(json.dumps({**self._dump(changed), **unknown}, indent=2) + "\n")
                return changed
        except Timeout as error:
            raise StoreUnavailable(
                f"{self.path} was not changed: another process has held {lock} for {_LOCK_S:g} s; try again",
                self._holds,
            ) from error
        except OSError as error:
            raise StoreUnavailable(f"{self.path} cannot be changed {_describe_failure(error)}", self._holds) from error


def _read_object(text: str) -> dict[str, Any]:
    found = read_json(text)
    if not isinstance(found, dict):
        raise ValueError("its content is no JSON object")
    return found


def _describe_failure(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"({error.strerror}): make space, then do it again"
    failed = f", {error.filename}" if error.filename else ""
    return f"({error.strerror or error}{failed}): it and its folder must be yours to read and write"


def _describe(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else fold(str(error), _MAX_CAUSE)
