"""Finds the WebSocket events and routes that a file emits or handles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

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
_JS_ON = re.compile(rf"{_RECEIVER}\s*\.\s*(?:on|once)\s*(?:<[^>\n]*>)?\(\s*{_STRING}\s*,")
_JS_EMIT = re.compile(
    rf"{_RECEIVER}\s*(?:\.\s*(?:to|in|of|except|broadcast|volatile|local|timeout)\b\s*(?:\([^()\n]{{0,120}}\))?\s*){{0,4}}"
    rf"\.\s*(?:emit|emitWithAck)\s*\(\s*{_STRING}"
)
_NEST = re.compile(rf"@SubscribeMessage\s*\(\s*{_STRING}")
_SOCKET_LIBRARIES = ("socket.io", "@SubscribeMessage", "WebSocket", '"ws"', "'ws'")

_PY_ON = re.compile(rf"^[ \t]*@\w*(?:socket|sio)\w*\.on\(\s*{_STRING}", re.MULTILINE | re.IGNORECASE)
_PY_EVENT = re.compile(
    r"^[ \t]*@\w*(?:socket|sio)\w*\.event\b[^\n]*\n\s*(?:async\s+)?def\s+(\w+)", re.MULTILINE | re.IGNORECASE
)
_PY_EMIT = re.compile(rf"(?:\b(?:\w*socket\w*|sio)\.|(?<![\w.]))emit\(\s*{_STRING}", re.IGNORECASE)
_PY_ROUTE = re.compile(rf"^[ \t]*@[\w.]+\.websocket(?:_route)?\(\s*{_STRING}", re.MULTILINE)
_PY_ROUTE_OBJECT = re.compile(rf"\bWebSocketRoute\(\s*{_STRING}")
_CHANNELS_ROUTE = re.compile(rf"\b(?:re_)?path\(\s*r?{_STRING}\s*,\s*[\w.]+\.as_asgi\(")
_CHANNELS_SENT = re.compile(rf"group_send\([^{{]{{0,200}}\{{\s*[\"']type[\"']\s*:\s*{_STRING}")
_CHANNELS_HANDLER = re.compile(r"^[ \t]+(?:async\s+)?def\s+([a-z]\w*)\(self,\s*event\b", re.MULTILINE)

_PHOENIX_IN = re.compile(rf"^[ \t]*def\s+handle_in\(\s*{_STRING}", re.MULTILINE)
_PHOENIX_OUT = re.compile(rf"(?<![\w.:])(?:push|broadcast!?|broadcast_from!?)\(\s*(?:\w+\s*,\s*){{1,3}}{_STRING}")
_PHOENIX_PIPED = re.compile(rf"\|>\s*(?:push|broadcast!?|broadcast_from!?)\(\s*{_STRING}\s*,")
_SPRING = re.compile(rf"@MessageMapping\(\s*{_STRING}")
_SPRING_SENT = re.compile(rf"@SendTo\(\s*{_STRING}|\.convertAndSend\(\s*{_STRING}")
_SIGNALR = re.compile(rf"\.SendAsync\(\s*{_STRING}")

_PATTERNS: dict[str, tuple[tuple[str, re.Pattern[str], Direction], ...]] = {
    "python": (
        (".websocket", _PY_ROUTE, "handled"),
        ("WebSocketRoute", _PY_ROUTE_OBJECT, "handled"),
        ("as_asgi", _CHANNELS_ROUTE, "handled"),
        ("group_send", _CHANNELS_SENT, "emitted"),
        (".on(", _PY_ON, "handled"),
        (".event", _PY_EVENT, "handled"),
        ("emit(", _PY_EMIT, "emitted"),
    ),
    "elixir": (("handle_in", _PHOENIX_IN, "handled"), ("", _PHOENIX_OUT, "emitted"), ("", _PHOENIX_PIPED, "emitted")),
    **dict.fromkeys(JVM, (("@MessageMapping", _SPRING, "handled"), ("essaging", _SPRING_SENT, "emitted"))),
    "csharp": (("SignalR", _SIGNALR, "emitted"),),
}  # fmt: skip


def events_in(language: str, text: str) -> list[SocketEvent]:
    """The WebSocket events of a file, by line."""
    return events_of(source_of("", language, text))


def events_of(source: SurveyedFile) -> list[SocketEvent]:
    """The WebSocket events of a source, by line."""
    found = _javascript(source) if source.language in JAVASCRIPT else _find_listed_events(source)
    return sorted(dict.fromkeys(found), key=lambda event: event.line)


def _javascript(source: SurveyedFile) -> Iterator[SocketEvent]:
    if not any(library in source.code for library in _SOCKET_LIBRARIES):
        return
    patterns: tuple[tuple[re.Pattern[str], Direction], ...] = (
        (_JS_ON, "handled"), (_JS_EMIT, "emitted"), (_NEST, "handled"),
    )  # fmt: skip
    for pattern, direction in patterns:
        for match in source.find(pattern):
            if match[1] not in _LIFECYCLE:
                yield SocketEvent(match[1], source.place(match).line, direction)


def _find_listed_events(source: SurveyedFile) -> Iterator[SocketEvent]:
    for needed, pattern, direction in _PATTERNS.get(source.language, ()):
        if needed not in source.code:
            continue
        for match in source.find(pattern):
            name = next(group for group in match.groups() if group)
            if name not in _LIFECYCLE:
                yield SocketEvent(name, source.place(match).line, direction)
    if source.language == "python" and "channels" in source.code:
        for match in source.find(_CHANNELS_HANDLER):
            # Channels calls `chat_message` for the type `chat.message`.
            yield SocketEvent(match[1].replace("_", "."), source.place(match).line, "handled")
