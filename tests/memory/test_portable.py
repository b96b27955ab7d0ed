"""Memories out to files and in again: nothing is lost on the way, and nothing half-written."""

from __future__ import annotations

import io
import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.memory.new_memories import MAX_CONTENT, MAX_TAGS
from rag_ls.memory.portable import (
    Format,
    ImportResult,
    detect_format,
    export_memories,
    import_memories,
    import_records,
)
from rag_ls.memory.portable.formats import split_text
from rag_ls.model import Anchor, Memory, MemoryFilters, MemoryMetadata, MemoryType, Scope
from rag_ls.storage import MemoryStore
from rag_ls.util.text import content_hash
from tests.support import MODEL, scale_examples, unit_vectors

NOW = "2026-02-01T00:00:00.000Z"
LATER = "2026-03-01T00:00:00.000Z"
FORMATS = list(Format)

_text = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
_line = st.sampled_from(
    ["---", "", " ", "id: x", "content_lines: 1", "\r", "a\r\nb", "# h", "```", "\u2028", "\x00", "ü😀"]
)
_content = (_text | st.lists(_line | _text, max_size=6).map("\n".join)).filter(str.strip)
_name = st.none() | st.text(max_size=5)
_plain = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
)
_custom = st.dictionaries(st.text(max_size=5), _plain | st.lists(_plain, max_size=2), max_size=3)
_stamp = st.datetimes().map(lambda time: time.isoformat(timespec="milliseconds") + "Z")


@st.composite
def _memories(draw: st.DrawFn) -> list[Memory]:
    contents = draw(st.lists(_content, max_size=3, unique=True))
    return [draw(_memory_with(content, f"id-{number}")) for number, content in enumerate(contents)]


@st.composite
def _memory_with(draw: st.DrawFn, content: str, number: str) -> Memory:
    tags = tuple(draw(st.lists(_text.filter(bool), unique=True, max_size=3)))
    metadata = MemoryMetadata(
        tags, draw(_name), draw(_name), draw(st.none() | st.integers(0, 9)), draw(_name), draw(_name),
        draw(st.sampled_from([0, 1]) | st.floats(0, 1)), json.loads(json.dumps(draw(_custom))),
    )  # fmt: skip
    anchor = Anchor(draw(_text.filter(bool)), draw(_text), draw(_text), draw(st.integers(0, 9)))
    return Memory(
        number, content, Scope.PROJECT, metadata, draw(st.sampled_from(MemoryType)), draw(_stamp), draw(_stamp),
        draw(st.integers(1, 9)), content_hash(content), draw(st.none() | _text), tuple(draw(st.lists(_text, max_size=2))),
        draw(st.none() | st.just(anchor)), draw(st.none() | _text.filter(bool)),
        draw(st.sampled_from([None, f"about {number}"])),
    )  # fmt: skip


def _memory(content: str, number: str = "first", **changes: object) -> Memory:
    memory = Memory(
        number, content, Scope.PROJECT, MemoryMetadata(), MemoryType.SEMANTIC, "2026-01-01T00:00:00.000Z",
        "2026-01-01T00:00:00.000Z", 1, content_hash(content),
    )  # fmt: skip
    return replace(memory, **changes)  # type: ignore[arg-type]


def _store(*memories: Memory, scope: Scope = Scope.PROJECT) -> MemoryStore:
    store = MemoryStore(None, scope)
    for memory in memories:
        store.insert(memory)
    return store


def _exported(store: MemoryStore, format: str = "json", *, embeddings: bool = False) -> str:
    target = io.StringIO()
    export_memories(store, target, format, embeddings=embeddings)
    return target.getvalue()


def _import(
    store: MemoryStore, text: str, format: str = "json", *, force: bool = False, now: str = NOW
) -> ImportResult:
    return import_memories(store, io.StringIO(text), format, force=force, now=now)


def _refusal(text: str, format: str = "json", *, force: bool = False) -> str:
    store = _store()
    with pytest.raises(InvalidRequest) as caught:
        _import(store, text, format, force=force)
    assert store.count() == 0
    return str(caught.value)


def _record(**fields: object) -> dict[str, object]:
    return {"content": "tokens expire after an hour", **fields}


