"""How memories are looked up besides by meaning: words, tags, uses, places; and how a session makes room."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from rag_ls.model import Anchor, MemoryFilters, MemoryMetadata, Scope
from rag_ls.storage import Batch, MemoryStore, VersionChange
from tests.memory.support import put, record, stamp, used
from tests.support import until


@pytest.fixture
def store(memories: MemoryStore) -> MemoryStore:
    """Every implementation in turn."""
    return memories


def _tagged(number: int, *tags: str) -> MemoryMetadata:
    return MemoryMetadata(tags=tags, custom={"number": number})


class TestTags:
    @pytest.fixture
    def tagged(self, store: MemoryStore) -> MemoryStore:
        """Three memories with tags, and one without."""
        put(store, record(1, metadata=_tagged(1, "Rust", "async")))
        put(store, record(2, metadata=_tagged(2, "rust")))
        put(store, record(3, metadata=_tagged(3, "async", "build", "c++")))
        put(store, record(4))
        return store

    def test_the_most_tags_come_first_and_then_the_newest(self, tagged: MemoryStore) -> None:
        found = tagged.words.tagged(["RUST", "async", "missing"], 5)
        assert list(found.items()) == [(record(1).id, 2), (record(3).id, 1), (record(2).id, 1)]
        assert list(tagged.words.tagged(["rust", "async"], 1)) == [record(1).id]

    def test_a_tag_is_no_pattern_and_no_part_of_a_word(self, tagged: MemoryStore) -> None:
        for words in (["rus"], ["%"], ["*"], ["asyn_"], ["' OR 1 --"], [], [""]):
            assert tagged.words.tagged(words, 5) == {}
        assert list(tagged.words.tagged(["C++"], 5)) == [record(3).id]

    def test_filters_hold(self, tagged: MemoryStore) -> None:
        assert list(tagged.words.tagged(["rust"], 5, MemoryFilters(tags=("async",)))) == [record(1).id]
        assert list(tagged.words.tagged(["rust"], 5, MemoryFilters(since=stamp(2)))) == [record(2).id]

    def test_tags_are_counted_and_go_with_their_memory(self, tagged: MemoryStore) -> None:
        assert list(tagged.words.tag_counts().items()) == [("async", 2), ("Rust", 2), ("build", 1), ("c++", 1)]
        tagged.replace(record(2, version=2))
        tagged.delete(record(3).id)
        assert tagged.words.tag_counts() == {"Rust": 1, "async": 1}


class TestBatches:
    def test_versions_are_those_of_the_present_memories(self, store: MemoryStore) -> None:
        for number in (1, 2):
            put(store, record(number))
        store.replace(record(1, "changed", version=2))
        store.delete(record(2).id)
        assert store.versions() == {record(1).id: 2}

    def test_what_was_deleted_is_listed_in_its_last_version_the_latest_first(self, store: MemoryStore) -> None:
        for number in (1, 2, 3):
            put(store, record(number))
        store.replace(record(1, "changed", version=2))
        store.delete(record(1).id, reason="consolidated")
        store.delete(record(2).id)
        page, total = store.deleted(1)
        assert ([item.memory.id for item in page], total) == ([record(2).id], 2)
        (last,), _ = store.deleted(5, 1)
        assert (last.memory.content, last.reason) == ("changed", "consolidated")
        put(store, record(2, version=2))
        assert [item.memory.id for item in store.deleted(5)[0]] == [record(1).id]

    def test_batches_are_kept_the_latest_first_and_may_be_undone(self, store: MemoryStore) -> None:
        first = Batch("a", "imported", stamp(1), (VersionChange(record(1).id, None, 1),))
        second = Batch("b", "deleted", stamp(2), (VersionChange(record(1).id, 1, None),))
        store.add_batch(first)
        store.add_batch(second)
        assert store.batches() == [second, first]
        assert store.batches(1) == [second]
        store.note_undone("b", stamp(3))
        assert store.batches()[0] == replace(second, undone_at=stamp(3))


class TestWords:
    def test_filters_hold_and_the_best_come_first(self, store: MemoryStore) -> None:
        put(store, record(1, "cache cache cache"))
        put(store, record(2, "cache of the long and winding road to nowhere in particular", branch="main"))
        put(store, record(3, "cache again", branch="other"))
        assert next(iter(store.words.lexical(["cache"], 5))) == record(1).id
        assert set(store.words.lexical(["cache"], 5, MemoryFilters(branch="main"))) == {record(1).id, record(2).id}
        assert list(store.words.lexical(["cache"], 5, MemoryFilters(since=stamp(3)))) == [record(3).id]
        assert len(store.words.lexical(["cache"], 2)) == 2
        assert store.words.lexical([], 5) == {}

    def test_a_letter_is_found_with_and_without_its_mark(self, store: MemoryStore) -> None:
        put(store, record(1, "Schlüssel werden jährlich erneuert"))
        put(store, record(2, "un reçu est envoye\u0301"))
        for word in ("schlussel", "schlüssel", "jahrlich"):
            assert list(store.words.lexical([word], 5)) == [record(1).id]
        for word in ("recu", "reçu", "envoye", "envoyé"):
            assert list(store.words.lexical([word], 5)) == [record(2).id]

    def test_how_many_hold_a_word_is_counted_up_to_a_limit(self, store: MemoryStore) -> None:
        for number in range(5):
            put(store, record(number, f"cache number {number}"))
        assert [store.words.frequency("cache", most) for most in (9, 5, 3)] == [5, 5, 3]
        assert store.words.frequency("missing", 9) == 0


class TestUses:
    def test_uses_are_counted_and_make_no_version(self, store: MemoryStore) -> None:
        memory = put(store, record(1))
        put(store, record(2))
        used(store, memory.id, 3)
        found = store.get(memory.id)
        assert found == memory
        assert (found.uses, found.used_at, store.history(memory.id)) == (3, stamp(60), [])
        assert [item.id for item in store.find(MemoryFilters(never_used=True))] == [record(2).id]

    def test_several_uses_in_one_answer_are_counted_each(self, store: MemoryStore) -> None:
        for number in (1, 2):
            put(store, record(number))
        store.note_uses([record(1).id, record(2).id, record(1).id, "no such id"], stamp(60))
        assert until(lambda: [memory.uses for memory in store.find()] == [1, 2], 10)

    def test_no_use_of_several_threads_is_lost(self, store: MemoryStore) -> None:
        put(store, record(1))
        barrier = threading.Barrier(4, timeout=10)

        def use(number: int) -> None:
            barrier.wait()
            for _ in range(25):
                store.note_uses([record(1).id], stamp(60))

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(use, range(4)))
        assert until(lambda: (found := store.get(record(1).id)) and found.uses == 100, 10)

    def test_uses_are_written_when_the_store_is_closed(self, tmp_path: Path) -> None:
        store = MemoryStore(tmp_path / "memories.db", Scope.PROJECT)
        put(store, record(1))
        with store.transaction():
            # Its writer waits for this one.
            store.note_uses([record(1).id], stamp(60))
        store.close()
        again = MemoryStore(tmp_path / "memories.db", Scope.PROJECT)
        assert until(lambda: (found := again.get(record(1).id)) and found.uses == 1, 10)

    def test_uses_stay_with_a_change_and_go_with_their_memory(self, store: MemoryStore) -> None:
        put(store, record(1))
        used(store, record(1).id)
        store.replace(record(1, "other content", version=2))
        assert [memory.uses for memory in store.find()] == [1]
        store.delete(record(1).id)
        store.insert(record(1, version=3))
        assert [memory.uses for memory in store.find()] == [0]


class TestPlaces:
    @pytest.fixture
    def anchored(self, store: MemoryStore) -> MemoryStore:
        """Memories about places."""
        put(store, record(1, anchor=Anchor("src/a.py", "A.run", "hash-a", 3)))
        put(store, record(2, anchor=Anchor("src/b.py", "", "hash-b", 9)))
        put(store, record(3, anchor=Anchor("src/a.py")))
        put(store, record(4))
        return store

    @pytest.mark.parametrize(
        ("path", "symbols", "hashes", "numbers"),
        [
            ("src/a.py", (), (), [3, 1]),
            ("elsewhere.py", ("A.run",), (), [1]),
            ("elsewhere.py", (), ("hash-b", "hash-a"), [2, 1]),
            ("src/b.py", ("A.run",), (), [2, 1]),
            # No symbol and no hash are nobody's.
            ("elsewhere.py", ("",), (), []),
            ("src/%", ("A._un",), ("*",), []),
            ("", (), (), []),
        ],
    )
    def test_a_memory_is_found_by_path_symbol_or_code(
        self, anchored: MemoryStore, path: str, symbols: tuple[str, ...], hashes: tuple[str, ...], numbers: list[int]
    ) -> None:
        assert [int(memory.id[:8]) for memory in anchored.about(path, symbols, hashes)] == numbers

    def test_a_memory_that_loses_its_anchor_is_found_no_more(self, anchored: MemoryStore) -> None:
        anchored.replace(record(1, version=2))
        assert [int(memory.id[:8]) for memory in anchored.about("src/a.py", ("A.run",), ("hash-a",))] == [3]
        assert len(anchored.find(MemoryFilters(anchored=True))) == 2


class TestRoom:
    @pytest.fixture
    def session(self) -> MemoryStore:
        """A session with memories of two importances."""
        store = MemoryStore(None, Scope.SESSION)
        for number, importance in ((1, 0.9), (2, 0.1), (3, 0.5), (4, 0.1)):
            put(store, record(number, metadata=MemoryMetadata(importance_score=importance)))
        return store

    def test_the_oldest_of_the_least_important_go(self, session: MemoryStore) -> None:
        assert session.evict(4) == []
        assert session.evict(3) == [record(2).id]
        assert session.evict(1) == [record(4).id, record(3).id]
        assert [memory.id for memory in session.find()] == [record(1).id]

    def test_one_may_be_kept(self, session: MemoryStore) -> None:
        assert session.evict(2, keep=record(2).id) == [record(4).id, record(3).id]
        assert session.evict(1, keep=record(2).id) == [record(1).id]
        assert session.evict(0, keep=record(2).id) == []


def test_an_error_in_a_transaction_takes_all_of_it_back(store: MemoryStore) -> None:
    put(store, record(1))

    def break_off() -> None:
        with store.transaction():
            store.insert(record(2))
            store.replace(record(1, "other", version=2))
            store.delete(record(1).id)
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        break_off()
    assert store.find() == [record(1)]
    assert store.history(record(1).id) == []
    assert set(store.words.lexical(["memory", "other"], 5)) == {record(1).id}


def test_the_place_of_a_memory_is_its_content_on_a_branch_or_its_key(store: MemoryStore) -> None:
    put(store, record(1, "use tabs"))
    put(store, record(2, "use tabs", branch="main"))
    put(store, record(3, "use tabs", summary_key="key"))
    for memory, twin in (
        (record(9, "use tabs"), record(1, "use tabs")),
        (record(9, "use tabs", branch="main"), record(2, "use tabs", branch="main")),
        (record(9, "anything", summary_key="key"), record(3, "use tabs", summary_key="key")),
        (record(1, "use tabs"), None),
        (record(3, "use tabs", summary_key="key"), None),
        (record(9, "use tabs", branch="other"), None),
        (record(9, "use tabs", summary_key="other"), None),
    ):
        assert store.twin(memory) == twin


def test_the_place_of_a_pushed_text_is_its_content_in_a_project_and_a_source(store: MemoryStore) -> None:
    one, two = (record(number, "use tabs", project_id="p", source_uri=f"wiki/{number}") for number in (1, 2))
    other = record(3, "use tabs", project_id="q")
    for memory in (one, two, other):
        put(store, memory)
    assert store.pushed(one.content_hash, "p") == [one, two]
    assert store.twin(record(9, "use tabs")) is None
    assert store.twin(record(9, "use tabs", project_id="p", source_uri="wiki/2")) == two
    assert store.twin(record(9, "use tabs", project_id="p")) is None
    assert store.twin(one) is None
