"""Bringing single documents up to date: which may be indexed, and whose text counts."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from itertools import islice

from rag_ls.errors import StoreError
from rag_ls.indexing.cutters import Cutters
from rag_ls.indexing.documents import DocumentIndexer, Prepared
from rag_ls.indexing.files import Source, reason_by_name
from rag_ls.indexing.inbox import Buffer
from rag_ls.storage import CheckoutIndex, Priority

_log = logging.getLogger(__name__)

# From so many files on, starting processes for them pays.
MANY_FILES = 200
# Files that are cut in this process and committed together.
_BATCH = 8
_BOM = "\ufeff"


class Intake:
    """Takes in what an editor holds, and files by their paths."""

    def __init__(
        self, documents: DocumentIndexer, store: CheckoutIndex, admitted: Callable[[list[str]], set[str]]
    ) -> None:
        """`admitted` gives those of some paths that may be indexed."""
        self._documents = documents
        self._store = store
        self._admitted = admitted
        self._cutters: Cutters | None = None

    def take_buffer(self, session: str, path: str, buffer: Buffer | None) -> None:
        """Index what an editor holds of a document; without a buffer, or where it equals the file, the file counts."""
        if buffer is None or not self._may_index(buffer):
            self._documents.drop_buffer(path, session)
        elif not buffer.guest and self._equals_file(buffer):
            self._documents.drop_buffer(path, session)
            self._documents.index_file(path, priority=Priority.INTERACTIVE)
        else:
            self._documents.index_buffer(
                path, buffer.text, session, language=buffer.language, priority=Priority.INTERACTIVE
            )

    def take_file(self, path: str, priority: Priority = Priority.REST) -> None:
        """Index a file as it is now. One that cannot be cut is skipped: it must not keep others waiting."""
        try:
            self._documents.index_file(path, priority=priority)
        except StoreError:
            raise
        except Exception as error:
            self._skip(path, error)

    def take_all(self, paths: Iterator[str], *, many: bool) -> Generator[int, None, None]:
        """Index queued files as they are now, committing batches of them together; how many there were, after each batch.

        Where there are `many`, they are cut in processes of their own, which stay for the next time until `close`.
        """
        if not many:
            while batch := list(islice(paths, _BATCH)):
                yield self._take_batch(batch)
            return
        for prepared in self._documents.prepare_many(self.start_cutters(), paths):
            self._store_batch(prepared)
            yield len(prepared)

    def start_cutters(self) -> Cutters:
        """The processes that cut many files, started where they do not run."""
        self._cutters = self._cutters or self._documents.cutters()
        return self._cutters

    def close(self) -> None:
        """End the processes that cut files, if there are any."""
        cutters, self._cutters = self._cutters, None
        if cutters is not None:
            cutters.close()

    def _take_batch(self, paths: Sequence[str]) -> int:
        cut: dict[str, Prepared] = {}
        for path in filter(self._store.queue.holds, paths):
            try:
                cut[path] = self._documents.prepare(path)
            except StoreError:
                raise
            except Exception as error:
                self._skip(path, error)
        self._store_batch(cut)
        return len(paths)

    def _store_batch(self, cut: Mapping[str, Prepared]) -> None:
        try:
            self._documents.index_files(cut)
        except StoreError:
            raise
        except Exception:
            # One of them cannot be stored: which one shows when each goes alone.
            for path in cut:
                self.take_file(path)

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