class TestRoundTrip:
    """What was exported comes back as it was."""

    @pytest.mark.slow
    @pytest.mark.parametrize("format", FORMATS)
    @given(memories=_memories(), data=st.data())
    @example(memories=[_memory("---\nid: x\n---\r\n"), _memory("a\n\n", "second")], data=None)
    @settings(max_examples=scale_examples(40))
    def test_an_export_imported_and_exported_again_is_the_same_text(
        self, format: Format, memories: list[Memory], data: st.DataObject | None
    ) -> None:
        embeddings = format is not Format.MARKDOWN
        store = _store(*memories)
        for number, memory in enumerate(memories):
            parts = unit_vectors(number + 1, seed=number)
            store.vectors.add(memory.id, MODEL, memory.content_hash, parts)
        text = _exported(store, format, embeddings=embeddings)
        again = _store()
        assert _import(again, text, format, force=True) == ImportResult(len(memories), 0, 0, 0)
        assert _exported(again, format, embeddings=embeddings) == text
        assert {memory.id: memory for memory in again.all()} == {memory.id: memory for memory in memories}
        assert _import(again, text, format, force=True, now=LATER) == ImportResult(0, 0, len(memories), 0)
        assert _exported(again, format, embeddings=embeddings) == text

    @pytest.mark.parametrize("format", FORMATS)
    @pytest.mark.parametrize("newline", [None, "", "\n", "\r\n"])
    def test_a_file_survives_any_way_of_opening_it(self, tmp_path: Path, format: Format, newline: str | None) -> None:
        memories = [_memory("one\r\ntwo\rthree"), _memory("one\n\ntwo\n", "second")]
        file = tmp_path / "memories"
        with file.open("w", encoding="utf-8", newline=newline) as target:
            assert export_memories(_store(*memories), target, format) == 2
        for view in (None, ""):
            store = _store()
            with file.open(encoding="utf-8", newline=view) as source:
                import_memories(store, source, format, now=NOW)
            assert {memory.content for memory in store.all()} == {memory.content for memory in memories}

    @pytest.mark.parametrize("format", FORMATS)
    def test_file_names_that_are_no_unicode_come_back(self, tmp_path: Path, format: Format) -> None:
        memory = _memory("text", metadata=MemoryMetadata(source_file="\udcff.py"), anchor=Anchor("\udcff.py"))
        file = tmp_path / "memories"
        with file.open("w", encoding="utf-8") as target:
            export_memories(_store(memory), target, format)
        store = _store()
        with file.open(encoding="utf-8") as source:
            import_memories(store, source, format, now=NOW)
        assert store.all() == [memory]

    def test_memories_come_in_the_order_of_their_making(self) -> None:
        newest = _memory("newest", "a", created_at=LATER)
        store = _store(newest, _memory("second", "c"), _memory("first", "b"))
        records = json.loads(_exported(store))["memories"]
        assert [record["content"] for record in records] == ["first", "second", "newest"]

    def test_filters_leave_memories_out(self) -> None:
        store = _store(_memory("in", metadata=MemoryMetadata(("api",))), _memory("out", "second"))
        target = io.StringIO()
        assert export_memories(store, target, "jsonl", filters=MemoryFilters(tags=("api",))) == 1
        header, record = map(json.loads, target.getvalue().splitlines())
        assert header == {"format": "rag-ls-memories", "version": 1, "scope": "project"}
        assert record["content"] == "in"

    def test_vectors_of_a_former_content_are_not_exported(self) -> None:
        store = _store(memory := _memory("before"))
        store.vectors.add(memory.id, MODEL, memory.content_hash, unit_vectors(1))
        store.replace(_memory("after", version=2))
        assert json.loads(_exported(store, embeddings=True))["memories"][0]["embeddings"] == {}

    def test_markdown_holds_no_embeddings(self) -> None:
        with pytest.raises(InvalidRequest, match="json or jsonl"):
            _exported(_store(), "markdown", embeddings=True)

    def test_an_unknown_format_is_refused_with_those_that_there_are(self) -> None:
        with pytest.raises(InvalidRequest, match="json, jsonl, markdown"):
            _exported(_store(), "xml")
        assert "json, jsonl, markdown" in _refusal("", "xml")

    @pytest.mark.slow
    def test_thousands_of_memories_come_through(self) -> None:
        store = _store()
        with store.transaction():
            for number in range(3_000):
                store.insert(_memory(f"memory number {number}", f"id-{number:06}"))
        text = _exported(store, "jsonl", embeddings=True)
        assert _import(_store(), text, "jsonl").inserted == 3_000


