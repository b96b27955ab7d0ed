"""Keeps the commits of a project in its index as git has them."""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from rag_ls.embedding import HostedModel
from rag_ls.errors import RagLsError
from rag_ls.history.git_log import MAX_COMMITS, find_head, list_commits, read_commits
from rag_ls.storage import CommitIndex
from rag_ls.util.git import GitSilent, Silence
from rag_ls.util.repositories import find_repository
from rag_ls.util.text import count_of

_log = logging.getLogger(__name__)

# So many commits are stored in one transaction: other writers do not wait long.
_BATCH_COMMITS = 50
_BATCH_MESSAGES = 32
# The beginning of a message, as much as a small model reads.
_EMBEDDED_CHARACTERS = 500


class ProjectHistory:
    """The history of what is checked out. Safe from several threads."""

    def __init__(
        self,
        folder: Path,
        commits: CommitIndex,
        keeps_authors: Callable[[], bool],
        give_way: Callable[[], None] = lambda: None,
        find_model: Callable[[], HostedModel | None] = lambda: None,
    ) -> None:
        """`folder` is the project's, which may lie in a larger repository: only its files count then.

        `give_way` is called between batches, and leaves the processor to questions. `find_model` gives the model that
        embeds messages, None while there is none.
        """
        self._folder = folder
        self.commits = commits
        self._keeps_authors = keeps_authors
        self._give_way = give_way
        self._find_model = find_model
        self._thread: threading.Thread | None = None
        self._is_wanted = False
        self._is_read = threading.Event()
        self._is_read.set()
        self._lock = threading.Lock()
        self._is_closed = False
        self.problem = ""
        """The reason why no history can be read; empty where it can."""

    @property
    def is_current(self) -> bool:
        """Whether all commits that lead to what is checked out are stored, or none can be read."""
        head = self._find_head()
        return not head or self.commits.head == head

    def begin_reading(self) -> None:
        """Read new commits in the background."""
        with self._lock:
            if self._is_closed:
                return
            self._is_wanted = True
            self._is_read.clear()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="history", daemon=True)
                self._thread.start()

    def wait(self, timeout_s: float) -> bool:
        """Wait until the commits are read, for some seconds at most; whether they are. Their meaning may follow."""
        return self._is_read.wait(timeout_s)

    def close(self) -> None:
        """Stop reading."""
        with self._lock:
            self._is_closed = True
            thread = self._thread
        if thread is not None:
            thread.join(5.0)

    @property
    def note(self) -> str:
        """The parts of the history that are not known, in words; empty for none."""
        repository = find_repository(self._folder)
        if self.problem or repository is None:
            return self.problem
        if (repository.common / "shallow").exists():
            return "the clone is shallow: `git fetch --unshallow` brings the older commits"
        count = self.commits.count()
        return f"of a longer history the newest {MAX_COMMITS:,} commits are read" if count >= MAX_COMMITS else ""

    def _find_head(self) -> str:
        try:
            head = find_head(self._folder)
        except GitSilent as silent:
            self.problem = (
                "this is no git repository: it has no history" if silent.kind is Silence.NO_REPOSITORY else str(silent)
            )
            return ""
        self.problem = "" if head else "there is no commit yet"
        return head

    def _run(self) -> None:
        """Read as often as somebody wants it, and embed what was read."""
        while self._begin_pass():
            try:
                self._read()
                self._note_read()
                self._embed_messages()
            except (GitSilent, RagLsError) as error:
                self.problem = str(error)
                _log.warning("the history of %s cannot be read: %s", self._folder, error)
            except Exception:
                _log.exception("the history of %s was not read", self._folder)

    def _begin_pass(self) -> bool:
        """Whether the thread goes on; it ends under the lock, so that no wish is lost."""
        with self._lock:
            goes_on = self._is_wanted and not self._is_closed
            self._is_wanted = False
            if not goes_on:
                self._thread = None
                self._is_read.set()
            return goes_on

    def _note_read(self) -> None:
        """Let those go on who wait for the commits, unless somebody wants newer ones by now."""
        with self._lock:
            if not self._is_wanted:
                self._is_read.set()

    def _read(self) -> None:
        if (head := self._find_head()) and self.commits.head != head:
            self._read_up_to(head)

    def _read_up_to(self, head: str) -> None:
        hashes = list_commits(self._folder, head)
        known = self.commits.hashes()
        new = [each for each in hashes if each not in known]
        commits = read_commits(self._folder, new)
        while batch := list(itertools.islice(commits, _BATCH_COMMITS)):
            if self._is_closed:
                return
            self.commits.add(batch, with_authors=self._keeps_authors())
            self._give_way()
        self.commits.finish(head, hashes)
        _log.info("%s of %s read", count_of(len(new), "commit"), self._folder)

    def _embed_messages(self) -> None:
        """Embed the messages that have no vectors yet, the newest first.

        A failure, as of a model that was closed meanwhile, leaves the rest to the next time.
        """
        try:
            model = self._find_model()
            ids = [] if model is None or self._is_closed else self.commits.list_without_vectors(model.model_id)
            if model is None or not ids:
                return
            self.commits.drop_vectors_of_others(model.model_id)
            for start in range(0, len(ids), _BATCH_MESSAGES):
                if self._is_wanted or self._is_closed or model.has_failed:
                    return
                self._embed_batch(model, ids[start : start + _BATCH_MESSAGES])
                self._give_way()
        except RagLsError as error:
            _log.info("the commits of %s are found by words alone: %s", self._folder, error)

    def _embed_batch(self, model: HostedModel, ids: Sequence[int]) -> None:
        commits = list(self.commits.by_id(ids).values())
        texts = [f"{each.subject}\n{each.body[:_EMBEDDED_CHARACTERS]}".strip() or "-" for each in commits]
        vectors = model.embed_documents(texts)
        # The vector of a text that the model refuses is not a number.
        usable = np.flatnonzero(np.isfinite(vectors).all(axis=1))
        self.commits.add_vectors(model.model_id, [commits[at].id for at in usable], vectors[usable])
