"""What an engine tells those who listen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.engine.engine import About
from rag_ls.engine.events import (
    AnchorsMoved,
    DocumentIndexed,
    Event,
    Events,
    IndexComplete,
    MemoryChange,
    MemoryChanged,
    SettingsChanged,
)
from rag_ls.indexing import Depth
from rag_ls.operations import Operations
from tests.support import until, write


@pytest.fixture
def told(client: Client) -> Iterator[list[Event]]:
    events: list[Event] = []
    stop = client.engine.events.listen(events.append)
    yield events
    stop()


def test_an_index_that_is_complete_and_each_of_its_documents_are_told(
    client: Client, shop: Path, told: list[Event]
) -> None:
    client.open(shop).indexing.index_tree(Depth.WORDS)
    assert until(lambda: IndexComplete(shop) in told)
    assert DocumentIndexed(shop, "src/cart.py") in told


def test_a_file_that_is_written_is_told(client: Client, shop: Path, told: list[Event]) -> None:
    view = client.open(shop)
    view.indexing.index_tree(Depth.WORDS)
    assert until(lambda: IndexComplete(shop) in told)
    write(shop, {"src/new.py": "def wombat():\n    return 1\n"})
    view.files_changed(["src/new.py"])
    assert until(lambda: DocumentIndexed(shop, "src/new.py") in told)


def test_whoever_changes_a_memory_all_clients_hear_who_did_what(client: Client, shop: Path) -> None:
    other = Client(client.engine, about=About("mcp", "claude-code"))
    other.open(shop)
    told: list[Event] = []
    client.engine.events.listen(lambda event: told.append(event) if isinstance(event, MemoryChanged) else None)
    operations = Operations(other)
    stored = operations.run("store_memory", {"content": "Amounts are rounded half up.", "scope": "project"})
    operations.run("update_memory", {"id": stored["id"], "content": "Amounts are rounded half to even."})
    operations.run("delete_memory", {"id": stored["id"]})
    assert [(event.change, event.by, event.root, event.memory_id) for event in told] == [
        (change, "mcp claude-code", shop, stored["id"])
        for change in (MemoryChange.STORED, MemoryChange.CHANGED, MemoryChange.DELETED)
    ]
    other.close()


def test_a_change_is_told_of_the_memorys_project_whatever_the_client_has_open_besides(
    client: Client, shop: Path, tmp_path: Path, told: list[Event]
) -> None:
    # By its project, `/events` decides which token may see it.
    other = tmp_path / "other"
    write(other, {"notes.md": "# Notes\n", ".git/HEAD": "ref: refs/heads/main\n"})
    client.open(shop)
    client.open(other)
    operations = Operations(client)

    def roots_after(operation: str, **asked: object) -> list[Path | None]:
        told.clear()
        answer = operations.run(operation, asked)
        changes.append(answer)
        return [event.root for event in told if isinstance(event, MemoryChanged)]

    changes: list[dict[str, str]] = []
    of_other = {"content": "The wombat sleeps at noon.", "scope": "project", "project": str(other)}
    assert roots_after("store_memory", **of_other) == [other]
    memory_id = changes[-1]["id"]
    assert roots_after("update_memory", id=memory_id, content="The wombat sleeps at one.") == [other]
    assert roots_after("delete_memory", id=memory_id) == [other]
    assert roots_after("restore_memory", id=memory_id) == [other]
    assert roots_after("store_memory", content="Amounts are rounded half up.", scope="project") == [shop]
    everywhere = [memory_id, changes[-1]["id"]]
    assert roots_after("store_memory", content="Tabs are four wide, always.", scope="global") == [None]
    everywhere.append(changes[-1]["id"])
    assert roots_after("delete_memories", ids=everywhere, dry_run=True) == []
    assert set(roots_after("delete_memories", ids=everywhere)) == {other, shop, None}
    assert set(roots_after("undo", dry_run=True)) == set()
    assert roots_after("clear_session") == [None]


def test_code_with_a_memory_that_moves_is_told_once(client: Client, shop: Path, told: list[Event]) -> None:
    view = client.open(shop)
    view.indexing.index_tree(Depth.WORDS)
    assert until(lambda: IndexComplete(shop) in told)
    place = {"source_file": "src/cart.py", "symbol": "total_price"}
    stored = Operations(client).run("store_memory", {"content": "Half up.", "scope": "project", "metadata": place})
    file = shop / "src/cart.py"
    write(shop, {"src/cart.py": "# A line\n# and another\n\n" + file.read_text()})
    for _ in range(2):
        view.files_changed(["src/cart.py"])
        assert view.indexing.wait_until_idle(20, embeddings=False)
    moved = AnchorsMoved(shop, "src/cart.py", (stored["id"],))
    assert until(lambda: moved in told)
    assert told.count(moved) == 1


def test_a_listener_that_fails_keeps_nobody_from_hearing(caplog: pytest.LogCaptureFixture) -> None:
    events, told = Events(), []

    def fails(_: Event) -> None:
        raise ValueError("no")

    events.listen(fails)
    stop = events.listen(told.append)
    events.tell(SettingsChanged())
    stop()
    events.tell(SettingsChanged())
    assert told == [SettingsChanged()]
    assert "a listener failed" in caplog.text
