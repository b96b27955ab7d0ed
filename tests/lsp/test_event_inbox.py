"""How one editor hears of events."""

from __future__ import annotations

import asyncio
from pathlib import Path

from rag_ls.engine.events import DocumentIndexed, IndexComplete, MemoryChange, MemoryChanged
from rag_ls.lsp.hand_over import EventInbox

ROOT = Path("/shop")
STORED = MemoryChanged(MemoryChange.STORED, "mcp", ROOT, "1")


async def test_what_comes_within_a_moment_comes_together_each_once() -> None:
    inbox = EventInbox()
    documents = [DocumentIndexed(ROOT, f"{number}.py") for number in range(100)]
    for event in (*documents, STORED, STORED, IndexComplete(ROOT)):
        inbox.put(event)
    assert await inbox.take() == [documents[-1], STORED, IndexComplete(ROOT)]


async def test_later_events_from_other_threads_wake_it_again() -> None:
    inbox = EventInbox()
    for number in range(3):
        await asyncio.to_thread(inbox.put, MemoryChanged(MemoryChange.STORED, "mcp", ROOT, str(number)))
        [event] = await asyncio.wait_for(inbox.take(), 10)
        assert isinstance(event, MemoryChanged)
        assert event.memory_id == str(number)