class TestMeetingWhatIsThere:
    """Records that a store has already, the same, newer or older."""

    def test_a_second_import_changes_nothing(self) -> None:
        store = _store()
        text = json.dumps([_record(tags=["auth"]), _record(content="use tabs", id="x"), _record(content="use tabs")])
        assert _import(store, text) == ImportResult(2, 0, 0, 1)
        before = _exported(store)
        assert _import(store, text, now=LATER) == ImportResult(0, 0, 2, 1)
        assert _exported(store) == before

    def test_a_newer_record_replaces_and_the_former_stays_in_the_history(self) -> None:
        store = _store(_memory("old"))
        assert _import(store, _exported(_store(_memory("new", version=4)))).updated == 1
        assert store.get("first") == _memory("new", version=4)
        assert [item.memory.content for item in store.history("first")] == ["old"]

    def test_a_record_of_the_same_version_but_changed_later_gets_the_next_version(self) -> None:
        store = _store(_memory("old", version=3))
        text = _exported(_store(_memory("new", version=3, updated_at=NOW)))
        assert _import(store, text).updated == 1
        assert store.get("first") == _memory("new", version=4, updated_at=NOW)
        assert _import(store, text).unchanged == 1

    def test_a_record_that_was_only_stored_again_makes_no_version(self) -> None:
        store = _store(_memory("same"))
        assert _import(store, _exported(_store(_memory("same", updated_at=NOW)))).updated == 1
        assert store.get("first") == _memory("same", updated_at=NOW)
        assert store.history("first") == []

    def test_an_older_record_changes_nothing(self) -> None:
        store = _store(present := _memory("new", version=3))
        assert _import(store, _exported(_store(_memory("old", version=2, updated_at=LATER)))).unchanged == 1
        assert store.all() == [present]

    def test_an_edited_record_without_times_counts_as_of_now(self) -> None:
        store = _store(_memory("old"))
        text = json.dumps([{"id": "first", "content": "new"}])
        assert _import(store, text).updated == 1
        assert store.get("first") == _memory("new", version=2, updated_at=NOW)
        assert _import(store, text, now=LATER).unchanged == 1

    def test_the_same_content_under_another_id_merges_tags(self) -> None:
        store = _store(_memory("same", metadata=MemoryMetadata(("a",))))
        text = _exported(_store(_memory("same", "other", metadata=MemoryMetadata(("b", "a")))))
        assert _import(store, text) == ImportResult(0, 0, 0, 1)
        assert store.all() == [_memory("same", metadata=MemoryMetadata(("a", "b")), version=2, updated_at=NOW)]
        assert _import(store, text, now=LATER) == ImportResult(0, 0, 0, 1)
        assert store.get("first").version == 2

    def test_merged_tags_stay_within_the_limit(self) -> None:
        store = _store(_memory("same", metadata=MemoryMetadata(tuple(f"a{n}" for n in range(MAX_TAGS - 1)))))
        _import(store, _exported(_store(_memory("same", "other", metadata=MemoryMetadata(("x", "y", "z"))))))
        assert len(store.get("first").metadata.tags) == MAX_TAGS

    def test_the_same_content_on_another_branch_is_another_memory(self) -> None:
        store = _store(_memory("same"))
        assert _import(store, _exported(_store(_memory("same", "other", branch="next")))).inserted == 1

    def test_a_content_that_moves_from_one_memory_to_another_arrives(self) -> None:
        store = _store(_memory("one", "a"), _memory("two", "b"))
        newer = [_memory("two", "a", version=2), _memory("three", "b", version=2)]
        assert _import(store, _exported(_store(*newer))).updated == 2
        assert {memory.id: memory.content for memory in store.all()} == {"a": "two", "b": "three"}

    def test_contents_that_move_along_a_long_row_of_memories_arrive(self) -> None:
        store = _store(*(_memory(f"content {number}", f"id-{number:02}") for number in range(50)))
        newer = [_memory(f"content {number + 1}", f"id-{number:02}", version=2) for number in range(50)]
        assert _import(store, _exported(_store(*newer))).updated == 50
        assert sorted(store.all(), key=lambda memory: memory.id) == newer

    def test_contents_that_change_places_leave_both_memories(self) -> None:
        store = _store(_memory("one", "a"), _memory("two", "b"))
        text = json.dumps([_record(id="a", content="two", version=2), _record(id="b", content="one", version=2)])
        assert _import(store, text) == ImportResult(0, 0, 0, 2)
        assert {memory.id: memory.content for memory in store.all()} == {"a": "one", "b": "two"}

    def test_what_was_made_of_a_memory_without_id_here_stays(self) -> None:
        store, text = _store(), json.dumps([_record()])
        _import(store, text)
        (memory,) = store.all()
        store.replace(edited := replace(memory, content="changed", content_hash=content_hash("changed"), version=2))
        assert _import(store, text, now=LATER).unchanged == 1
        assert store.all() == [edited]

    def test_a_memory_that_was_deleted_comes_back_as_a_new_version(self) -> None:
        store = _store(memory := _memory("text", version=2))
        store.delete(memory.id)
        text = _exported(_store(memory))
        assert _import(store, text).inserted == 1
        assert store.get("first").version == 3
        assert len(store.history("first")) == 1
        assert _import(store, text).unchanged == 1

    def test_a_newer_summary_takes_the_place_of_the_one_with_its_key(self) -> None:
        store = _store(_memory("old summary", summary_key="auth"))
        text = _exported(_store(_memory("new summary", "other", summary_key="auth", updated_at=NOW)))
        assert _import(store, text, now=LATER).updated == 1
        assert [(memory.id, memory.content) for memory in store.all()] == [("first", "new summary")]
        assert _import(store, text, now=LATER) == ImportResult(0, 0, 0, 1)

    def test_vectors_are_added_where_there_are_none(self) -> None:
        source = _store(memory := _memory("text"))
        source.vectors.add(memory.id, MODEL, memory.content_hash, unit_vectors(2))
        store = _store(memory)
        assert _import(store, _exported(source, embeddings=True)).unchanged == 1
        assert np.array_equal(store.vectors.of("first", MODEL), source.vectors.of("first", MODEL))
        changes = store.changes()
        _import(store, _exported(source, embeddings=True))
        assert (len(store.vectors.of("first", MODEL)), store.changes()) == (2, changes)

    def test_the_scope_is_that_of_the_store(self) -> None:
        store = _store(scope=Scope.GLOBAL)
        _import(store, _exported(_store(_memory("text"))))
        assert store.all() == [_memory("text", scope=Scope.GLOBAL)]

    def test_records_need_nothing_but_content(self) -> None:
        store = _store()
        _import(store, json.dumps([_record(content="  use tabs\n"), _record(content="done")]))
        memory = next(memory for memory in store.all() if memory.content == "use tabs")
        assert (memory.created_at, memory.updated_at, memory.version) == (NOW, NOW, 1)
        assert memory.metadata == MemoryMetadata()
        assert store.count() == 2

    def test_other_time_zones_become_utc(self) -> None:
        store = _store()
        _import(store, json.dumps([_record(created_at="2026-01-01T02:00:00+02:00")]))
        assert store.all()[0].created_at == "2026-01-01T00:00:00.000Z"

    def test_a_failure_in_the_middle_leaves_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        store, insert = _store(), MemoryStore.insert

        def fail_on_second(self: MemoryStore, memory: Memory) -> None:
            if self.count():
                raise OSError("disk full")
            insert(self, memory)

        monkeypatch.setattr(MemoryStore, "insert", fail_on_second)
        with pytest.raises(OSError, match="disk full"):
            import_records(store, [_record(), _record(content="use tabs")], now=NOW)
        assert store.count() == 0


