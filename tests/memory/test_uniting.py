"""Two stores of one project become one: nothing that either held is lost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from rag_ls.config.settings import Settings
from rag_ls.memory.uniting import CONSOLIDATED, United, unite
from rag_ls.model import Memory, MemoryMetadata, MemoryType, Scope
from rag_ls.storage import MemoryStore, open_memories
from rag_ls.util.text import content_hash
from tests.support import scale_examples

_NOW = "2026-06-01T00:00:00.000Z"


def _memory(number: str, content: str, version: int = 1, day: int = 1, tags: Iterable[str] = ()) -> Memory:
    stamp = f"2026-01-{day:02d}T00:00:00.000Z"
    return Memory(
        number, content, Scope.PROJECT, MemoryMetadata(tuple(tags)), MemoryType.SEMANTIC, "2026-01-01T00:00:00.000Z",
        stamp, version, content_hash(content),
    )  # fmt: skip


def _store(*memories: Memory) -> MemoryStore:
    store = open_memories(None, Scope.PROJECT, Settings())
    for memory in memories:
        store.insert(memory)
    return store


def _contents(store: MemoryStore) -> dict[str, str]:
    return {memory.id: memory.content for memory in store.all()}


def _all_ever(store: MemoryStore) -> set[str]:
    ids = {*store.versions(), *(version.memory.id for version in store.deleted(-1)[0])}
    return {version.memory.content for each in ids for version in store.history(each)} | set(_contents(store).values())


def test_memories_of_both_are_there() -> None:
    ours = _store(_memory("a", "one"))
    assert unite(ours, _store(_memory("b", "two")), _NOW) == United(added=1)
    assert _contents(ours) == {"a": "one", "b": "two"}


def test_the_later_version_counts_and_the_other_is_history() -> None:
    ours, theirs = _store(_memory("a", "first")), _store(_memory("a", "first"))
    theirs.replace(_memory("a", "second", 2, 2))
    theirs.replace(_memory("a", "third", 3, 3))
    assert unite(ours, theirs, _NOW) == United(changed=1)
    assert [(each.memory.version, each.memory.content) for each in ours.history("a")] == [(2, "second"), (1, "first")]
    assert _contents(ours) == {"a": "third"}


def test_of_two_changes_of_one_version_both_can_be_read() -> None:
    ours, theirs = _store(_memory("a", "first")), _store(_memory("a", "first"))
    ours.replace(_memory("a", "ours", 2, 2))
    theirs.replace(_memory("a", "theirs", 2, 3))
    unite(ours, theirs, _NOW)
    assert _contents(ours) == {"a": "theirs"}
    assert {each.memory.content for each in ours.history("a")} == {"first", "ours"}
    numbers = [each.memory.version for each in ours.history("a")]
    assert len(numbers) == len(set(numbers))


def test_a_deletion_counts_more_than_what_it_deleted_and_less_than_a_later_change() -> None:
    ours, theirs = _store(_memory("a", "one"), _memory("b", "two")), _store(_memory("a", "one"), _memory("b", "two"))
    ours.replace(_memory("b", "two, later", 2, 2))
    theirs.delete("a")
    theirs.delete("b")
    assert unite(ours, theirs, _NOW) == United(deleted=1)
    assert _contents(ours) == {"b": "two, later"}
    assert {version.memory.id for version in ours.deleted(-1)[0]} == {"a"}


def test_what_was_deleted_here_stays_deleted() -> None:
    ours, theirs = _store(_memory("a", "one")), _store(_memory("a", "one"))
    ours.delete("a")
    assert unite(ours, theirs, _NOW) == United()
    assert not _contents(ours)


def test_of_two_that_say_the_same_the_older_one_stays_with_the_tags_of_both() -> None:
    ours = _store(replace(_memory("b", "same", tags=["ours"]), created_at="2026-01-02T00:00:00.000Z"))
    unite(ours, _store(_memory("a", "same", tags=["theirs"])), _NOW)
    (memory,) = ours.all()
    assert (memory.id, set(memory.metadata.tags)) == ("a", {"ours", "theirs"})
    assert [version.reason for version in ours.history("b")] == [CONSOLIDATED]


def test_changes_of_many_memories_can_still_be_taken_back() -> None:
    from rag_ls.memory.batches import DELETED, carry_out, undo

    theirs = _store(_memory("a", "one"))
    carry_out(theirs, DELETED, lambda: theirs.delete("a"), stamp=_NOW)
    ours = _store()
    unite(ours, theirs, _NOW)
    undo(ours, ours.batches()[0].id, _NOW)
    assert _contents(ours) == {"a": "one"}


_STEPS = st.lists(
    st.tuples(
        st.booleans(), st.sampled_from(["store", "change", "delete", "restore"]), st.sampled_from("abc"), st.integers(0, 4),
        st.integers(1, 28),
    ),
    max_size=12,
)  # fmt: skip


# Both change one version to another text, at the same time.
_IN_ONE_MOMENT = [
    (False, "restore", "b", 2, 10), (True, "restore", "a", 3, 24), (False, "delete", "c", 0, 11), (True, "change", "a", 2, 20),
    (False, "store", "a", 4, 10), (True, "change", "a", 4, 8), (False, "change", "b", 0, 20), (False, "change", "a", 1, 20),
    (False, "store", "a", 1, 14), (True, "restore", "c", 2, 3), (False, "store", "a", 1, 22), (True, "delete", "c", 4, 21),
]  # fmt: skip


@pytest.mark.slow
@settings(max_examples=scale_examples(150), phases=[Phase.explicit, Phase.generate])
@given(_STEPS, _STEPS)
@example(_IN_ONE_MOMENT, [*_IN_ONE_MOMENT[:5], (False, "store", "a", 4, 8), *_IN_ONE_MOMENT[6:]])
def test_nothing_that_either_held_is_lost_and_uniting_again_changes_nothing(
    first: list[tuple[bool, str, str, int, int]], second: list[tuple[bool, str, str, int, int]]
) -> None:
    ours, theirs = _store(), _store()
    for steps in (first, second):
        for is_ours, *step in steps:
            _step(ours if is_ours else theirs, *step)
        ever = _all_ever(ours) | _all_ever(theirs)
        unite(ours, theirs, _NOW)
        assert _all_ever(ours) == ever
        assert unite(ours, theirs, _NOW) == United()
        unite(theirs, ours, _NOW)
        # Which of two that say the same stays may be known only when both have taken.
        unite(ours, theirs, _NOW)
        assert _contents(theirs) == _contents(ours)
        # Each may have given numbers of its own; then they agree.
        unite(theirs, ours, _NOW)
        assert (unite(ours, theirs, _NOW), unite(theirs, ours, _NOW)) == (United(), United())
    ours.close()
    theirs.close()


def _step(store: MemoryStore, what: str, name: str, number: int, day: int) -> None:
    """One thing that a person does; content that is there already is nothing new."""
    present = store.get(name)
    history = store.history(name)
    last = max([each.memory.version for each in history] + ([present.version] if present else []), default=0)
    memory = _memory(name, f"content {number}", last + 1, day)
    if store.twin(memory) is not None:
        return
    if what == "delete":
        store.delete(name)
    elif what == "change" and present is not None:
        store.replace(memory)
    elif present is None and (what == "restore") == bool(history):
        store.insert(memory)


def test_what_was_erased_on_either_side_stays_erased() -> None:
    for erased_here in (True, False):
        ours, theirs = _store(_memory("a", "first")), _store(_memory("a", "first"))
        for store in (ours, theirs):
            store.replace(_memory("a", "second", 2, 2))
        (ours if erased_here else theirs).erase([_memory("a", "second", 2, 2)])
        for _ in range(2):
            unite(ours, theirs, _NOW)
        assert _all_ever(ours) == {""}
