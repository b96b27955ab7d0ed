"""Takes files and editors' texts into the index, as far as the ignore rules let them in."""

from __future__ import annotations

import logging
import os
from bisect import bisect_left
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Protocol

from rag_ls.errors import StoreError
from rag_ls.indexing.documents import DocumentIndexer, Prepared
from rag_ls.indexing.files import FAILED, reason_by_name
from rag_ls.indexing.ignore_files import RAGIGNORE
from rag_ls.indexing.inbox import Buffer
from rag_ls.indexing.listing import Patterns, admitted, admitted_folders
from rag_ls.project import CONFIG_FILE
from rag_ls.storage import CheckoutIndex, Priority, ProjectIndex, SharedVectors, VectorLender
from rag_ls.util.guarded_processes import NoProcess
from rag_ls.util.text import without_surrogates

_log = logging.getLogger(__name__)

_RULE_FILES = frozenset({".gitignore", RAGIGNORE, CONFIG_FILE})
# Programs create temporary names without end.
_MAX_REMEMBERED = 50_000


def is_ignore_file(path: str) -> bool:
    """Whether a file decides which others are indexed."""
    return path.rsplit("/", 1)[-1] in _RULE_FILES


class PathSet:
    """Some files, which can be looked up by the folders that they are in."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._files = frozenset(paths)
        self._sorted = sorted(self._files)

    def at(self, path: str) -> list[str]:
        """The file at `path`, or the files below the folder there."""
        # "0" is the character after "/".
        below = self._sorted[bisect_left(self._sorted, path + "/") : bisect_left(self._sorted, path + "0")]
        return [path, *below] if path in self._files else below


class Admissions:
    """Remembers what the ignore rules say, because each question starts a git process. Safe from several threads."""

    def __init__(self, root: Path, store: CheckoutIndex, patterns: Callable[[], Patterns]) -> None:
        """`patterns` gives the patterns of the settings."""
        self._root = root
        self._store = store
        self._patterns = patterns
        self._known: dict[str, bool] = {}

    def forget(self) -> None:
        """Forget all answers, because the rules changed."""
        self._known = {}

    def files(self, paths: list[str]) -> set[str]:
        """The files among `paths` that may be indexed."""
        # `forget` replaces the dict, so a decision by former rules goes into the former dict.
        known = self._known
        unknown = [path for path in paths if path not in known]
        if unknown:
            kept = admitted(self._root, unknown, self._patterns())
            if len(known) + len(unknown) > _MAX_REMEMBERED:
                known = self._known = {path: known[path] for path in paths if path in known}
            known.update((path, path in kept) for path in unknown)
        return {path for path in paths if known[path]}

    def folders(self, folders: list[str]) -> set[str]:
        """The folders among `folders` that are not ignored, or that hold indexed files although they are."""
        named = [folder for folder in folders if folder == without_surrogates(folder)]
        kept = admitted_folders(self._root, named, self._patterns()) if named else set()
        return kept | {folder for folder in named if folder not in kept and self._store.files_at(folder, at_most=1)}

    def relevant(self, paths: Iterable[str], in_hand: Iterable[str] = ()) -> list[str]:
        """The changed files and folders among `paths` that matter to the index.

        `in_hand` holds the files that are being indexed; the caller reads it before this call.
        """
        indexing = PathSet(in_hand)
        known: list[str] = []
        unknown: list[str] = []
        for path in paths:
            if path != without_surrogates(path):
                continue
            exists = os.path.lexists(self._root / path)
            # A skipped file matters only when it is deleted: a write does not bring it into the index.
            is_known = self._store.files_at(path, with_skipped=not exists, at_most=1)
            if is_ignore_file(path) or is_known or indexing.at(path):
                known.append(path)
            elif exists:
                # Most temporary files are deleted by now, so git is not asked about them.
                unknown.append(path)
        return sorted({*known, *self.files(unknown)})


class Intake:
    """Indexes editors' texts, and files given by path."""

    def __init__(self, documents: DocumentIndexer, store: CheckoutIndex, admissions: Admissions) -> None:
        self._documents = documents
        self._store = store
        self._admissions = admissions

    def take_buffer(self, session: str, path: str, buffer: Buffer | None, cells: Sequence[str] = ()) -> str:
        """Index an editor's text of a document. Without a buffer, or where it equals the file, index the file.

        A notebook's text is the file's with the `cells` that are open. Returns the reason why the text is not indexed, where the
        file is not left out for the same.
        """
        if buffer is None and cells and self._admissions.files([path]):
            self._documents.index_cells(path, cells, session)
            return ""
        if buffer is None or not self._may_index(buffer):
            self._documents.drop_buffer(path, session)
            is_told = buffer is None or buffer.guest or path in self._store.skipped()
            return "" if buffer is None or is_told else self._documents.refuses(path, buffer.text)
        if not buffer.guest and self._documents.equals_file(buffer.path, buffer.text):
            self._documents.drop_buffer(path, session)
            self._documents.index_file(path, priority=Priority.INTERACTIVE)
        else:
            self._documents.index_buffer(path, buffer.text, session, language=buffer.language)
        return ""

    def take_file(self, path: str, priority: Priority = Priority.REST) -> None:
        """Index a file as it is now. A file that cannot be cut is skipped, so that it does not block others."""
        try:
            self._documents.index_file(path, priority=priority)
        except (StoreError, NoProcess):
            raise
        except Exception as error:
            self._skip(path, error)

    def take_all(self, paths: Iterator[str], *, many: bool) -> Generator[Collection[str], None, None]:
        """Index queued files in batches, each in one commit; yields the files of each batch.

        With `many`, all processor cores cut them.
        """
        with closing(self._documents.prepare_many(paths, parallel=many)) as batches:
            for prepared in batches:
                self._store_batch(prepared)
                yield prepared.keys()

    def _store_batch(self, cut: Mapping[str, Prepared]) -> None:
        try:
            self._documents.index_files(cut)
        except (StoreError, NoProcess):
            raise
        except Exception:
            # One file of the batch cannot be stored. Storing each alone shows which.
            for path in cut:
                self.take_file(path)

    def find_wanted(self, paths: list[str]) -> list[str]:
        """The changed files among `paths` that are in the index or may be indexed."""
        known = {path for path in paths if self._is_known(path)}
        unknown = [path for path in paths if path not in known]
        return sorted(known | (self._admissions.files(unknown) if unknown else set()))

    def _is_known(self, path: str) -> bool:
        """Whether the index holds or awaits a file, or skipped one that is gone now: whatever the rules say of it."""
        if self._store.document(path) is not None or self._store.queue.holds(path):
            return True
        return self._documents.is_gone(path) and bool(self._store.files_at(path, with_skipped=True, at_most=1))

    def _skip(self, path: str, error: Exception) -> None:
        _log.error("%s cannot be indexed", path, exc_info=error)
        self._documents.skip_failed(path, f"{FAILED}: {type(error).__name__}")

    def _may_index(self, buffer: Buffer) -> bool:
        if buffer.notebook and not self._documents.is_gone(buffer.notebook):
            # Its text is part of the notebook's.
            return False
        if buffer.guest:
            return not reason_by_name(buffer.path)
        return not self._documents.refuses(buffer.path, buffer.text) and bool(self._admissions.files([buffer.path]))


class IndexedProject(Protocol):
    """A project with its index. Its methods are called by the threads that index."""

    index: ProjectIndex
    documents: DocumentIndexer
    admissions: Admissions

    @property
    def root(self) -> Path:
        """The project's folder."""

    def compare_tree(self, give_way: Callable[[], None]) -> None:
        """Queue every difference between the tree and the index. Calls `give_way` between files, which may raise."""

    def let_questions_pass(self, longest_s: float) -> None:
        """Leave the processor to the questions of clients for a limited time, so that indexing does not starve."""

    def reason_to_wait(self) -> str:
        """The reason why only typed text is embedded now; empty where everything is."""

    def shared_vectors(self) -> SharedVectors | None:
        """The vectors that a team shares, if the settings name a store."""

    def vector_lenders(self) -> Sequence[VectorLender]:
        """The vectors of other projects, which may have embedded the same texts."""
