"""Events that a client of a session has not seen yet: it can ask for them again after its connection broke.

Model Context Protocol 2025-11-25, Transports, "Resumability and Redelivery".
"""

from __future__ import annotations

from collections import deque

from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp_types import JSONRPCMessage

from rag_ls.util.records import dataclass

_MAX_EVENTS = 256
_MAX_BYTES = 500_000


@dataclass(frozen=True, slots=True)
class _Event:
    number: int
    stream: str
    message: JSONRPCMessage | None
    size: int


class EventLog(EventStore):
    """The latest events of one session, in memory. Older ones are gone for good."""

    def __init__(self) -> None:
        self._events: deque[_Event] = deque()
        self._left = _MAX_BYTES
        self._last = 0

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep an event; returns its id, which is unique in the session."""
        self._last += 1
        size = len(message.model_dump_json()) if message is not None else 0
        self._events.append(_Event(self._last, stream_id, message, size))
        self._left -= size
        while len(self._events) > _MAX_EVENTS or (self._left < 0 and len(self._events) > 1):
            self._left += self._events.popleft().size
        return str(self._last)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        """Send the later events of the same stream; returns the stream, or None for an id that is not kept."""
        seen = next((event for event in self._events if str(event.number) == last_event_id), None)
        if seen is None:
            return None
        for event in [each for each in self._events if each.number > seen.number and each.stream == seen.stream]:
            if event.message is not None:
                await send_callback(EventMessage(event.message, str(event.number)))
        return seen.stream
