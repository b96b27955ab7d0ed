"""The inbox: what is proposed, left out, resolved, and what expires."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rag_ls.errors import NotFound
from rag_ls.memory.inbox import DROPPED, KEPT, NEVER, MemoryInbox, MemoryProposal
from rag_ls.model import Scope
from rag_ls.storage import MemoryStore
from tests.memory.support import record
from tests.secret_fakes import TOKENS

NOW = datetime(2026, 5, 1, tzinfo=UTC)
FACT = "Prices are net of tax until the invoice is made"
NEARLY = "The prices are net of tax until an invoice is made"


@pytest.fixture
def memories() -> MemoryStore:
    return MemoryStore(None, Scope.PROJECT)


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    return MemoryStore(tmp_path / "inbox.db", Scope.PROJECT)


@pytest.fixture
def inbox(store: MemoryStore, memories: MemoryStore) -> MemoryInbox:
    return MemoryInbox(store, memories, NOW)


def _propose(inbox: MemoryInbox, *texts: str) -> list[str]:
    return [each.content for each in inbox.propose(MemoryProposal(text, "session") for text in texts)]


def test_a_proposal_waits_and_is_no_memory(inbox: MemoryInbox, memories: MemoryStore) -> None:
    assert _propose(inbox, FACT, "Retries stop after three") == [FACT, "Retries stop after three"]
    assert memories.count() == 0
    page, total = inbox.list_page(1, 1)
    assert (len(page), total) == (1, 2)
    assert inbox.get(page[0].id[:6]) == page[0]


def test_what_is_known_or_waits_is_not_proposed_again(inbox: MemoryInbox, memories: MemoryStore) -> None:
    memories.insert(record(content=NEARLY))
    assert _propose(inbox, FACT, "Retries stop after three", "Retries stop after three.") == [
        "Retries stop after three"
    ]


@pytest.mark.parametrize("text", [TOKENS["GitHub token"][0], "done", "", "All tests pass.", "x" * 200_000])
def test_secrets_and_what_says_nothing_do_not_enter(inbox: MemoryInbox, text: str) -> None:
    assert _propose(inbox, text) == []


@pytest.mark.parametrize(
    ("outcome", "again", "nearly"), [(DROPPED, [], [NEARLY]), (NEVER, [], []), (KEPT, [], [NEARLY])]
)
def test_what_was_resolved_is_not_proposed_again(
    inbox: MemoryInbox, outcome: str, again: list[str], nearly: list[str]
) -> None:
    _propose(inbox, FACT)
    inbox.resolve(inbox.list_page()[0][0].id, outcome)
    assert inbox.list_page()[1] == 0
    assert _propose(inbox, FACT) == again
    assert _propose(inbox, NEARLY) == nearly


def test_a_proposal_expires_after_thirty_days_and_may_come_again(
    inbox: MemoryInbox, store: MemoryStore, memories: MemoryStore
) -> None:
    _propose(inbox, FACT)
    assert MemoryInbox(store, memories, NOW + timedelta(days=29)).list_page()[1] == 1
    later = MemoryInbox(store, memories, NOW + timedelta(days=31))
    assert later.list_page()[1] == 0
    assert _propose(later, FACT) == [FACT]


def test_an_inbox_of_ten_thousand_is_listed_by_pages(inbox: MemoryInbox, store: MemoryStore) -> None:
    with store.transaction():
        for number in range(10_000):
            store.insert(record(number, f"Fact number {number}"))
    page, total = inbox.list_page(20, 9_990)
    assert (len(page), total) == (10, 10_000)


@pytest.mark.parametrize("wanted", ["", "abc", "nothing-like-it"])
def test_an_unknown_id_is_named(inbox: MemoryInbox, wanted: str) -> None:
    with pytest.raises(NotFound, match="no proposal has the id"):
        inbox.get(wanted)
