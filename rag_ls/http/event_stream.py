"""The engine's events as server-sent events, for a page that shows what happens."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import re
from collections.abc import AsyncIterator, Callable
from enum import Enum
from pathlib import Path
from typing import Any

import anyio.to_thread

from rag_ls.engine.client import Client
from rag_ls.engine.engine import About, Engine
from rag_ls.engine.events import Event
from rag_ls.http.rest import event_text
from rag_ls.http.tokens import Token

_ALIVE_S = 10.0
# A listener that does not read loses events rather than memory.
_MAX_WAITING = 1000


async def event_stream(engine: Engine, token: Token, is_in_force: Callable[[], bool]) -> AsyncIterator[bytes]:
    """The events of the projects that the token sees, until the client leaves or the token counts no longer."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Event] = asyncio.Queue(_MAX_WAITING)
    roots = await anyio.to_thread.run_sync(_find_visible_roots, engine, token)

    def put(event: Event) -> None:
        with contextlib.suppress(asyncio.QueueFull):
            queue.put_nowait(event)

    def tell(event: Event) -> None:
        # The loop may have ended meanwhile.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(put, event)

    stop = engine.events.listen(tell)
    try:
        yield b": listening\n\n"
        while is_in_force():
            try:
                event = await asyncio.wait_for(queue.get(), _ALIVE_S)
            except TimeoutError:
                yield b": alive\n\n"
                continue
            root = getattr(event, "root", None)
            if roots is None or (root is not None and root in roots):
                # `document_indexed` for `DocumentIndexed`.
                name = re.sub(r"(?<=[a-z])([A-Z])", r"_\1", type(event).__name__).lower()
                yield event_text(name, _plain(event))
    finally:
        stop()


def _find_visible_roots(engine: Engine, token: Token) -> frozenset[Path] | None:
    if not token.projects:
        return None
    client = Client(engine, about=About("http"), only=token.projects)
    try:
        return frozenset(item.root for item in client.known_projects())
    finally:
        client.close()


def _plain(event: Event) -> dict[str, Any]:
    found = {item.name: getattr(event, item.name) for item in dataclasses.fields(event)}
    return {
        name: str(value) if isinstance(value, Path) else value.value if isinstance(value, Enum) else value
        for name, value in found.items()
    }
