"""Changing memories: nothing is lost, and whoever comes second is told."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_ls.embedding import ModelCard
from rag_ls.errors import InvalidRequest, NotFound, VersionConflict
from rag_ls.memory import ALL, Change, Memories
from rag_ls.model import Memory, MemoryMetadata, MemoryType, Scope
from rag_ls.storage import MemoryStore, read_backup
from tests.memory.support import Clock, memories_in, new
from tests.support import MODEL


def _content(text: str) -> Change:
    return lambda memory: replace(memory, content=text)


def _tags(*tags: str) -> Change:
    return lambda memory: replace(memory, metadata=replace(memory.metadata, tags=tags))


def _versions(memories: Memories, memory_id: str) -> list[tuple[int, str, str]]:
    return [(item.memory.version, item.memory.content, item.reason) for item in memories.history(memory_id)]


class TestUpdate:
    def test_new_content_is_a_new_version_and_the_former_one_is_kept(self, memories: Memories) -> None:
        first = memories.store(new("Tokens live an hour", Scope.PROJECT, "auth"), None).memory
        stored = memories.update(first.id, _content("  Tokens live a day\n"), None)
        assert (stored.status, stored.memory.version, stored.memory.content) == ("updated", 2, "Tokens live a day")
        assert stored.memory.metadata.tags == ("auth",)
        assert stored.memory.created_at == first.created_at < stored.memory.updated_at
        assert stored.memory.content_hash != first.content_hash
        assert memories.get(first.id) == stored.memory
        assert _versions(memories, first.id) == [(1, "Tokens live an hour", "updated")]

    def test_new_metadata_and_type_are_a_new_version(self, memories: Memories) -> None:
        first = memories.store(new("Tokens live an hour"), None).memory
        metadata = MemoryMetadata(("auth",), "src/a.py", "python", 1, "parent", "class", 0.9, {"why": ["x"]})
        change = lambda memory: replace(memory, metadata=metadata, memory_type=MemoryType.EPISODIC)  # noqa: E731
        stored = memories.update(first.id, change, None)
        assert (stored.status, stored.memory.version) == ("updated", 2)
        found = memories.get(first.id)
        assert (found.metadata, found.memory_type, found.content) == (metadata, MemoryType.EPISODIC, first.content)

    def test_the_same_again_is_unchanged(self, memories: Memories) -> None:
        first = memories.store(new("Tokens live an hour", Scope.PROJECT, "auth"), None).memory
        for change in (_content(" Tokens live an hour "), _tags("auth"), lambda memory: memory):
            stored = memories.update(first.id, change, None)
            assert (stored.status, stored.memory) == ("unchanged", first)
        assert memories.history(first.id) == []

    def test_the_expected_version_is_updated(self, memories: Memories) -> None:
        first = memories.store(new("Tokens live an hour"), None).memory
        assert memories.update(first.id, _tags("a"), None, expected=1).memory.version == 2
        assert memories.update(first.id, _tags("b"), None, expected=2).memory.version == 3

    def test_a_stale_version_is_refused_and_the_error_says_what_to_do(self, memories: Memories) -> None:
        first = memories.store(new("Tokens live an hour"), None).memory
        memories.update(first.id, _content("Tokens live a day"), None)
        with pytest.raises(VersionConflict, match=r"at version 2, .* expected_version = 2"):
            memories.update(first.id, _content("Tokens live a week"), None, expected=1)
        with pytest.raises(VersionConflict):
            memories.update(first.id, _content("Tokens live a week"), None, expected=3)
        assert memories.get(first.id).content == "Tokens live a day"

    def test_a_memory_that_somebody_deletes_meanwhile_is_named(self, tmp_path: Path) -> None:
        other = MemoryStore(tmp_path / "project.db", Scope.PROJECT)
        view: list[MemoryStore] = []

        def open_project() -> MemoryStore:
            # Found when it is looked for, gone when it is written to.
            view.append(other)
            if len(view) == 3:
                other.delete(other.find()[0].id)
            return other

        others = {scope: MemoryStore(None, scope) for scope in (Scope.SESSION, Scope.GLOBAL)}
        openers = {Scope.SESSION: lambda: others[Scope.SESSION], Scope.GLOBAL: lambda: others[Scope.GLOBAL]}
        memories = Memories({**openers, Scope.PROJECT: open_project}, Clock())
        first = memories.store(new("Tokens live an hour"), None).memory
        with pytest.raises(NotFound, match=f"{first.id} was deleted by another client"):
            memories.update(first.id, _content("Tokens live a day"), None)
        assert other.find() == []

    def test_content_that_another_memory_has_is_refused(self, memories: Memories) -> None:
        first = memories.store(new("Tokens live an hour"), None).memory
        second = memories.store(new("Tokens live a day"), None).memory
        with pytest.raises(InvalidRequest, match=f"{first.id} has this very content"):
            memories.update(second.id, _content("Tokens live an hour"), None)
        assert memories.get(second.id) == second

    def test_content_that_a_memory_of_another_scope_has_is_taken(self, memories: Memories) -> None:
        memories.store(new("Tokens live an hour", Scope.GLOBAL), None)
        second = memories.store(new("Tokens live a day"), None).memory
        assert memories.update(second.id, _content("Tokens live an hour"), None).status == "updated"

    @pytest.mark.parametrize("content", ["", " \n ", "ok", "Done!", "x" * 100_001])
    def test_what_is_not_stored_is_no_update_either(self, memories: Memories, content: str) -> None:
        first = memories.store(new("Tokens live an hour"), None).memory
        with pytest.raises(InvalidRequest):
            memories.update(first.id, _content(content), None)
        assert memories.get(first.id) == first

    def test_a_secret_is_refused_in_content_and_in_tags_unless_forced(self, memories: Memories) -> None:
        secret = "ghp_" + "a1B2" * 9
        first = memories.store(new("Tokens live an hour"), None).memory
        for change in (_content(f"Use {secret}"), _tags(secret)):
            with pytest.raises(InvalidRequest, match="looks like a secret") as caught:
                memories.update(first.id, change, None)
            assert secret not in str(caught.value)
        assert memories.update(first.id, _content(f"Use {secret}"), None, force=True).status == "updated"

    @pytest.mark.parametrize("content", ["ok", "The sandbox key is " + "ghp_" + "a1B2" * 9])
    def test_what_was_kept_by_force_can_be_tagged_without(self, memories: Memories, content: str) -> None:
        first = memories.store(replace(new(content), force=True), None).memory
        assert memories.update(first.id, _tags("seen"), None).status == "updated"
        with pytest.raises(InvalidRequest):
            memories.update(first.id, _content(f"{content}!"), None)

    def test_an_updated_memory_is_found_by_its_new_words_alone(self, memories: Memories) -> None:
        first = memories.store(new("Lions roar at night"), None).memory
        memories.update(first.id, _content("Tigers swim in rivers"), None)
        store = memories.of(Scope.PROJECT)
        assert (store.words.lexical(["lions"], 5), list(store.words.lexical(["tigers"], 5))) == ({}, [first.id])


class TestTwoAtOnce:
    """Two agents update one memory: none is lost, the second is told."""

    def test_of_two_writers_with_the_same_version_one_is_told(self, tmp_path: Path) -> None:
        several = [memories_in(tmp_path) for _ in range(2)]
        first = several[0].store(new("turn none by nobody"), None).memory
        barrier = threading.Barrier(2, timeout=10)
        told: list[str] = []

        def update(number: int) -> None:
            for turn in range(15):
                barrier.wait()
                version = several[number].get(first.id).version
                barrier.wait()
                text = f"turn {turn} by writer {number}"
                try:
                    several[number].update(first.id, _content(text), None, expected=version)
                except VersionConflict:
                    told.append(text)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(update, range(2)))
        kept = [content for _, content, _ in _versions(several[0], first.id)]
        written = {*kept, several[1].get(first.id).content} - {"turn none by nobody"}
        assert (len(told), len(written)) == (15, 15)
        assert written.isdisjoint(told)

    def test_updates_without_a_version_follow_one_another_and_all_are_in_the_history(self, tmp_path: Path) -> None:
        several = [memories_in(tmp_path) for _ in range(2)]
        first = several[0].store(new("nobody was here"), None).memory

        def update(number: int) -> None:
            for turn in range(15):
                several[number % 2].update(first.id, _content(f"turn {turn} by writer {number}"), None)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(update, range(4)))
        versions = _versions(several[0], first.id)
        assert [version for version, _, _ in versions] == list(range(60, 0, -1))
        assert several[1].get(first.id).version == 61
        assert len({content for _, content, _ in versions} | {several[1].get(first.id).content}) == 61

    def test_a_change_is_made_of_what_is_there_not_of_what_was_read(self, tmp_path: Path) -> None:
        several = [memories_in(tmp_path) for _ in range(3)]
        first = several[0].store(new("Tokens live an hour"), None).memory

        def tag(number: int) -> None:
            for turn in range(10):
                name = f"{number}-{turn}"
                several[number].update(
                    first.id, lambda memory, name=name: _tags(*memory.metadata.tags, name)(memory), None
                )

        with ThreadPoolExecutor(3) as pool:
            list(pool.map(tag, range(3)))
        tags = several[0].get(first.id).metadata.tags
        assert set(tags) == {f"{number}-{turn}" for number in range(3) for turn in range(10)}


class TestRestore:
    def test_a_former_version_comes_back_as_the_newest(self, memories: Memories) -> None:
        first = memories.store(new("rule one", Scope.PROJECT, "a"), None).memory
        memories.update(first.id, _content("rule two"), None)
        memories.update(first.id, _content("rule three"), None)
        stored = memories.restore(first.id, 1, None)
        assert (stored.status, stored.memory.version, stored.memory.content) == ("restored", 4, "rule one")
        assert memories.get(first.id) == stored.memory
        assert [version for version, _, _ in _versions(memories, first.id)] == [3, 2, 1]
        assert memories.history(first.id)[0].reason == "restored"

    def test_without_a_version_it_is_the_last_one(self, memories: Memories) -> None:
        first = memories.store(new("rule one"), None).memory
        memories.update(first.id, _content("rule two"), None)
        assert memories.restore(first.id[:8], None, None).memory.content == "rule one"
        # Once more is the way back.
        assert memories.restore(first.id, None, None).memory.content == "rule two"
        assert memories.get(first.id).version == 4

    def test_a_deleted_memory_comes_back_under_its_id(self, memories: Memories) -> None:
        first = memories.store(new("rule one", Scope.GLOBAL, "a"), None).memory
        memories.update(first.id, _content("rule two"), None)
        memories.delete(first.id)
        stored = memories.restore(first.id[:8], None, None).memory
        assert (stored.id, stored.version, stored.content, stored.scope) == (first.id, 3, "rule two", Scope.GLOBAL)
        assert stored.metadata.tags == ("a",)
        assert list(memories.of(Scope.GLOBAL).words.lexical(["two"], 5)) == [first.id]

    def test_an_earlier_version_of_a_deleted_memory_comes_back(self, memories: Memories) -> None:
        first = memories.store(new("rule one"), None).memory
        memories.update(first.id, _content("rule two"), None)
        memories.delete(first.id)
        assert memories.restore(first.id, 1, None).memory.content == "rule one"

    def test_versions_grow_whatever_is_done(self, memories: Memories) -> None:
        first = memories.store(new("rule one"), None).memory
        seen = [first.version]
        for turn in range(4):
            seen.append(memories.update(first.id, _content(f"turn number {turn}"), None).memory.version)
            memories.delete(first.id)
            seen.append(memories.restore(first.id, None, None).memory.version)
            seen.append(memories.restore(first.id, 1, None).memory.version)
        assert seen == list(range(1, len(seen) + 1))
        assert [version for version, _, _ in _versions(memories, first.id)] == seen[-2::-1]

    def test_a_version_that_never_was_is_named_with_those_that_were(self, memories: Memories) -> None:
        first = memories.store(new("rule one"), None).memory
        with pytest.raises(NotFound, match=r"no former version of .*; there are none"):
            memories.restore(first.id, None, None)
        memories.update(first.id, _content("rule two"), None)
        with pytest.raises(NotFound, match=r"no former version 7 of .*; there are 1"):
            memories.restore(first.id, 7, None)
        with pytest.raises(NotFound, match="has or had the id 'nothing-of-this-name'"):
            memories.restore("nothing-of-this-name", None, None)

    def test_nothing_is_restored_beside_a_memory_that_says_the_same(self, memories: Memories) -> None:
        first = memories.store(new("rule one"), None).memory
        memories.delete(first.id)
        twin = memories.store(new("rule one"), None).memory
        with pytest.raises(InvalidRequest, match=f"{twin.id} says the same already"):
            memories.restore(first.id, None, None)
        memories.delete(twin.id)
        assert memories.restore(first.id, None, None).memory.version == 2

    def test_a_summary_is_not_restored_beside_the_one_that_took_its_place(self, memories: Memories) -> None:
        first = memories.store(replace(new("shipped the parser"), summary_key="week"), None).memory
        memories.delete(first.id)
        later = memories.store(replace(new("shipped the printer"), summary_key="week"), None).memory
        with pytest.raises(InvalidRequest, match=later.id):
            memories.restore(first.id, None, None)

    def test_a_summary_is_restored_beside_a_memory_of_the_same_words(self, memories: Memories) -> None:
        first = memories.store(replace(new("shipped the parser"), summary_key="week"), None).memory
        memories.delete(first.id)
        memories.store(new("shipped the parser"), None)
        assert memories.restore(first.id, None, None).status == "restored"

    def test_a_session_memory_comes_back_as_long_as_its_session_lives(self, memories: Memories) -> None:
        first = memories.store(new("rule one", Scope.SESSION), None).memory
        memories.delete(first.id)
        assert memories.restore(first.id, None, None).memory.scope is Scope.SESSION
        memories.of(Scope.SESSION).clear()
        with pytest.raises(NotFound):
            memories.history(first.id)


class _Broken:
    """A model that gives vectors nobody can use."""

    card = ModelCard(MODEL, "test", 256, 8)

    def __init__(self, value: float) -> None:
        self._value = value

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.full((len(texts), 8), self._value, np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self.embed_documents([text])[0]

    def close(self) -> None: ...


@pytest.mark.parametrize("value", [0.0, float("nan"), float("inf")])
def test_a_model_that_fails_costs_no_memory(memories: Memories, value: float) -> None:
    stored = memories.store(new("Tokens live an hour"), _Broken(value))
    assert (stored.status, stored.known) == ("inserted", ())
    assert memories.update(stored.memory.id, _content("Tokens live a day"), _Broken(value)).status == "updated"
    assert memories.of(Scope.PROJECT).vectors.missing_count(MODEL) == 1


def test_half_a_surrogate_pair_in_a_tag_is_stored_as_a_question_mark(memories: Memories) -> None:
    stored: Memory = memories.store(new("Tokens live an hour", Scope.PROJECT, "cut \ud83d"), None).memory
    assert memories.get(stored.id).metadata.tags == ("cut ?",)
    assert memories.list_page(replace(ALL, tags=("cut ?",)))[0] == [stored]


@pytest.mark.parametrize("change", ["update", "delete"])
def test_the_newest_backup_holds_what_was_there_before_a_mistake(
    memories: Memories, tmp_path: Path, change: str
) -> None:
    kept = memories.store(new("Access tokens expire after an hour"), None).memory
    (first,) = (tmp_path / "backups").glob("memories-*.db")
    first.rename(first.with_name("memories-2020-01-01T000000.db"))
    if change == "update":
        memories.update(kept.id, _content("A mistake was made here"), None)
    else:
        memories.delete(kept.id)
    store = memories.of(Scope.PROJECT)
    newest = read_backup(store, "latest")
    assert "2020" not in newest.place
    assert [item.content for item in newest.memories] == ["Access tokens expire after an hour"]
