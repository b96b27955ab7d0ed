"""Keeps a session's open documents and unanswered requests for the next engine, and keeps back those that engines die of."""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import Any

from rag_ls.util.json_rpc import Message

# A text that was in play at this many deaths of engines in a row is taken to be the cause. A request needs one death more: a
# text reaches each new engine at once, and nobody waits for its answer.
_MAX_TEXT_DEATHS = 2
# A text is in play for this long after an engine got it.
_IN_PLAY_S = 60.0
# A text is withheld for this long; after that, the engine may be a newer one that reads it.
_WITHHELD_S = 600.0
# Up to this many changes are kept one by one, which is cheap per keystroke; more are merged into one text.
_MAX_CHANGES = 200

# A request that was pending at the deaths of so many engines is taken for their cause.
_MAX_REQUEST_DEATHS = 3
# A client that reads no answers would make the relay grow without bound.
_MAX_WAITING = 10_000
# An identical request is refused at once for this long; after that, the engine or the code may be another.
_BLAMED_S = 600.0


class OpenDocuments:
    """The documents that the editor has open, as the messages that say so."""

    def __init__(self) -> None:
        self.encoding = "utf-16"
        """The encoding in which positions are counted."""
        self._open: dict[str, _Document] = {}
        self._deaths: Counter[str] = Counter()
        self._blamed: dict[str, float] = {}

    def note_change(self, message: Message) -> Message | None:
        """Note an editor's message about a document; returns what the engine is to be told instead, None for nothing."""
        method, params = message["method"], message.get("params")
        uri = _uri_of(params)
        if uri is None:
            return message
        if method == "textDocument/didOpen":
            self._open[uri] = _Document([message])
            return self._choose_message(uri, message)
        document = self._open.get(uri)
        if document is None:
            return message
        if method == "textDocument/didChange":
            document.add(message, self.encoding)
            return self._choose_message(uri, message)
        if method == "textDocument/didClose":
            del self._open[uri]
        return None if document.is_withheld else message

    def engine_died(self, log: str) -> list[str]:
        """Note that an engine died; returns what to tell the user of a text that is withheld from now on.

        Of several texts that may be the cause, the one is withheld that the user opened or changed last; if it was another
        one, that is withheld after the next death.
        """
        now = time.monotonic()
        suspects = {
            uri: _digest(uri, document.text(self.encoding))
            for uri, document in sorted(self._open.items(), key=lambda item: -item[1].changed_at)
            if not document.is_withheld and now - document.told_at < _IN_PLAY_S
        }
        self._deaths = Counter({digest: self._deaths[digest] + 1 for digest in suspects.values()})
        for uri, digest in suspects.items():
            if self._deaths[digest] >= _MAX_TEXT_DEATHS:
                self._blamed[digest] = now
                self._open[uri].is_withheld = True
                return [
                    f"the engine ended {self._deaths[digest]} times just after it was given {uri}: this text is kept from it "
                    f"until it changes; see {log}"
                ]
        return []

    def clear_blame(self) -> None:
        """Withhold nothing from the next engine: what engines died of has been found elsewhere."""
        self._deaths.clear()
        self._blamed.clear()

    def replay(self) -> list[Message]:
        """The messages that tell a new engine of the open documents."""
        messages = []
        for uri, document in self._open.items():
            document.is_withheld = self._is_blamed(uri, document)
            document.told_at = time.monotonic()
            messages += [] if document.is_withheld else document.messages
        return messages

    def _choose_message(self, uri: str, message: Message) -> Message | None:
        """The message to an engine about a document that was just opened or changed; None if it is told nothing."""
        document = self._open[uri]
        was_withheld, is_new = document.is_withheld, message["method"] == "textDocument/didOpen"
        document.told_at = document.changed_at = time.monotonic()
        document.is_withheld = self._is_blamed(uri, document)
        if document.is_withheld:
            closed = {"jsonrpc": "2.0", "method": "textDocument/didClose", "params": {"textDocument": {"uri": uri}}}
            return None if was_withheld or is_new else closed
        return document.merge_messages(self.encoding) if was_withheld else message

    def _is_blamed(self, uri: str, document: _Document) -> bool:
        # Build the whole text only if there is something to compare it with: this runs at each keystroke.
        if not self._blamed:
            return False
        at = self._blamed.get(_digest(uri, document.text(self.encoding)))
        return at is not None and time.monotonic() - at < _WITHHELD_S