class TestRefusals:
    """Everything is checked before anything is written, and the message says what to mend."""

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"content": None}, "record 1: has no content"),
            ({"content": "  \n"}, "record 1: content is empty"),
            ({"content": 5}, "content is 5; give a string"),
            ({"content": "x" * (MAX_CONTENT + 1)}, "at most 100,000"),
            ({"content": "half \ud83d"}, "content holds half of a character"),
            ({"memory_type": "fact"}, "memory_type is 'fact'; give one of semantic, episodic, procedural"),
            ({"created_at": "yesterday"}, "created_at is 'yesterday'; give a time with its zone"),
            ({"updated_at": "2026-01-01T00:00:00"}, "give a time with its zone"),
            ({"updated_at": "0001-01-01T00:00:00+10:00"}, "give a time with its zone"),
            ({"importance_score": 1.5}, "importance_score is 1.5; give a number from 0 to 1"),
            ({"importance_score": True}, "give a number from 0 to 1"),
            ({"metadata": {"importance_score": -1}}, "metadata.importance_score is -1"),
            ({"metadata": [1]}, "metadata is a list; give an object"),
            ({"tags": "auth"}, "tags is 'auth'; give a list of strings"),
            ({"tags": ["auth", 3]}, "tags[1] is 3; give a string"),
            ({"tags": ["x" * 200]}, "give at most 100"),
            ({"custom": {"a": {"b": {"c": {"d": {"e": {}}}}}}}, "make it flatter"),
            ({"custom": [1]}, "custom is a list; give an object"),
            ({"version": 0}, "version is 0; give a whole number from 1"),
            ({"version": 2**70}, "version is a number out of range"),
            ({"id": "two words"}, "leave it out to get one"),
            ({"id": ""}, "leave it out to get one"),
            ({"content_hash": "0" * 64}, "is not that of the content; leave it out"),
            ({"anchor": {"symbol": "run"}}, "anchor has no path"),
            ({"anchor": {"path": "a.py", "line": 3}}, "anchor.'line' is no field of a memory"),
            ({"importance": 1}, "'importance' is no field of a memory; put it under custom"),
            ({"embeddings": {MODEL: ["AAA"]}}, "do not decode"),
            ({"embeddings": {MODEL: ["AAAA", "AAAAAA=="]}}, "do not decode"),
            ({"embeddings": {MODEL: ["ADwAAA==", "ADwAAAAA"]}}, "different dimensions"),
            ({"embeddings": {MODEL: ["AHw="]}}, "not finite"),
            ({"embeddings": {MODEL: ["AH4="]}}, "not finite"),
            ({"embeddings": {MODEL: ["AAA="]}}, "not of length one"),
            ({"embeddings": {MODEL: "ADw="}}, "not a list"),
            ({"embeddings": [1]}, "not an object of lists by model"),
        ],
    )
    def test_a_record_that_is_wrong_is_named_with_the_remedy(self, fields: dict[str, object], message: str) -> None:
        assert message in _refusal(json.dumps([_record(**fields)]))

    def test_all_problems_are_told_at_once(self) -> None:
        message = _refusal(json.dumps([_record(), _record(version="1", id="a b"), 7]))
        assert "record 1" not in message
        assert "record 2: id 'a b'" in message
        assert "record 2: version is '1'" in message
        assert "record 3: is no object" in message

    def test_of_many_problems_ten_are_shown_and_the_rest_counted(self) -> None:
        message = _refusal(json.dumps([_record(version=0) for _ in range(25)]))
        assert message.count("version is 0") == 10
        assert message.endswith("and 15 more")

    def test_a_secret_is_refused_by_its_place_and_let_in_by_force(self) -> None:
        secret = "AKIA" + "QYLPMN5HHHFPZAM2"
        text = json.dumps([_record(), _record(content=f"the key\nis {secret}")])
        message = _refusal(text)
        assert "record 2: line 2 looks like a secret (AWS access key)" in message
        assert secret not in message
        assert _import(_store(), text, force=True).inserted == 2

    def test_two_records_with_one_id_are_refused(self) -> None:
        message = _refusal("\n".join(json.dumps(_record(id="x", content=text)) for text in ("one", "two")), "jsonl")
        assert "record 2 (line 2): id 'x' is that of record 1 (line 1) too" in message

    def test_two_summaries_of_one_thing_are_refused(self) -> None:
        assert "summary_key 'k'" in _refusal(
            json.dumps([_record(summary_key="k"), _record(content="b", summary_key="k")])
        )

    def test_vectors_of_other_dimensions_than_the_store_s_are_refused(self) -> None:
        store = _store(memory := _memory("text"))
        store.vectors.add(memory.id, MODEL, memory.content_hash, unit_vectors(1))
        with pytest.raises(InvalidRequest, match="have 1 dimensions, but those of other memories have 16"):
            import_records(store, [_record(embeddings={MODEL: ["ADw="]})], now=NOW)

    def test_records_are_named_with_their_source(self) -> None:
        with pytest.raises(InvalidRequest, match=r"record 1 \(of file:///CLAUDE.md\): version"):
            import_records(_store(), [_record(source_uri="file:///CLAUDE.md", version=0)], now=NOW)


