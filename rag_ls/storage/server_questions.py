"""Questions to a server, each with a time limit. A server that failed is not asked for a while, so that no question waits again."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from rag_ls.errors import RagLsError, StoreUnavailable
from rag_ls.util.threads import within

_log = logging.getLogger(__name__)

T = TypeVar("T")

# A server that failed is not asked again for this long.
_REST_S = 10.0


class ServerQuestions:
    """Asks one server. Safe from several threads."""

    def __init__(self, place: str, store: str, wait_s: float) -> None:
        """`place` is its address for messages, `store` its name in errors; a question waits `wait_s` for it."""
        self._place = place
        self._store = store
        self._wait_s = wait_s
        self._lock = threading.Lock()
        self._failed_at = 0.0
        self.problem = ""
        """The reason why the server did not answer the last question; empty if it did."""

    def ask(self, question: Callable[[], T]) -> T:
        """The answer of `question`. Raises `StoreUnavailable`, at once if the server failed a moment ago."""
        with self._lock:
            if self.problem and time.monotonic() - self._failed_at < _REST_S:
                raise StoreUnavailable(self.problem, self._store)
        try:
            found = ask_server(question, self._place, self._store, self._wait_s)
        except StoreUnavailable as error:
            with self._lock:
                self.problem, self._failed_at = str(error), time.monotonic()
            raise
        with self._lock:
            self.problem = ""
        return found


def ask_server(question: Callable[[], T], place: str, store: str, wait_s: float) -> T:
    """The answer of `question`, or the error of ours that it raises.

    Raises `StoreUnavailable` if it takes longer than `wait_s`, or fails otherwise.
    """
    try:
        return within(wait_s, question)
    except TimeoutError as error:
        raise StoreUnavailable(f"{place} did not answer within {wait_s:g} s", store) from error
    except RagLsError:
        raise
    except Exception as error:
        # Other users may write there, so check every value.
        _log.exception("%s answers what cannot be read", place)
        raise StoreUnavailable(f"{place} answers what cannot be read; the log has it", store) from error
