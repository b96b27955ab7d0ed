"""Documents and chunks at rest: what was stored is there, what was removed is found by nobody."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from rag_ls.errors import StoreUnavailable
from rag_ls.model import Outline, Symbol
from rag_ls.storage import DISK, NewChunk, Skipped, find_terms
from rag_ls.storage.sqlite.checkout import CheckoutIndex
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.terms import fold_text
from rag_ls.util.text import content_hash
from tests.support import (
    MODEL,
    SETTLED,
    digest,
    lexical_of,
    new_chunk,
    new_chunks,
    open_checkout,
    put_vectors,
    record,
    scale_examples,
    unit_vectors,
    vectors_of,
)

_WORDS = ("alpha", "bravo", "charlie", "getUserName", "user_name", "x1", "größe", "検索", "delta")
_QUERIES = (
    "alpha",
    "bravo",
    "charlie",
    "user",
    "name",
    "username",
    "getusername",
    "x1",
    "größe",
    "検索",
    "delta",
    "echo",
)
_PATHS = ("src/alpha.py", "src/b.py", "lib/delta/c.py")
_SESSIONS = (DISK, "session-1", "session-2")
_TEXTS = st.lists(st.lists(st.sampled_from(_WORDS), min_size=1, max_size=4).map(" ".join), max_size=6)


def _vector(text_hash: bytes) -> np.ndarray:
    return unit_vectors(1, 8, seed=int.from_bytes(text_hash[:4], "big"))[0]


class _AnIndex(RuleBasedStateMachine):
    """The store against a dictionary."""

    @initialize()
    def open(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.store = open_checkout(self.folder / "index.db")
        self.store.embeddings.activate(MODEL)
        self.expected: dict[tuple[str, str], list[NewChunk]] = {}
        self.embedded: set[bytes] = set()

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            shutil.rmtree(self.folder)

    @rule(path=st.sampled_from(_PATHS), session=st.sampled_from(_SESSIONS), texts=_TEXTS, named=st.booleans())
    def replace(self, path: str, session: str, texts: list[str], named: bool) -> None:
        chunks = [
            new_chunk(text, path=path, ordinal=number, symbol="Charlie.delta" if named and number == 0 else "")
            for number, text in enumerate(texts)
        ]
        former = self.expected.get((path, session), [])
        replaced = self.store.replace_document(record(path, session), chunks)
        assert (replaced.kept + replaced.added, replaced.kept + replaced.removed) == (len(chunks), len(former))
        self.expected[path, session] = chunks

    @rule(path=st.sampled_from(_PATHS), session=st.sampled_from(_SESSIONS))
    def remove(self, path: str, session: str) -> None:
        removed = self.store.remove_documents([path], session)
        assert removed == int(self.expected.pop((path, session), None) is not None)

    @rule(path=st.sampled_from(_PATHS))
    def skip(self, path: str) -> None:
        self.store.skip(Skipped(path, "binary", SETTLED))
        self.expected.pop((path, DISK), None)

    @rule(session=st.sampled_from(_SESSIONS[1:]))
    def end_session(self, session: str) -> None:
        self.store.remove_session(session)
        self.expected = {key: chunks for key, chunks in self.expected.items() if key[1] != session}

    @rule(limit=st.integers(1, 4))
    def embed(self, limit: int) -> None:
        hashes = [text_hash for text_hash, _ in self.store.embeddings.pending(MODEL, limit)]
        assert self.embedded.isdisjoint(hashes)
        if hashes:
            put_vectors(self.store, MODEL, hashes, np.stack([_vector(text_hash) for text_hash in hashes]))
        self.embedded.update(hashes)

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = open_checkout(self.folder / "index.db")

    @invariant()
    def the_documents_hold_exactly_their_chunks(self) -> None:
        found = {}
        for session in _SESSIONS:
            for path, document in self.store.documents(session).items():
                found[path, session] = [row.stored.chunk for row in self.store.chunks.of_document(document.id)]
        assert found == {key: [new.chunk for new in chunks] for key, chunks in self.expected.items()}

    @invariant()
    def a_term_finds_exactly_the_chunks_that_hold_it(self) -> None:
        for query in _QUERIES:
            rows = self.store.chunks.by_row([found.row for found in lexical_of(self.store).search([query], 1000)])
            found = sorted(
                (row.stored.chunk.path, row.stored.session, row.stored.chunk.ordinal) for row in rows.values()
            )
            assert found == sorted(
                (path, session, new.chunk.ordinal)
                for (path, session), chunks in self.expected.items()
                for new in chunks
                if fold_text(query) in find_terms(f"{path} {new.chunk.symbol} {new.chunk.text}")
            )

    @invariant()
    def every_embedded_text_has_its_vector(self) -> None:
        pending = 0
        for chunks in self.expected.values():
            pending += sum(new.text_hash not in self.embedded for new in chunks)
        assert self.store.embeddings.pending_count(MODEL) == pending
        for path, session in self.expected:
            document = self.store.document(path, session)
            assert document is not None
            for row in self.store.chunks.of_document(document.id):
                text_hash = digest(row.stored.chunk.text)
                is_embedded = self.store.chunks.for_ranking([row.row])[0].is_embedded
                assert (row.text_hash, is_embedded) == (text_hash, text_hash in self.embedded)
                if is_embedded:
                    vector = vectors_of(self.store).get(MODEL, [text_hash])[text_hash]
                    assert np.allclose(vector, _vector(text_hash), atol=1e-3)


_AnIndex.TestCase.settings = settings(max_examples=scale_examples(25), stateful_step_count=15)


@pytest.mark.slow
class TestAnyHistoryOfAnIndex(_AnIndex.TestCase):
    """Whatever is stored and removed, chunks, postings and embeddings agree."""


def test_unchanged_chunks_keep_their_rows_and_ids_when_text_is_inserted_before_them(store: CheckoutIndex) -> None:
    store.replace_document(record(), new_chunks(["one", "two"]))
    before = {row.stored.chunk.text: (row.row, row.stored.id) for row in _chunks(store)}
    replaced = store.replace_document(record(), new_chunks(["zero", "one", "two"]))
    after = {row.stored.chunk.text: (row.row, row.stored.id) for row in _chunks(store)}
    assert (replaced.kept, replaced.added, replaced.removed) == (2, 1, 0)
    assert {text: after[text] for text in before} == before
    assert [row.stored.chunk.start_line for row in _chunks(store)] == [1, 11, 21]


@pytest.mark.parametrize("is_opened_anew", [False, True])
def test_a_row_never_means_another_chunk_or_document(tmp_path: Path, is_opened_anew: bool) -> None:
    # A question ranks rows, and reads their text afterwards: what was deleted meanwhile must be missing, not another.
    store = open_checkout(tmp_path / "index.db")
    store.replace_document(record(), new_chunks(["alpha", "bravo"]))
    ranked = [found.row for found in lexical_of(store).search(["alpha"], 5)]
    (document,) = store.documents().values()
    store.remove_documents(["src/a.py"])
    if is_opened_anew:
        store.close()
        store = open_checkout(tmp_path / "index.db")
    store.replace_document(record("src/b.py"), new_chunks(["charlie", "delta", "getUserName"], path="src/b.py"))
    assert store.chunks.by_row(ranked) == {}
    assert store.chunks.for_ranking(ranked) == []
    assert ranked
    assert store.chunks.of_document(document.id) == []
    assert store.chunks.estimated_count() == 3
    store.close()


def test_equal_chunks_of_one_document_have_different_ids(store: CheckoutIndex) -> None:
    store.replace_document(record(), new_chunks(["pass", "pass", "pass"]))
    assert len({row.stored.id for row in _chunks(store)}) == 3


def test_a_renamed_symbol_is_found_by_its_new_name_alone(store: CheckoutIndex) -> None:
    store.replace_document(record(), [new_chunk("body", symbol="Session.refresh")])
    store.replace_document(record(), [new_chunk("body", symbol="Session.renew")])
    assert store.chunks.named(["refresh"], 5) == []
    assert lexical_of(store).search(["refresh"], 5) == []
    assert len(lexical_of(store).search(["renew"], 5)) == 1


def test_the_last_names_of_declarations_are_found_by_their_beginning(store: CheckoutIndex) -> None:
    declared = [
        Symbol(name, "function", line, line, "", "", exported=True)
        for line, name in enumerate(("Cart.total", "total", "Cart.tot_up", "Größe", "to"), 1)
    ]
    store.replace_document(record(), new_chunks(["one"]), outline=Outline(tuple(declared), ()))
    assert store.outlines.last_names("tot", 5) == ["tot_up", "total"]
    assert store.outlines.last_names("to", 2) == ["to", "tot_up"]
    assert store.outlines.last_names("grö", 5) == ["größe"]
    assert store.outlines.last_names("z", 5) == []


def test_a_declaration_is_found_by_its_last_name_with_the_chunk_where_it_begins(store: CheckoutIndex) -> None:
    declared = [
        Symbol("Cart.total", "function", 1, 2, "", "", exported=False),
        Symbol("total", "value", 2, 2, "", "", exported=True),
        Symbol("lost", "value", 9, 9, "", "", exported=True),
    ]
    texts = new_chunks(["one", "two"])
    chunks = [replace(each, chunk=replace(each.chunk, start_line=at, end_line=at)) for at, each in enumerate(texts, 1)]
    store.replace_document(record(), chunks, outline=Outline(tuple(declared), ()))
    rows = [row.row for row in _chunks(store)]
    found = store.outlines.in_chunks(["total"], 5)
    assert [(rows.index(row), symbol.symbol, symbol.start_line) for row, symbol in found] == [
        (1, "total", 2),
        (0, "Cart.total", 1),
    ]
    assert store.outlines.in_chunks(["total"], 1) == found[:1]
    # No chunk holds its line.
    assert store.outlines.in_chunks(["lost"], 5) == []


def test_a_failed_write_leaves_the_document_as_it_was(store: CheckoutIndex) -> None:
    store.replace_document(record(), new_chunks(["one"]))
    broken = NewChunk(new_chunk("two").chunk, object())  # type: ignore[arg-type]
    with pytest.raises(Exception, match="type 'object' is not supported"):
        store.replace_document(record(), [new_chunk("three"), broken])
    assert [row.stored.chunk.text for row in _chunks(store)] == ["one"]
    assert lexical_of(store).search(["three"], 5) == []


def test_a_stored_document_leaves_the_queue_and_an_unsaved_one_does_not(store: CheckoutIndex) -> None:
    store.queue.add(["src/a.py", "src/b.py"])
    store.replace_document(record("src/a.py", "session"), [])
    assert store.queue.paths() == ["src/a.py", "src/b.py"]
    store.replace_document(record("src/a.py", state=replace(SETTLED, read_ns=time.time_ns())), [])
    assert store.queue.paths() == ["src/b.py"]


def test_a_file_queued_again_after_it_was_read_stays_in_the_queue(store: CheckoutIndex) -> None:
    read = replace(SETTLED, read_ns=time.time_ns())
    store.queue.add(["src/a.py"])
    store.replace_document(record("src/a.py", state=read), [])
    store.touch_document(record("src/a.py", state=read))
    assert store.queue.paths() == ["src/a.py"]


def test_skipping_a_file_drops_what_was_indexed_of_it(store: CheckoutIndex) -> None:
    store.replace_document(record(), new_chunks(["one"]))
    store.skip(Skipped("src/a.py", "too large", SETTLED))
    assert store.document("src/a.py") is None
    assert lexical_of(store).search(["one"], 5) == []
    assert store.skipped()["src/a.py"].reason == "too large"


def test_a_waiting_file_that_a_comparison_sees_again_keeps_its_place_unless_it_changed(store: CheckoutIndex) -> None:
    store.queue.add(["src/a.py", "src/b.py"])
    read = replace(SETTLED, read_ns=time.time_ns())
    store.queue.add_seen([("src/a.py", read.read_ns - 10**9), ("src/b.py", read.read_ns), ("src/c.py", 1)])
    store.replace_document(record("src/a.py", state=read), [])
    store.replace_document(record("src/b.py", state=read), [])
    assert store.queue.paths() == ["src/b.py", "src/c.py"]


def test_files_at_a_path_are_those_indexed_queued_and_on_request_skipped_there(store: CheckoutIndex) -> None:
    store.replace_document(record("lib/a.py"), [])
    store.replace_document(record("lib/unsaved.py", "session"), [])
    store.skip(Skipped("lib/deep/b.bin", "binary", SETTLED))
    store.queue.add(["lib/c.py", "lib0.py", "lib-d.py"])
    assert sorted(store.files_at("lib")) == ["lib/a.py", "lib/c.py"]
    assert sorted(store.files_at("lib", with_skipped=True)) == ["lib/a.py", "lib/c.py", "lib/deep/b.bin"]
    assert len(store.files_at("lib", at_most=1)) == 1
    assert store.files_at("lib/a.py") == ["lib/a.py"]
    assert store.files_at("li") == []


def test_skipped_files_are_counted_by_reason_and_listed_in_parts(store: CheckoutIndex) -> None:
    for path, reason in (("c.bin", "binary"), ("a.bin", "binary"), ("b.txt", "too large")):
        store.skip(Skipped(path, reason, SETTLED))
    assert store.skipped_counts() == {"binary": 2, "too large": 1}
    assert list(store.skipped(at_most=2)) == ["a.bin", "b.txt"]
    assert len(store.skipped()) == 3


def test_a_line_finds_the_last_chunk_that_covers_it(store: CheckoutIndex) -> None:
    store.replace_document(record(), new_chunks(["a\nb\nc", "d"]))
    document = store.document("src/a.py")
    assert document is not None
    found = {line: store.chunks.at(document.id, line) for line in (1, 3, 4, 11, 12)}
    texts = {line: row and row.stored.chunk.text for line, row in found.items()}
    assert texts == {1: "a\nb\nc", 3: "a\nb\nc", 4: None, 11: "d", 12: None}


def test_bm25_prefers_the_name_over_the_body(store: CheckoutIndex) -> None:
    store.replace_document(
        record(), [new_chunk("refresh refresh", ordinal=0), new_chunk("body", symbol="refresh", ordinal=1)]
    )
    best = lexical_of(store).search(["refresh"], 5)[0]
    assert store.chunks.by_row([best.row])[best.row].stored.chunk.symbol == "refresh"


def test_a_search_can_be_restricted_to_documents(store: CheckoutIndex) -> None:
    for path in ("a.py", "b.py"):
        store.replace_document(record(path), new_chunks(["needle"], path=path))
    only = store.document("b.py")
    assert only is not None
    rows = lexical_of(store).search(["needle"], 5, f"[{only.id}]")
    assert [store.chunks.by_row([found.row])[found.row].stored.chunk.path for found in rows] == ["b.py"]


def test_a_content_digest_is_that_of_the_utf8_bytes() -> None:
    assert content_hash("größe") == "".join(f"{byte:02x}" for byte in digest("größe"))


def _chunks(store: CheckoutIndex) -> list:
    document = store.document("src/a.py")
    assert document is not None
    return store.chunks.of_document(document.id)


def test_a_commit_that_fails_leaves_no_transaction_behind(tmp_path: Path) -> None:
    """A write after it must really be written: other connections see it."""
    database = Database(tmp_path / "a.db", (lambda connection: connection.execute("CREATE TABLE t (x)"),))
    with database.writing() as connection:
        connection.execute("CREATE TABLE parent (id INTEGER PRIMARY KEY)")
        connection.execute("CREATE TABLE child (id REFERENCES parent DEFERRABLE INITIALLY DEFERRED)")
    # The constraint is checked by COMMIT itself.
    with pytest.raises(StoreUnavailable), database.writing() as connection:
        connection.execute("INSERT INTO child VALUES (7)")
    with database.writing() as connection:
        connection.execute("INSERT INTO t VALUES (1)")
    other = sqlite3.connect(tmp_path / "a.db")
    assert other.execute("SELECT count(*) FROM t").fetchone() == (1,)
    other.close()
    database.close()