class TestHostileFiles:
    """Garbage, cut-off and malicious files end in a message, never in a crash or half an import."""

    @pytest.mark.parametrize("format", FORMATS)
    @pytest.mark.parametrize("text", ["garbage", "\x00\x01", "{", "[1,", '"', "7", '{"a": 1}', "---\n", "---\n---\n"])
    def test_garbage_is_refused(self, format: Format, text: str) -> None:
        assert _refusal(text, format)

    @given(text=st.text(max_size=40) | st.lists(_line, max_size=8).map("\n".join), format=st.sampled_from(FORMATS))
    @settings(max_examples=scale_examples(60))
    def test_no_text_crashes_the_import(self, text: str, format: Format) -> None:
        store = _store()
        inserted = 0
        with suppress(InvalidRequest):
            inserted = _import(store, text, format).inserted
        assert store.count() == inserted

    @pytest.mark.slow
    @pytest.mark.parametrize("format", FORMATS)
    def test_a_file_that_is_cut_off_anywhere_is_refused_or_ends_at_a_memory(self, format: Format) -> None:
        text = _exported(_store(_memory("one\n---\ntwo"), _memory("two", "second")), format)
        for end in range(0, len(text) - 1, 13):
            store = _store()
            try:
                _import(store, text[:end], format)
            except InvalidRequest:
                assert store.count() == 0
            else:
                assert {memory.content for memory in store.all()} <= {"one\n---\ntwo", "two"}

    @pytest.mark.parametrize("depth", [100, 900, 5_000, 100_000])
    @pytest.mark.parametrize("format", ["json", "jsonl"])
    def test_deep_nesting_is_refused(self, format: str, depth: int) -> None:
        custom = "[" * depth + "]" * depth
        record = f'{{"content": "text", "custom": {{"a": {custom}}}}}'
        assert "nested" in _refusal(record if format == "jsonl" else f"[{record}]", format)
        assert "give a string" in _refusal(f"---\nid: {custom}\n---\ntext", "markdown")

    @pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "9" * 5000])
    def test_numbers_that_are_none_are_refused(self, number: str) -> None:
        assert _refusal(f'[{{"content": "text", "importance_score": {number}}}]')
        assert _refusal(f'[{{"content": "text", "custom": {{"a": {number}}}, "version": 0}}]')

    def test_bytes_that_are_no_text_are_refused(self) -> None:
        for format in FORMATS:
            source = io.TextIOWrapper(io.BytesIO(b"\xff\xfe\x00binary"), encoding="utf-8")
            with pytest.raises(InvalidRequest, match="no UTF-8"):
                import_memories(_store(), source, format, now=NOW)

    def test_a_newer_version_of_the_format_is_refused(self) -> None:
        assert "update rag-ls" in _refusal('{"format": "rag-ls-memories", "version": 2, "memories": []}')
        assert "update rag-ls" in _refusal('---\nformat: "rag-ls-memories"\nversion: 2\n---\n', "markdown")

    def test_a_truncated_file_says_where(self) -> None:
        message = _refusal(_exported(_store(_memory("text")))[:-20])
        assert "line 2" in message
        assert "cut off" in message


