"""Texts that are pushed into a collection: cut, kept once, replaced, and found again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_ls.config.settings import Settings
from rag_ls.errors import InvalidRequest
from rag_ls.memory.collections import MAX_TEXT, PushedText, check_name, chunks_of, push
from rag_ls.model import MemoryFilters, MemoryType, Scope
from rag_ls.storage import MemoryStore, open_memories
from rag_ls.util.text import content_hash
from tests.secret_fakes import TOKENS

_STAMP, _LATER = "2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"
_PARAGRAPHS = [f"Paragraph {number}. " + "The quick brown fox jumps over the lazy dog. " * 12 for number in range(5)]


@pytest.fixture
def store() -> Iterator[MemoryStore]:
    store = open_memories(None, Scope.GLOBAL, Settings())
    yield store
    store.close()


def _text(text: str, project: str = "default", source: str | None = None) -> PushedText:
    return PushedText(text, project, MemoryType.SEMANTIC, ("docs",), source)


def test_a_text_is_kept_in_chunks_with_what_is_said_of_it(store: MemoryStore) -> None:
    done = push(store, _text("\n\n".join(_PARAGRAPHS), "billing", "https://wiki/fox"), _STAMP)
    assert done.inserted == len(done.memory_ids) > 1
    memories = [store.by_ids([number])[number] for number in done.memory_ids]
    assert [memory.metadata.chunk_index for memory in memories] == list(range(len(memories)))
    for memory in memories:
        assert (memory.project_id, memory.source_uri, memory.metadata.tags) == (
            "billing",
            "https://wiki/fox",
            ("docs",),
        )
        assert memory.content_hash == content_hash(memory.content)
        assert memory.created_at == _STAMP


@given(st.text(max_size=3000))
def test_no_word_of_a_text_is_lost(text: str) -> None:
    assert "".join("".join(chunks_of(text)).split()) == "".join(text.split())


def test_what_is_pushed_again_is_skipped(store: MemoryStore) -> None:
    text = _text("\n\n".join(_PARAGRAPHS))
    first, again = push(store, text, _STAMP), push(store, text, _LATER)
    assert (again.inserted, again.updated, again.skipped) == (0, 0, first.inserted)
    assert again.memory_ids == first.memory_ids
    assert store.count() == first.inserted


def test_a_source_that_changed_is_replaced_where_it_changed(store: MemoryStore) -> None:
    first = push(store, _text("\n\n".join(_PARAGRAPHS), source="wiki"), _STAMP)
    changed = [_PARAGRAPHS[0], _PARAGRAPHS[1].replace("fox", "owl"), *_PARAGRAPHS[2:4]]
    second = push(store, _text("\n\n".join(changed), source="wiki"), _LATER)
    assert second.updated >= 1
    assert second.skipped >= 1
    assert {memory.id for memory in store.find()} == set(second.memory_ids)
    assert len(second.memory_ids) < len(first.memory_ids)
    contents = " ".join(memory.content for memory in store.find())
    assert "owl" in contents
    assert "Paragraph 4" not in contents


def _contents(store: MemoryStore, source: str) -> set[str]:
    return {memory.content for memory in store.find(MemoryFilters(source_uri=source))}


@given(st.lists(st.lists(st.sampled_from(_PARAGRAPHS), min_size=1, max_size=5), min_size=1, max_size=5))
def test_a_source_holds_what_was_pushed_last_and_nothing_else(texts: list[list[str]]) -> None:
    store = open_memories(None, Scope.GLOBAL, Settings())
    try:
        for paragraphs in texts:
            done = push(store, _text("\n\n".join(paragraphs), source="wiki"), _STAMP)
            assert done.inserted + done.updated + done.skipped == len(done.memory_ids)
        wanted = chunks_of("\n\n".join(texts[-1]))
        assert _contents(store, "wiki") == set(wanted)
        assert [store.by_ids([number])[number].content for number in done.memory_ids] == wanted
    finally:
        store.close()


def test_replacing_one_source_takes_nothing_from_another(store: MemoryStore) -> None:
    for source in ("one", "two"):
        push(store, _text(_PARAGRAPHS[0], source=source), _STAMP)
    push(store, _text(_PARAGRAPHS[1], source="one"), _LATER)
    assert _contents(store, "two") == set(chunks_of(_PARAGRAPHS[0]))
    assert _contents(store, "one") == set(chunks_of(_PARAGRAPHS[1]))


def test_a_text_without_a_source_is_skipped_where_any_source_has_it(store: MemoryStore) -> None:
    push(store, _text(_PARAGRAPHS[0], source="one"), _STAMP)
    assert push(store, _text(_PARAGRAPHS[0]), _LATER).inserted == 0


def test_a_source_takes_nothing_from_what_was_pushed_without_one(store: MemoryStore) -> None:
    plain = push(store, _text(_PARAGRAPHS[0]), _STAMP)
    push(store, _text(_PARAGRAPHS[0], source="wiki"), _STAMP)
    push(store, _text(_PARAGRAPHS[1], source="wiki"), _LATER)
    assert {memory.content for memory in store.find()} == {*chunks_of(_PARAGRAPHS[0]), *chunks_of(_PARAGRAPHS[1])}
    assert set(store.by_ids(plain.memory_ids)) == set(plain.memory_ids)


def test_the_same_text_stands_once_in_each_project(store: MemoryStore) -> None:
    for project in ("one", "two", "one"):
        push(store, _text(_PARAGRAPHS[0], project), _STAMP)
    for project in ("one", "two"):
        found = store.find(MemoryFilters(project_ids=(project,)))
        assert {memory.project_id for memory in found} == {project}
    assert store.count() == 2 * store.count(MemoryFilters(project_ids=("one",)))


def test_a_secret_is_refused_and_nothing_is_kept(store: MemoryStore) -> None:
    text = "\n\n".join([*_PARAGRAPHS, f"The key is {TOKENS['Anthropic API key'][0]}."])
    with pytest.raises(InvalidRequest, match="looks like a secret"):
        push(store, _text(text), _STAMP)
    assert store.count() == 0
    push(store, replace(_text(text), force=True), _STAMP)
    assert store.count() > 0


@pytest.mark.parametrize(("text", "words"), [("  \n", "blank"), ("x" * (MAX_TEXT + 1), "at most")])
def test_other_texts_are_refused_in_words(store: MemoryStore, text: str, words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        push(store, _text(text), _STAMP)


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "x" * 65, "ü", "a b", "a\0b"])
def test_a_name_that_could_be_a_path_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequest, match="cannot be a collection's name"):
        check_name(name)


def test_names_do_not_differ_by_case() -> None:
    assert check_name(" Docs.v2 ") == "docs.v2"
