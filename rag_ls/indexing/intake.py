"""Bringing single documents up to date: which may be indexed, and whose text counts."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterable

from rag_ls.indexing.documents import DocumentIndexer, Prepared
from rag_ls.indexing.files import Source, reason_by_name
from rag_ls.indexing.inbox import Buffer
from rag_ls.storage import IndexStore

_log = logging.getLogger(__name__)

INTERACTIVE = 1
_BOM = "\ufeff"


class Intake:
    """Takes in what an editor holds, and files by their paths."""

    def __init__(
        self, documents: DocumentIndexer, store: IndexStore, admitted: Callable[[list[str]], set[str]]
    ) -> None:
        """`admitted` gives those of some paths that may be indexed."""
        self._documents = documents
        self._store = store
        self._admitted = admitted

    def take_buffer(self, session: str, path: str, buffer: Buffer | None) -> None:
        """Index what an editor holds of a document; without a buffer, or where it equals the file, the file counts."""
        if buffer is None or not self._may_index(buffer):
            self._documents.drop_buffer(path, session)
        elif not buffer.guest and self._equals_file(buffer):
            self._documents.drop_buffer(path, session)
            self._documents.index_file(path, priority=INTERACTIVE)
        else:
            self._documents.index_buffer(path, buffer.text, session, language=buffer.language, priority=INTERACTIVE)

    def take_file(self, path: str, priority: int = 0) -> None:
        """Index a file as it is now. One that cannot be cut is skipped: it must not keep others waiting."""
        try:
            self._documents.index_file(path, priority=priority)
        except sqlite3.Error:
            raise
        except Exception as error:
            self._skip(path, error)

    def take_batch(self, paths: Iterable[str]) -> int:
        """Index files as they are now, and commit them together; how many there were."""
        cut: dict[str, Prepared] = {}
        taken = 0
        for path in paths:
            taken += 1
            try:
                cut[path] = self._documents.prepare(path)
            except sqlite3.Error:
                raise
            except Exception as error:
                self._skip(path, error)
        try:
            self._documents.index_files(cut.values())
        except sqlite3.Error:
            raise
        except Exception:
            # One of them cannot be stored: which one shows when each goes alone.
            for path in cut:
                self.take_file(path)
        return taken

    def wanted(self, paths: list[str]) -> list[str]:
        """Those of some changed files that are in the index or may be."""
        known = {path for path in paths if self._store.document(path) is not None}
        unknown = [path for path in paths if path not in known]
        return sorted(known | (self._admitted(unknown) if unknown else set()))

    def _skip(self, path: str, error: Exception) -> None:
        _log.error("%s cannot be indexed", path, exc_info=error)
        self._documents.skip_failed(path, f"failed: {type(error).__name__}")

    def _may_index(self, buffer: Buffer) -> bool:
        if buffer.guest:
            return not reason_by_name(buffer.path)
        return not self._documents.refuses(buffer.path, buffer.text) and bool(self._admitted([buffer.path]))

    def _equals_file(self, buffer: Buffer) -> bool:
        source = self._documents.read(buffer.path)
        # Some editors show a file without its byte order mark.
        return isinstance(source, Source) and source.text.removeprefix(_BOM) == buffer.text.removeprefix(_BOM)