class _Document:
    def __init__(self, messages: list[Message]) -> None:
        self.messages = messages
        self.changed_at = 0.0
        self.told_at = 0.0
        """The time at which an engine was told of it, or of its last change."""
        self.is_withheld = False

    def add(self, change: Message, encoding: str) -> None:
        """Keep a change, unless it is malformed: the engine drops it too."""
        self.messages.append(change)
        if len(self.messages) > _MAX_CHANGES or _is_whole(change["params"]):
            try:
                self.messages = [merge_changes(self.messages, encoding)]
            except (KeyError, TypeError, AttributeError, ValueError):
                self.messages.pop()

    def merge_messages(self, encoding: str) -> Message | None:
        """The document as it is now in one message; None where a change before was malformed."""
        try:
            return merge_changes(self.messages, encoding)
        except (KeyError, TypeError, AttributeError, ValueError):
            return None

    def text(self, encoding: str) -> str:
        """Its text, or what stands for it where a change was malformed."""
        merged = self.merge_messages(encoding)
        return json.dumps(self.messages) if merged is None else str(merged["params"]["textDocument"]["text"])


def merge_changes(messages: list[Message], encoding: str) -> Message:
    """Merge a `didOpen` and the changes after it into one `didOpen` with the resulting text."""
    from rag_ls.lsp import Position, TextBuffer

    opened = messages[0]
    item = dict(opened["params"]["textDocument"])
    buffer = TextBuffer(item.get("text", ""), encoding)
    for message in messages[1:]:
        item["version"] = message["params"]["textDocument"].get("version", item.get("version"))
        for change in message["params"].get("contentChanges", []):
            if place := change.get("range"):
                start, end = (Position(place[key]["line"], place[key]["character"]) for key in ("start", "end"))
                buffer.replace(start, end, change["text"])
            else:
                buffer = TextBuffer(change["text"], encoding)
    return {**opened, "params": {**opened["params"], "textDocument": {**item, "text": buffer.text}}}


def _is_whole(params: Message) -> bool:
    """Whether a change replaces the whole text, so that earlier changes no longer matter."""
    changes = params.get("contentChanges")
    return isinstance(changes, list) and any(isinstance(item, dict) and "range" not in item for item in changes)


def _uri_of(params: Any) -> str | None:
    document = params.get("textDocument") if isinstance(params, dict) else None
    uri = document.get("uri") if isinstance(document, dict) else None
    return uri if isinstance(uri, str) else None


def _digest(uri: str, text: str) -> str:
    # Imported only after a death, because every relay would pay for it. JSON may bring unpaired surrogates.
    import hashlib

    return hashlib.sha256(f"{uri}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()


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
            if count >= _MAX_REQUEST_DEATHS:
                reason = f"the engine ended {count} times while it worked on this, which is not tried again; see {log}"
                self._blamed[_identify_request(asked)] = (time.monotonic(), reason)
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
        at, reason = self._blamed.get(_identify_request(message), (0.0, ""))
        return reason if reason and time.monotonic() - at < _BLAMED_S else ""

    def take_requests(self, method: str) -> list[Message]:
        """Remove and return the unanswered requests with this method."""
        taken = [number for number, message in self._waiting.items() if message.get("method") == method]
        return [self._waiting.pop(number) for number in taken]

    @property
    def waits(self) -> bool:
        """Whether an answer is still to come."""
        return bool(self._waiting)

    def list_unanswered(self) -> list[Message]:
        """The requests to send to a new engine, in order."""
        self._of_engine.clear()
        return [message for number, message in self._waiting.items() if number not in self._answered]


def _identify_request(request: Message) -> str:
    return json.dumps([request.get("method"), request.get("params")], sort_keys=True)


def _key(message: Message) -> str:
    """An id as a dictionary's key: 1 and "1" are two."""
    return json.dumps(message.get("id"))
