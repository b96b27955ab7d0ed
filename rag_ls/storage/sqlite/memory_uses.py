"""Counts how often memories were recalled: for a store on disk in the background, so that no answer waits for it."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

from rag_ls.errors import StoreError
from rag_ls.storage.sqlite.database import Database
from rag_ls.util.text import utc_stamp

_log = logging.getLogger(__name__)

# Closing waits at most this long for counts that are being written.
_MAX_WRITER_S = 1.0


class UseCounter:
    """Counts the uses of a store's memories in its database. Safe from several threads."""

    def __init__(self, database: Database, *, in_background: bool) -> None:
        self._database = database
        self._in_background = in_background
        self._lock = threading.Lock()
        self._used: Counter[str] = Counter()
        self._writer: threading.Thread | None = None

    def add(self, ids: Iterable[str], at: str) -> None:
        """Count memories as recalled at a time."""
        with self._lock:
            starts = not self._used
            self._used.update(ids)
        if not self._in_background:
            self._write(at)
        elif starts and self._used:
            self._writer = threading.Thread(target=self._write, args=(at,), name="uses", daemon=True)
            self._writer.start()

    def close(self) -> None:
        """Write what was counted."""
        if self._writer is not None:
            self._writer.join(_MAX_WRITER_S)
        self._write(utc_stamp(datetime.now(UTC)))

    def _write(self, at: str) -> None:
        with self._lock:
            used, self._used = self._used, Counter()
        if not used:
            return
        try:
            with self._database.writing() as connection:
                connection.executemany(
                    "INSERT INTO uses SELECT row, ?, ? FROM memories WHERE id = ? "
                    "ON CONFLICT (row) DO UPDATE SET count = count + excluded.count, used_at = excluded.used_at",
                    [(count, at, memory_id) for memory_id, count in used.items()],
                )
        except (sqlite3.Error, StoreError) as error:
            # Counts are only a hint for ranking, so an error must not fail an answer.
            _log.info("uses were not counted: %s", error)
