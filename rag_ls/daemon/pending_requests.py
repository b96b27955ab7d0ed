"""Tracks the unanswered requests of one session, and refuses those that crash engines."""

from __future__ import annotations

import json
import time
from collections import Counter

from rag_ls.util.json_rpc import Message

# A request that was pending at the deaths of so many engines is taken for their cause.
_MAX_DEATHS = 3
# A client that reads no answers would make the relay grow without bound.
_MAX_WAITING = 10_000
# An identical request is refused at once for this long; after that, the engine or the code may be another.
_BLAMED_S = 600.0


class PendingRequests:
    """The unanswered requests of a client, and those of the engine."""

    def __init__(self) -> None:
        self._deaths: Counter[str] = Counter()
        self._blamed: dict[str, tuple[float, str]] = {}
        self._answered: set[str] = set()
        self._waiting: dict[str, Message] = {}
        self._of_engine: set[str] = set()

    def answer_here(self, message: Message) -> None:
        """The relay answers this request itself: every engine's answer to it is dropped."""
        self._answered.add(_key(message))
        self._waiting[_key(message)] = message

    def from_client(self, message: Message) -> bool:
        """Note a message; False for an answer to an engine that is gone."""
        number = _key(message)
        if "method" not in message:
            if number not in self._of_engine:
                return False
            self._of_engine.discard(number)
        elif "id" in message:
            self._waiting[number] = message
        return True

    def from_engine(self, message: Message) -> bool:
        """Note an engine's message; False for an answer that the client does not wait for."""
        number = _key(message)
        if "method" in message:
            if "id" in message:
                self._of_engine.add(number)
            return True
        if message.get("id") is None:
            return True
        self._deaths.pop(number, None)
        if number in self._answered:
            self._answered.discard(number)
            self._waiting.pop(number, None)
            return False
        return self._waiting.pop(number, None) is not None

    def forget(self, request_id: object) -> None:
        """Note that the client no longer waits for this answer."""
        self._waiting.pop(json.dumps(request_id), None)

    def engine_died(self, log: str, *, keeps_dying: bool) -> list[tuple[Message, str]]:
        """Note that an engine died, and remove the requests to refuse; returns each with the reason."""
        refused = []
        for number in [number for number in self._waiting if number not in self._answered]:
            self._deaths[number] += 1
            count, asked = self._deaths[number], self._waiting[number]
            if count >= _MAX_DEATHS:
                reason = f"the engine ended {count} times while it worked on this, which is not tried again; see {log}"
                self._blamed[_words(asked)] = (time.monotonic(), reason)
            elif keeps_dying:
                reason = f"the engine keeps ending; ask again in a minute, and see {log} for why"
            else:
                continue
            refused.append((self._waiting.pop(number), reason))
            del self._deaths[number]
        return refused

    def why_refused(self, message: Message) -> str:
        """The reason why a request must not be sent (engines died of the same one, too many wait); empty if it may be."""
        if len(self._waiting) >= _MAX_WAITING:
            return f"{_MAX_WAITING:,} requests wait for their answers: read these first"
        at, reason = self._blamed.get(_words(message), (0.0, ""))
        return reason if reason and time.monotonic() - at < _BLAMED_S else ""

    def take(self, method: str) -> list[Message]:
        """Remove and return the unanswered requests with this method."""
        taken = [number for number, message in self._waiting.items() if message.get("method") == method]
        return [self._waiting.pop(number) for number in taken]

    @property
    def waits(self) -> bool:
        """Whether an answer is still to come."""
        return bool(self._waiting)

    def unanswered(self) -> list[Message]:
        """The requests to send to a new engine, in order."""
        self._of_engine.clear()
        return [message for number, message in self._waiting.items() if number not in self._answered]


def _words(request: Message) -> str:
    return json.dumps([request.get("method"), request.get("params")], sort_keys=True)


def _key(message: Message) -> str:
    """An id as a dictionary's key: 1 and "1" are two."""
    return json.dumps(message.get("id"))
