"""A question's way to hits, over a real store."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from rag_ls.config.settings import SearchSettings
from rag_ls.model import Freshness, Outline, Symbol
from rag_ls.search.query import analyse
from rag_ls.search.searcher import Found, Searcher
from rag_ls.search.view import NO_FILTERS, Filters
from rag_ls.storage import DocumentRecord, ProjectIndex
from rag_ls.storage.sqlite.checkout import CheckoutIndex
from rag_ls.storage.sqlite.index_file import IndexFile
from tests.support import (
    MODEL,
    UnchangedCorpus,
    digest,
    lexical_of,
    new_chunk,
    new_chunks,
    put_vectors,
    ready,
    record,
    unit_vectors,
    vectors_of,
)

_MINE, _THEIRS, _DEAD = "mine", "theirs", "dead"


@dataclass(frozen=True)
class _Corpus(UnchangedCorpus):
    gone: tuple[str, ...] = ()

    def is_live(self, session: str) -> bool:
        return session != _DEAD

    def freshness(self, document: DocumentRecord) -> Freshness | None:
        if document.path in self.gone:
            return None
        return Freshness.BUFFER if document.session else Freshness.DISK


def _searcher(store: CheckoutIndex, *, gone: tuple[str, ...] = ()) -> Searcher:
    return Searcher(
        ProjectIndex(store, lexical_of(store), vectors_of(store), IndexFile(None), database=store._database),
        _Corpus(gone),
    )


def _search(
    searcher: Searcher, text: str, *, k: int = 10, filters: Filters = NO_FILTERS, session: str = _MINE
) -> Found:
    settings = SearchSettings()
    return searcher.search(
        analyse(text), k=k, settings=settings, filters=filters, vector=None, model_id="", session=session
    )


def _texts(found: Found) -> list[str]:
    return [hit.item.chunk.text for hit in found.hits]


def _save(store: CheckoutIndex, text: str, path: str = "src/a.py", session: str = "") -> None:
    store.replace_document(record(path, session), [new_chunk(text, path=path)])


def test_one_s_own_buffer_replaces_the_file_and_every_other_buffer(store: CheckoutIndex) -> None:
    for text, session in (("needle disk", ""), ("needle theirs", _THEIRS), ("needle mine", _MINE)):
        _save(store, text, session=session)
    assert _texts(_search(_searcher(store), "needle")) == ["needle mine"]
    assert _texts(_search(_searcher(store), "needle", session="third")) == ["needle theirs"]


def test_another_session_s_buffer_replaces_the_file(store: CheckoutIndex) -> None:
    _save(store, "needle disk")
    _save(store, "needle theirs", session=_THEIRS)
    found = _search(_searcher(store), "needle")
    assert _texts(found) == ["needle theirs"]
    assert found.hits[0].freshness is Freshness.BUFFER
    assert _texts(_search(_searcher(store), "disk")) == []


def test_the_buffer_of_a_dead_session_counts_for_nothing(store: CheckoutIndex) -> None:
    _save(store, "needle disk")
    _save(store, "needle dead", session=_DEAD)
    assert _texts(_search(_searcher(store), "needle")) == ["needle disk"]


def test_a_guest_document_is_seen_by_its_own_session_alone(store: CheckoutIndex) -> None:
    _save(store, "needle", "untitled:1", _THEIRS)
    assert _texts(_search(_searcher(store), "needle")) == []
    assert _texts(_search(_searcher(store), "needle", session=_THEIRS)) == ["needle"]


def test_hits_of_a_file_that_is_gone_are_dropped_and_others_take_their_place(store: CheckoutIndex) -> None:
    for name in "abc":
        _save(store, f"needle {name}", f"{name}.py")
    found = _search(_searcher(store, gone=("a.py",)), "needle", k=2)
    assert [hit.item.chunk.path for hit in found.hits] == ["b.py", "c.py"]


def test_of_copies_of_a_text_one_is_shown(store: CheckoutIndex) -> None:
    for name in "abc":
        _save(store, "needle in  a copy" if name == "b" else "needle in a copy", f"{name}.py")
    _save(store, "another needle", "d.py")
    paths = [hit.item.chunk.path for hit in _search(_searcher(store), "needle").hits]
    assert sorted(paths) == ["a.py", "d.py"]


def test_a_copy_takes_the_place_of_one_whose_file_is_gone(store: CheckoutIndex) -> None:
    for name in "ab":
        _save(store, "needle", f"{name}.py")
    found = _search(_searcher(store, gone=("a.py",)), "needle")
    assert [hit.item.chunk.path for hit in found.hits] == ["b.py"]


def test_a_misspelt_word_is_found(store: CheckoutIndex) -> None:
    _save(store, "def retry_backoff(): pass")
    _save(store, "something else", "src/b.py")
    assert _texts(_search(_searcher(store), "retry_backof")) == ["def retry_backoff(): pass"]
    assert _texts(_search(_searcher(store), "bakcoff")) == ["def retry_backoff(): pass"]


def test_an_identifier_is_found_by_its_parts_in_any_case_and_form(store: CheckoutIndex) -> None:
    _save(store, "def fetch_users_by_id(): pass")
    _save(store, "something else", "src/b.py")
    for query in ("fetchUserById", "FETCH_USER", "fetching a user by its id", "users_by_ids"):
        assert _texts(_search(_searcher(store), query)) == ["def fetch_users_by_id(): pass"], query


def test_a_declaration_in_pieces_is_shown_as_a_whole(store: CheckoutIndex) -> None:
    texts = ["def total(items):\n", "    for item in items:\n", "        needle(item)\n", "def other(): ...\n"]
    pieces = [
        new_chunk(text, symbol="other" if number == 3 else "total", ordinal=number) for number, text in enumerate(texts)
    ]
    pieces[1:3] = [replace(piece, chunk=replace(piece.chunk, is_declaration=False)) for piece in pieces[1:3]]
    store.replace_document(record(), pieces)
    hits = _search(_searcher(store), "needle").hits
    assert [(hit.item.chunk.start_line, hit.item.chunk.end_line) for hit in hits] == [(1, 22)]
    assert hits[0].item.chunk.text == "".join(texts[:3])


def test_more_hits_take_no_more_statements(store: CheckoutIndex) -> None:
    """On a server each statement is a way there and back."""
    for number in range(8):
        texts = [f"def total{number}(items):\n", f"    needle(items, {number})\n"]
        pieces = [new_chunk(text, symbol="total", path=f"{number}.py", ordinal=at) for at, text in enumerate(texts)]
        store.replace_document(record(f"{number}.py"), pieces)

    def count_statements(hits: int) -> int:
        statements: list[str] = []
        with store._database.in_use() as connection:
            connection.set_trace_callback(statements.append)
            found = _search(_searcher(store), "needle", k=hits)
            connection.set_trace_callback(None)
        assert [len(hit.item.chunk.text.splitlines()) for hit in found.hits] == [2] * hits
        # What SQLite's full-text search asks by itself begins as a comment does.
        return len([each for each in statements if not each.startswith("--")])

    # The list of the documents is read once.
    count_statements(1)
    assert count_statements(8) == count_statements(1)


def test_filters_restrict_language_and_path(store: CheckoutIndex) -> None:
    _save(store, "needle", "src/a.py")
    store.replace_document(
        DocumentRecord("docs/a.md", "markdown", "x", record().state), [new_chunk("needle", path="docs/a.md")]
    )

    def paths(filters: Filters) -> set[str]:
        return {hit.item.chunk.path for hit in _search(_searcher(store), "needle", filters=filters).hits}

    assert paths(Filters(language="Markdown")) == {"docs/a.md"}
    assert paths(Filters(path_glob="src/**")) == {"src/a.py"}
    assert paths(Filters("markdown", "src/**")) == set()


_SYNTAX = [
    '"', '""', "'", "needle OR", "NEAR(needle zebra)", "needle*", "(needle", "needle)", "text:needle", "symbol : needle",
    "-needle", "needle AND NOT", "^needle", "needle + zebra", "\x00needle", "needle\x07\n\t", "{text} needle", "NEEDLE", "%_",
    "needle;DROP TABLE chunks", "", " ", "検索", "поиск", "ñandú", "🙂", "²", "ⅷ", "ﬁ", "İ", "\u0300", "a" * 500,
]  # fmt: skip


@pytest.mark.parametrize("query", _SYNTAX)
def test_the_syntax_of_full_text_queries_is_only_text(store: CheckoutIndex, query: str) -> None:
    _save(store, "needle")
    _save(store, "zebra", "src/b.py")
    found = _texts(_search(_searcher(store), query))
    expected = {word for word in ("needle", "zebra") if word in query.lower()}
    assert set(found) == expected


@pytest.mark.parametrize(
    "text", ["検索 エンジン", "поиск в коде", "ñandú veloz", "Straße", "ελληνικά", "हिन्दी", "ﬁnal"]
)
def test_words_of_any_script_are_found(store: CheckoutIndex, text: str) -> None:
    _save(store, f"# {text}\n")
    _save(store, "needle", "src/b.py")
    assert _texts(_search(_searcher(store), text)) == [f"# {text}\n"]


def test_a_symbol_is_found_by_its_exact_name_first(store: CheckoutIndex) -> None:
    _save(store, "calls refresh_token often: refresh_token refresh_token", "src/use.py")
    store.replace_document(record("src/d.py"), [new_chunk("body", path="src/d.py", symbol="Session.refresh_token")])
    hit = _search(_searcher(store), "refresh_token").hits[0]
    assert hit.item.chunk.path == "src/d.py"
    assert "symbol" in hit.matched_by


def test_a_named_file_is_found_by_its_path(store: CheckoutIndex) -> None:
    _save(store, "nothing in common", "src/auth.py")
    hits = _search(_searcher(store), "auth.py").hits
    assert [hit.item.chunk.path for hit in hits] == ["src/auth.py"]
    assert "path" in hits[0].matched_by


def test_the_nearest_chunks_are_found_by_vector_and_say_so(store: CheckoutIndex) -> None:
    store.embeddings.activate(MODEL)
    vectors = unit_vectors(5)
    store.replace_document(record(), new_chunks([f"word{number}" for number in range(5)]))
    put_vectors(store, MODEL, [digest(f"word{number}") for number in range(5)], vectors)
    found = _searcher(store).search(
        analyse("unrelated"),
        k=1,
        settings=SearchSettings(),
        filters=NO_FILTERS,
        vector=ready(vectors[3]),
        model_id=MODEL,
    )
    assert _texts(found) == ["word3"]
    assert found.hits[0].matched_by == ("dense",)
    assert found.dense


def test_a_vector_that_is_late_leaves_the_question_to_words_and_the_next_one_to_meaning(store: CheckoutIndex) -> None:
    store.embeddings.activate(MODEL)
    _save(store, "needle")
    put_vectors(store, MODEL, [digest("needle")], unit_vectors(1))
    searcher, late = _searcher(store), iter([None, unit_vectors(1)[0]])
    first, second = (
        searcher.search(
            analyse("needle"),
            k=1,
            settings=SearchSettings(),
            filters=NO_FILTERS,
            vector=lambda: next(late),
            model_id=MODEL,
        )
        for _ in range(2)
    )
    assert (first.dense, second.dense) == (False, True)
    assert _texts(first) == _texts(second) == ["needle"]


def test_who_quotes_a_text_finds_it_among_many_that_hold_its_words(store: CheckoutIndex) -> None:
    many = [f"not open could {number}" * 3 for number in range(80)]
    for number, text in enumerate([*many, "it could not open the file: " + "other words " * 50]):
        _save(store, text, f"src/{number}.py")
    found = _search(_searcher(store), "could not open the file", k=1)
    assert [hit.item.chunk.path for hit in found.hits] == ["src/80.py"]


def test_vectors_of_another_model_are_not_compared(store: CheckoutIndex) -> None:
    store.embeddings.activate(MODEL)
    _save(store, "needle")
    put_vectors(store, MODEL, [digest("needle")], unit_vectors(1))
    found = _searcher(store).search(
        analyse("needle"),
        k=1,
        settings=SearchSettings(),
        filters=NO_FILTERS,
        vector=ready(unit_vectors(1, 8)[0]),
        model_id="other",
    )
    assert (found.dense, found.hits[0].matched_by) == (False, ("lexical", "symbol")[:1])


def test_a_chunk_is_found_by_meaning_however_often_it_was_edited(store: CheckoutIndex, tmp_path: Path) -> None:
    store.embeddings.activate(MODEL)
    query = unit_vectors(1)[0]
    near = query + 0.01 * unit_vectors(500, seed=1)
    for number, vector in enumerate(near):
        _save(store, f"version{number}")
        put_vectors(store, MODEL, [digest(f"version{number}")], vector[None])
    _save(store, "settled")
    far = query + 0.2 * unit_vectors(1, seed=2)
    put_vectors(store, MODEL, [digest("settled")], far)
    found = _searcher(store).search(
        analyse("unrelated"), k=5, settings=SearchSettings(), filters=NO_FILTERS, vector=ready(query), model_id=MODEL
    )
    assert _texts(found) == ["settled"]


def test_related_code_leaves_its_own_file_out_and_respects_the_least_similarity(store: CheckoutIndex) -> None:
    store.embeddings.activate(MODEL)
    vectors = unit_vectors(3)
    vectors[1] = vectors[0]
    for number, path in enumerate(("src/a.py", "src/b.py", "src/c.py")):
        _save(store, f"word{number}", path)
    put_vectors(store, MODEL, [digest(f"word{number}") for number in range(3)], vectors)
    found = _searcher(store).related(
        vectors[0], k=5, model_id=MODEL, filters=NO_FILTERS, minimum=0.99, without="src/a.py", is_saved=True
    )
    assert _texts(found) == ["word1"]
    assert found.hits[0].score == pytest.approx(1.0, abs=1e-2)


def test_a_chunk_is_got_in_the_version_that_counts(store: CheckoutIndex) -> None:
    _save(store, "same text")
    _save(store, "same text", session=_MINE)
    document = store.document("src/a.py")
    assert document is not None
    chunk_id = store.chunks.of_document(document.id)[0].stored.id
    hit = _searcher(store).chunk_hit(chunk_id, _MINE)
    assert hit is not None
    assert hit.item.session == _MINE
    assert _searcher(store).chunk_hit("unknown") is None


@pytest.mark.parametrize("query", ["SinkContxt", "sink_contextt", "SnikContext", "sinkContex"])
def test_a_misspelt_name_means_the_declared_one_that_is_nearest(store: CheckoutIndex, query: str) -> None:
    declared = new_chunk("class SinkContext: ...", symbol="SinkContext", path="src/context.py")
    store.replace_document(
        record("src/context.py"),
        [declared],
        outline=Outline((Symbol("SinkContext", "type", 1, 1, "", "", exported=True),)),
    )
    _save(store, "def sink(context):\n    'A sink takes its context from the contexts of a sink.'", "src/sink.py")
    assert _texts(_search(_searcher(store), query))[0] == "class SinkContext: ..."


def test_a_word_that_the_project_uses_is_not_misspelt(store: CheckoutIndex) -> None:
    store.replace_document(
        record("src/a.py"), [new_chunk("def retrying(): ...", symbol="retrying", path="src/a.py")],
        outline=Outline((Symbol("retrying", "function", 1, 1, "", "", exported=True),)),
    )  # fmt: skip
    _save(store, "def call():\n    'retryin is how the vendor spells retryin'", "src/b.py")
    assert "vendor" in _texts(_search(_searcher(store), "retryin"))[0]


@pytest.mark.parametrize(
    "query",
    [
        "src/a.py:11", "a.py:11:8", "thread panicked at src/a.py:11:14: called unwrap() on None",
        'File "/home/me/shop/src/a.py", line 11, in total', "error in src/a.py(11): no such thing",
    ],
)  # fmt: skip
def test_a_line_of_a_file_comes_first(store: CheckoutIndex, query: str) -> None:
    store.replace_document(
        record("src/a.py"), new_chunks(["called on None", "the line that is meant", "no such thing in total"])
    )
    _save(store, "unwrap() called on None: a thread panicked", "src/b.py")
    found = _search(_searcher(store), query).hits
    assert found[0].item.chunk.start_line <= 11 <= found[0].item.chunk.end_line
    assert "line" in found[0].matched_by
    assert _search(_searcher(store), "src/a.py:99999").hits
