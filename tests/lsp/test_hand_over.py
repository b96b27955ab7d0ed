"""What an editor's messages start off the LSP thread is done in their order."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path

from rag_ls.engine.events import DocumentIndexed, IndexComplete, MemoryChange, MemoryChanged
from rag_ls.lsp.hand_over import EventInbox, HandOver

ROOT = Path("/shop")
STORED = MemoryChanged(MemoryChange.STORED, "mcp", ROOT, "1")


def _run(talk: Callable[[HandOver, list[str]], Coroutine[None, None, None]]) -> list[str]:
    told: list[str] = []

    async def run() -> None:
        await talk(HandOver(lambda: told.append("all done")), told)

    asyncio.run(run())
    return told


def test_work_is_done_in_order_and_newer_work_of_a_key_replaces_waiting_work() -> None:
    async def talk(hand_over: HandOver, told: list[str]) -> None:
        is_disk_slow, lsp_thread = threading.Event(), threading.get_ident()

        def wait_for_disk() -> None:
            assert threading.get_ident() != lsp_thread
            is_disk_slow.wait()
            told.append("slow")

        hand_over.put(wait_for_disk)
        hand_over.put(lambda: told.append("first text"), "a.py")
        hand_over.put(lambda: told.append("file"))
        hand_over.put(lambda: told.append("second text"), "a.py")
        await asyncio.sleep(0)
        assert not hand_over.is_done
        is_disk_slow.set()
        await hand_over.done()
        assert hand_over.is_done

    assert _run(talk) == ["slow", "file", "second text", "all done"]


def test_work_that_fails_holds_up_no_other() -> None:
    async def talk(hand_over: HandOver, told: list[str]) -> None:
        hand_over.put(lambda: told.remove("what is not there"))
        hand_over.put(lambda: told.append("next"))
        await hand_over.close()

    assert _run(talk) == ["next", "all done"]


# --- events


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