class TestMarkdownByHand:
    """People edit the Markdown, and write it themselves."""

    def test_a_person_s_front_matter_is_understood(self) -> None:
        store = _store()
        text = """\ufeff---
memory_type: procedural   # how we work
tags:
  - api
  - 'it''s'
importance_score: 0.9
created_at: 2026-01-01T00:00:00Z
---

Use tabs.

---

Still the same memory.

---
tags: [one, "two, three"]
source_file: >-
  src/
  a.py
---
Another one.
"""
        assert _import(store, text, "markdown") == ImportResult(2, 0, 0, 0)
        first, second = sorted(store.all(), key=lambda memory: memory.content, reverse=True)
        assert first.content == "Use tabs.\n\n---\n\nStill the same memory."
        assert (first.memory_type, first.metadata.tags) == (MemoryType.PROCEDURAL, ("api", "it's"))
        assert (first.metadata.importance_score, first.created_at) == (0.9, "2026-01-01T00:00:00.000Z")
        assert (second.content, second.metadata.tags) == ("Another one.", ("one", "two, three"))
        assert second.metadata.source_file == "src/ a.py"

    @pytest.mark.parametrize(
        ("line", "values"),
        [
            ("description: Use when: always", {"description": "Use when: always"}),
            ("globs: *.ts,src/**/*.tsx", {"globs": "*.ts,src/**/*.tsx"}),
            ("globs: [*.ts, a]", {"globs": ["*.ts", "a"]}),
            ("name: @scope/package  # ours", {"name": "@scope/package"}),
            ("title: no", {"title": "no"}),
            ("created: 2026-01-01", {"created": "2026-01-01"}),
        ],
    )
    def test_what_yaml_refuses_or_reads_as_something_else_is_read_as_it_is_meant(
        self, line: str, values: dict[str, object]
    ) -> None:
        assert split_text(f"---\n{line}\n---\ntext") == (values, "text")

    def test_tags_may_stand_on_one_line_without_brackets(self) -> None:
        store = _store()
        _import(store, "---\ntags: api, auth\n---\ntext", "markdown")
        assert store.all()[0].metadata.tags == ("api", "auth")

    def test_an_edited_content_says_what_to_take_out(self) -> None:
        text = _exported(_store(_memory("one\ntwo"), _memory("three", "second")), "markdown")
        longer = text.replace("one\ntwo", "one\ntwo\nand more")
        assert "take its content_lines and content_hash out" in _refusal(longer, "markdown")
        assert "content_hash" in _refusal(text.replace("one\ntwo", "one\nthree"), "markdown")
        kept = [line for line in longer.split("\n") if not line.startswith(("content_lines", "content_hash"))]
        store = _store()
        assert _import(store, "\n".join(kept), "markdown").inserted == 2
        assert store.get("first").content == "one\ntwo\nand more"

    def test_a_file_of_notes_is_told_from_memories(self) -> None:
        assert "import it as the kind that it is" in _refusal("# Rules\n\n- use tabs\n", "markdown")


