"""Finds the WebSocket events and routes that a file emits or handles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rag_ls.rules.survey.forms import form
from rag_ls.rules.survey.sources import JAVASCRIPT, JVM, SurveyedFile, source_of

Direction = Literal["emitted", "handled"]


@dataclass(frozen=True, slots=True)
class SocketEvent:
    """An event, or the route of a WebSocket."""

    name: str
    line: int
    """1-based."""
    direction: Direction


_STRING = r"""["'`]([^"'`\n]+)["'`]"""
# What a connection says of itself is no event of the application.
_LIFECYCLE = frozenset(
    "connection connect disconnect disconnecting connect_error connect_timeout error close open ping pong reconnect "
    "reconnect_attempt reconnect_error reconnect_failed reconnecting listening headers upgrade drain finish end data exit request".split()
)
_RECEIVER = (
    r"\b(?:socket|io|ws|wss|nsp|namespace|channel|server|client|gateway|conn|connection|\w*[sS]ocket|\w*IO|\w*Io)"
)
_TO_SOME = r"(?:\.\s*(?:to|in|of|except|broadcast|volatile|local|timeout)\b\s*(?:\([^()\n]{0,120}\))?\s*){0,4}"
_LIBRARIES = ("socket.io", "@SubscribeMessage", "WebSocket", '"ws"', "'ws'")
_FORMS = (
    form(JAVASCRIPT, "handled", "", rf"{_RECEIVER}\s*\.\s*(?:on|once)\s*(?:<[^>\n]*>)?\(\s*{_STRING}\s*,", *_LIBRARIES),
    form(JAVASCRIPT, "emitted", "", rf"{_RECEIVER}\s*{_TO_SOME}\.\s*(?:emit|emitWithAck)\s*\(\s*{_STRING}", *_LIBRARIES),
    form(JAVASCRIPT, "handled", "@SubscribeMessage", rf"@SubscribeMessage\s*\(\s*{_STRING}"),
    form(["python"], "handled", ".websocket", rf"^[ \t]*@[\w.]+\.websocket(?:_route)?\(\s*{_STRING}"),
    form(["python"], "handled", "WebSocketRoute", rf"\bWebSocketRoute\(\s*{_STRING}"),
    form(["python"], "handled", "as_asgi", rf"\b(?:re_)?path\(\s*r?{_STRING}\s*,\s*[\w.]+\.as_asgi\("),
    form(["python"], "emitted", "group_send", rf"group_send\([^{{]{{0,200}}\{{\s*[\"']type[\"']\s*:\s*{_STRING}"),
    form(["python"], "handled", ".on(", rf"(?i)^[ \t]*@\w*(?:socket|sio)\w*\.on\(\s*{_STRING}"),
    form(["python"], "handled", ".event", r"(?i)^[ \t]*@\w*(?:socket|sio)\w*\.event\b[^\n]*\n\s*(?:async\s+)?def\s+(\w+)"),
    form(["python"], "emitted", "emit(", rf"(?i)(?:\b(?:\w*socket\w*|sio)\.|(?<![\w.]))emit\(\s*{_STRING}"),
    form(["elixir"], "handled", "handle_in", rf"^[ \t]*def\s+handle_in\(\s*{_STRING}"),
    form(["elixir"], "emitted", "", rf"(?<![\w.:])(?:push|broadcast!?|broadcast_from!?)\(\s*(?:\w+\s*,\s*){{1,3}}{_STRING}"),
    form(["elixir"], "emitted", "", rf"\|>\s*(?:push|broadcast!?|broadcast_from!?)\(\s*{_STRING}\s*,"),
    form(JVM, "handled", "@MessageMapping", rf"@MessageMapping\(\s*{_STRING}"),
    form(JVM, "emitted", "essaging", rf"@SendTo\(\s*{_STRING}|\.convertAndSend\(\s*{_STRING}"),
    form(["csharp"], "emitted", "SignalR", rf"\.SendAsync\(\s*{_STRING}"),
)  # fmt: skip
_CHANNELS_HANDLER = re.compile(r"^[ \t]+(?:async\s+)?def\s+([a-z]\w*)\(self,\s*event\b", re.MULTILINE)


def events_in(language: str, text: str) -> list[SocketEvent]:
    """The WebSocket events of a file, by line."""
    return events_of(source_of("", language, text))


def events_of(source: SurveyedFile) -> list[SocketEvent]:
    """The WebSocket events of a source, by line."""
    return sorted(dict.fromkeys(_find_events(source)), key=lambda event: event.line)


def _find_events(source: SurveyedFile) -> Iterator[SocketEvent]:
    for way in _FORMS:
        direction: Direction = "handled" if way.label == "handled" else "emitted"
        for match in way.find(source):
            name = next(group for group in match.groups() if group)
            if name not in _LIFECYCLE:
                yield SocketEvent(name, source.place(match).line, direction)
    if source.language == "python" and "channels" in source.code:
        for match in source.find(_CHANNELS_HANDLER):
            # Channels calls `chat_message` for the type `chat.message`.
            yield SocketEvent(match[1].replace("_", "."), source.place(match).line, "handled")
