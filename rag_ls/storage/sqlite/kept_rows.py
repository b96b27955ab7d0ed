"""Keeps the rows of small SELECTs that each question repeats."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rag_ls.storage.sqlite.database import Database


class KeptRows:
    """Rows that were read since the last commit, for the threads that read one version. Safe from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._version = -1
        self._rows: dict[tuple[str, tuple[object, ...]], list[Any]] = {}
        self._of_thread = threading.local()

    @contextmanager
    def at_one_version(self) -> Iterator[None]:
        """Ask once in the block, for this thread, whether anybody has committed; a block inside another one asks again."""
        outer = self._known_version
        self._of_thread.version = self._database.changes()
        try:
            yield
        finally:
            self._of_thread.version = outer

    def renew_version(self) -> None:
        """Ask again in a block, since this thread has waited for others."""
        if self._known_version is not None:
            self._of_thread.version = self._database.changes()

    def version(self) -> int:
        """The version of this thread's block; outside of one, a number that differs after every commit."""
        known = self._known_version
        return self._database.changes() if known is None else known

    def rows(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        """The rows of a SELECT: kept ones in a block of `at_one_version` alone."""
        version = self._known_version
        if version is None:
            return self._database.rows(query, values)
        key = (query, tuple(values))
        with self._lock:
            if version != self._version:
                self._version, self._rows = version, {}
            known = self._rows.get(key)
        if known is None:
            known = self._database.rows(query, values)
            with self._lock:
                if version == self._version:
                    self._rows[key] = known
        return known

    def forget(self) -> None:
        """Drop what is kept."""
        with self._lock:
            self._version, self._rows = -1, {}

    @property
    def _known_version(self) -> int | None:
        return getattr(self._of_thread, "version", None)