@pytest.mark.parametrize(
    ("name", "text", "format"),
    [
        ("a.json", "", "json"),
        ("a.JSONL", "", "jsonl"),
        ("a.md", "", "markdown"),
        ("a", '[{"content": "x"}]', "json"),
        ("a", '{"format": "rag-ls-memories", "version": 1, "scope": "project", "memories": [\n]}', "json"),
        ("a.txt", '\ufeff{"format": "rag-ls-memories", "version": 1}\n{}', "jsonl"),
        ("a", '\n{"content": "x"}\n', "jsonl"),
        ("a", "---\nid: x\n---\n", "markdown"),
    ],
)
def test_the_format_is_told_by_the_suffix_or_the_first_bytes(tmp_path: Path, name: str, text: str, format: str) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    assert detect_format(file) == format


def test_a_file_without_a_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\x00\xff")
    with pytest.raises(InvalidRequest, match="give the format: json, jsonl, markdown"):
        detect_format(tmp_path / "a")
    with pytest.raises(NotFound, match="give the file"):
        detect_format(tmp_path / "b")


def test_every_format_detects_its_own_export(tmp_path: Path) -> None:
    for format in FORMATS:
        (tmp_path / "export").write_text(_exported(_store(_memory("x")), format))
        assert detect_format(tmp_path / "export") == format
