"""Publishing a checkout's code on a real PostgreSQL: what is sent, what stays, and that a search reads the same there."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_ls.errors import InvalidRequest, StoreDamaged, StoreReadOnly, StoreUnavailable
from rag_ls.indexing.publishing import Publishing
from rag_ls.model import Outline, Symbol
from rag_ls.storage import DISK, ProjectIndex, Publication, PublishedFile, PublishedIndex, SearchedIndex, Vector
from rag_ls.storage.postgres.project_vectors import PostgresProjectVectors
from rag_ls.storage.postgres.publication import Publisher
from rag_ls.storage.postgres.published import PublishedServer
from rag_ls.storage.postgres.schema import PostgresProjects, schema_of
from rag_ls.storage.served import ServedVectors
from rag_ls.storage.terms import find_terms
from tests.storage.dictionary_vectors import DictionaryVectors
from tests.storage.postgres.servers import Postgres
from tests.support import (
    MODEL,
    digest,
    index_at,
    new_chunk,
    new_chunks,
    put_vectors,
    record,
    scale_examples,
    unit_vectors,
)

STAMP = Publication("", "0123456789abcdef", "main", "2026-01-02T03:04:05Z")
_NUMBERS = itertools.count()
_GRANTED = "SELECT, INSERT, UPDATE, DELETE"


@pytest.fixture(scope="module")
def url(server: Postgres) -> str:
    """A database in which each test has a project of its own."""
    return server.url(server.vector_database())


@pytest.fixture
def project() -> str:
    """The name of a project that nobody has published."""
    return f"github.com/acme/shop{next(_NUMBERS)}"


@pytest.fixture
def index() -> Iterator[ProjectIndex]:
    """A checkout with two files."""
    index = index_at(None)
    index.checkout.embeddings.activate(MODEL)
    _store(index, "src/a.py", ["def pay(): pass", "retry with backoff"])
    _store(index, "src/b.py", ["def refund(): pass"])
    yield index
    index.close()


def _store(index: ProjectIndex, path: str, texts: Sequence[str]) -> None:
    chunks = new_chunks(texts, path=path)
    index.checkout.replace_document(record(path, sha256="|".join(texts)), chunks)
    hashes = [chunk.text_hash for chunk in chunks]
    put_vectors(index.checkout, MODEL, hashes, unit_vectors(len(hashes), seed=len(texts)))


def _database(url: str) -> str:
    return urlsplit(url).path.strip("/")


def _publish(index: ProjectIndex, url: str, project: str) -> tuple[int, int]:
    """How many files were sent, and how many removed."""
    publisher = Publisher(url, project)
    try:
        published = Publishing(index, publisher).publish(STAMP)
    finally:
        publisher.close()
    return published.changed, published.removed


@contextlib.contextmanager
def _read(url: str, project: str) -> Iterator[PublishedIndex]:
    """What is published of a project, for its readers."""
    with contextlib.closing(PublishedServer(url)) as server:
        yield server.open(project)


def _texts(url: str, project: str) -> list[str]:
    with _read(url, project) as published:
        found = published.lexical.search(["def", "retry", "refund", "pay"], 100)
        return sorted(published.checkout.chunks.texts([each.row for each in found]).values())


def test_only_what_differs_is_sent(index: ProjectIndex, url: str, project: str) -> None:
    assert _publish(index, url, project) == (2, 0)
    assert _publish(index, url, project) == (0, 0)
    _store(index, "src/a.py", ["def pay_twice(): pass"])
    index.checkout.remove_documents(["src/b.py"])
    assert _publish(index, url, project) == (1, 1)
    assert _texts(url, project) == ["def pay_twice(): pass"]


def test_unsaved_text_is_not_published(index: ProjectIndex, url: str, project: str) -> None:
    plan = new_chunks(["def secret_plan(): pass"])
    index.checkout.replace_document(record("src/a.py", "session"), plan)
    put_vectors(index.checkout, MODEL, [plan[0].text_hash], unit_vectors(1, seed=9))
    _publish(index, url, project)
    with _read(url, project) as published:
        assert published.lexical.search(["secret"], 10) == []
        assert published.vectors.missing(MODEL, [plan[0].text_hash]) == {plan[0].text_hash}


class _Edited(Publisher):
    """An editor begins a document just after the last file was deleted."""

    index: ProjectIndex

    def digests(self) -> dict[str, str]:
        former = self.index.checkout.document("src/b.py")
        if former is not None:
            self.index.checkout.remove_documents(["src/b.py"])
            plan = new_chunks(["def secret_plan(): pass"], path="src/b.py")
            self.index.checkout.replace_document(record("src/b.py", "session"), plan)
            put_vectors(self.index.checkout, MODEL, [plan[0].text_hash], unit_vectors(1, seed=9))
            assert former.id not in {each.id for each in self.index.checkout.unsaved_documents()}
        return super().digests()


def test_unsaved_text_in_place_of_a_deleted_file_is_not_published(index: ProjectIndex, url: str, project: str) -> None:
    publisher = _Edited(url, project)
    publisher.index = index
    Publishing(index, publisher).publish(STAMP)
    hidden = digest("def secret_plan(): pass")
    assert publisher.vectors.missing(MODEL, [hidden]) == {hidden}
    publisher.close()
    assert _texts(url, project) == ["def pay(): pass", "retry with backoff"]


def test_an_index_that_is_not_complete_is_not_published(index: ProjectIndex, url: str, project: str) -> None:
    index.checkout.replace_document(record("src/c.py"), new_chunks(["not embedded yet"], path="src/c.py"))
    with pytest.raises(InvalidRequest, match="run `rag-ls index` first"):
        _publish(index, url, project)


@pytest.mark.slow
def test_a_file_that_cannot_be_stored_stays_alone(index: ProjectIndex, url: str, project: str) -> None:
    # A tsvector holds at most a megabyte.
    _store(index, "src/huge.py", [" ".join(f"w{number:032x}" for number in range(40_000))])
    publisher = Publisher(url, project)
    published = Publishing(index, publisher).publish(STAMP)
    publisher.close()
    assert (published.files, published.changed, list(published.failed)) == (2, 2, ["src/huge.py"])
    assert "too long" in published.failed["src/huge.py"]
    assert len(_texts(url, project)) == 3


class _Interrupted(Publisher):
    """Ends after the first files."""

    def put(self, files: Sequence[PublishedFile]) -> dict[str, str]:
        super().put(files)
        raise KeyboardInterrupt


def test_what_was_interrupted_goes_on(index: ProjectIndex, url: str, project: str) -> None:
    for number in range(60):
        _store(index, f"src/part{number}.py", [f"def part{number}(): pass"])
    publisher = _Interrupted(url, project)
    with pytest.raises(KeyboardInterrupt):
        Publishing(index, publisher).publish(STAMP)
    publisher.close()
    with _read(url, project) as published:
        assert published.publication() is None
        assert _publish(index, url, project) == (12, 0)
        assert published.publication() == replace(STAMP, model=MODEL)
        assert published.checkout.chunks.estimated_count() == 63


def test_two_do_not_publish_the_same_project_at_once(index: ProjectIndex, url: str, project: str) -> None:
    with contextlib.closing(Publisher(url, project)) as other, contextlib.ExitStack() as busy:
        busy.enter_context(other.alone())
        with pytest.raises(InvalidRequest, match=f"somebody else publishes {project} on postgresql://"):
            _publish(index, url, project)
        assert _publish(index, url, f"{project}-too") == (2, 0)
        busy.close()
        assert _publish(index, url, project) == (2, 0)


def test_readers_are_told_while_a_later_publication_is_not_finished(
    index: ProjectIndex, url: str, project: str
) -> None:
    _publish(index, url, project)
    _store(index, "src/a.py", ["def pay_twice(): pass"])
    with contextlib.closing(_Interrupted(url, project)) as publisher, pytest.raises(KeyboardInterrupt):
        Publishing(index, publisher).publish(STAMP)
    with _read(url, project) as published:
        assert published.publication() == replace(STAMP, model=MODEL, is_changing=True)
        # A term that is not counted yet is found as well.
        assert len(published.lexical.search(["twice"], 10)) == 1
        assert _publish(index, url, project) == (0, 0)
        assert published.publication() == replace(STAMP, model=MODEL)


def test_what_an_older_version_published_is_migrated_by_the_next_publication(
    index: ProjectIndex, server: Postgres, url: str, project: str
) -> None:
    _publish(index, url, project)
    schema = schema_of(project)
    server.run(f"ALTER TABLE {schema}.rag_publication DROP COLUMN is_changing", _database(url))
    server.run(f"UPDATE {schema}.rag_meta SET value = '1' WHERE key = 'code_schema'", _database(url))
    with _read(url, project) as published:
        assert published.publication() is None
        assert _publish(index, url, project) == (0, 0)
        assert published.publication() == replace(STAMP, model=MODEL)


def test_more_chunks_may_hold_a_term_than_were_counted(
    index: ProjectIndex, server: Postgres, url: str, project: str
) -> None:
    _publish(index, url, project)
    server.run(f"UPDATE {schema_of(project)}.rag_term SET holders = 99", _database(url))
    assert len(_texts(url, project)) == 3


def test_damaged_rows_hide_no_others(index: ProjectIndex, server: Postgres, url: str, project: str) -> None:
    _publish(index, url, project)
    schema = schema_of(project)
    damaged = f"(SELECT id FROM {schema}.rag_chunk WHERE text LIKE '%refund%')"
    server.run(f"""UPDATE {schema}.rag_chunk SET tally = '{{"def": "NaN"}}' WHERE id IN {damaged}""", _database(url))
    with _read(url, project) as published:
        (found,) = published.lexical.search(["def"], 1)
        assert published.checkout.chunks.texts([found.row]) == {found.row: "def pay(): pass"}


class _Changing(Publisher):
    """A file is changed just after it was listed."""

    index: ProjectIndex

    def digests(self) -> dict[str, str]:
        _store(self.index, "src/a.py", ["def pay_twice(): pass"])
        return super().digests()


def test_a_file_that_changes_meanwhile_is_told(index: ProjectIndex, url: str, project: str) -> None:
    with contextlib.closing(_Changing(url, project)) as publisher:
        publisher.index = index
        published = Publishing(index, publisher).publish(STAMP)
    assert (published.changed, published.failed) == (1, {"src/a.py": "it was changed just now: publish again"})
    with _read(url, project) as there:
        assert there.publication() == replace(STAMP, model=MODEL, is_changing=True)


class _Known:
    """A server has all texts."""

    def __init__(self) -> None:
        self.lost: list[bytes] = []

    def add(self, model: str, text_hashes: Collection[bytes]) -> None:
        """Nothing is noted."""

    def among(self, model: str, text_hashes: Collection[bytes]) -> set[bytes]:
        return set(text_hashes)

    def remove(self, model: str, text_hashes: Collection[bytes]) -> None:
        self.lost += text_hashes


def test_nothing_is_published_without_vectors_that_cannot_be_read_now(
    index: ProjectIndex, url: str, project: str
) -> None:
    chunks = new_chunks(["def late(): pass"], path="src/late.py")
    index.checkout.replace_document(record("src/late.py"), chunks)
    index.checkout.embeddings.note_embedded([chunks[0].text_hash])
    away = PostgresProjectVectors("postgresql://127.0.0.1:1/x", project)
    served = ServedVectors(index.vectors, _Known(), away)
    with pytest.raises(StoreUnavailable, match=r"127.0.0.1:1/x cannot be reached"):
        _publish(replace(index, vectors=served, served=served), url, project)
    away.close()
    with _read(url, project) as published:
        assert published.publication() is None


class _Damaged(DictionaryVectors):
    """What it gives back is no vector."""

    def get(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
        return {each: np.zeros(8, np.float32) for each in text_hashes}

    def missing(self, model: str, text_hashes: Collection[bytes]) -> set[bytes]:
        return set()


def test_a_damaged_vector_is_told(index: ProjectIndex, url: str, project: str) -> None:
    with pytest.raises(StoreDamaged, match=r"a vector of this index is damaged: delete .rag-ls/index.db"):
        _publish(replace(index, vectors=_Damaged(), local=None), url, project)


def test_vectors_that_their_server_has_lost_are_told_and_made_anew(index: ProjectIndex, url: str, project: str) -> None:
    chunks = new_chunks(["def lost(): pass"], path="src/lost.py")
    index.checkout.replace_document(record("src/lost.py"), chunks)
    index.checkout.embeddings.note_embedded([chunks[0].text_hash])
    known = _Known()
    with contextlib.closing(PostgresProjectVectors(url, project)) as server:
        served = ServedVectors(index.vectors, known, server)
        with pytest.raises(InvalidRequest, match="this index has lost 1 vector: `rag-ls index` makes it whole again"):
            _publish(replace(index, vectors=served, served=served), url, project)
    assert known.lost == [chunks[0].text_hash]


def test_a_checkout_of_another_commit_meanwhile_is_not_stamped(index: ProjectIndex, url: str, project: str) -> None:
    current = iter([True, False])
    with (
        contextlib.closing(Publisher(url, project)) as publisher,
        pytest.raises(InvalidRequest, match="another commit was checked out meanwhile"),
    ):
        Publishing(index, publisher).publish(STAMP, is_current=lambda: next(current))
    with _read(url, project) as published:
        assert published.publication() is None


def test_a_publisher_that_lost_its_lock_goes_on_no_longer(
    index: ProjectIndex, server: Postgres, url: str, project: str
) -> None:
    with contextlib.closing(Publisher(url, project)) as publisher, publisher.alone():
        server.run(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = "
            "(SELECT oid FROM pg_database WHERE datname = current_database())",
            _database(url),
        )
        with pytest.raises(StoreUnavailable):
            publisher.finish(STAMP)
    with _read(url, project) as published:
        assert published.publication() is None


def test_nobody_drops_what_is_published_just_now(url: str, project: str) -> None:
    with (
        contextlib.closing(Publisher(url, project)) as publisher,
        contextlib.closing(PostgresProjects(url)) as projects,
    ):
        with publisher.alone(), pytest.raises(InvalidRequest, match=f"somebody publishes {project}"):
            projects.drop(project)
        projects.drop(project)


def _limited(server: Postgres, database: str, project: str, user: str, rights: str, *, vectors: str) -> str:
    """A URL for a user with rights on a project's tables, and others on those of its vectors."""
    if not server.run(f"SELECT 1 FROM pg_roles WHERE rolname = '{user}'"):
        server.run(f"CREATE ROLE {user} LOGIN PASSWORD 'looks on'")
    for name in ("rag_ls", schema_of(project)):
        server.run(f"GRANT USAGE ON SCHEMA {name} TO {user}", database)
        server.run(f"GRANT {rights} ON ALL TABLES IN SCHEMA {name} TO {user}", database)
    tables = server.run(
        f"SELECT tablename FROM pg_tables WHERE schemaname = '{schema_of(project)}' AND tablename LIKE 'rag_vector%'",
        database,
    )
    for (table,) in tables:
        server.run(f"REVOKE {rights} ON {schema_of(project)}.{table} FROM {user}", database)
        server.run(f"GRANT {vectors} ON {schema_of(project)}.{table} TO {user}", database)
    return server.url(database, user, "looks on")


def test_who_may_not_give_vectors_publishes_nothing_without_them(
    index: ProjectIndex, server: Postgres, project: str
) -> None:
    database = server.vector_database()
    _publish(index, server.url(database), project)
    limited = _limited(server, database, project, "writer", _GRANTED, vectors="SELECT")
    _store(index, "src/c.py", ["def other(): pass"])
    with pytest.raises(StoreReadOnly, match=r"does not take vectors of this user: docs/team.md has the grants"):
        _publish(index, limited, project)
    assert len(_texts(limited, project)) == 3
    assert _publish(index, server.url(database), project) == (1, 0)


def test_with_the_grants_of_the_documentation_one_publishes(
    index: ProjectIndex, server: Postgres, project: str, caplog: pytest.LogCaptureFixture
) -> None:
    database = server.vector_database()
    _publish(index, server.url(database), project)
    index.checkout.remove_documents(["src/b.py"])
    _store(index, "src/c.py", ["def other(): pass"])
    limited = _limited(server, database, project, "gardener", _GRANTED, vectors=_GRANTED)
    with contextlib.closing(Publisher(limited, project)) as publisher:
        # So few vectors need no index otherwise.
        publisher.vectors._indexed_from = 1
        published = Publishing(index, publisher).publish(STAMP)
    assert (published.changed, published.removed) == (1, 1)
    assert "all is published, but its vectors have no HNSW index yet" in caplog.text


def test_other_vectors_are_sent_when_the_model_changes(index: ProjectIndex, url: str, project: str) -> None:
    _publish(index, url, project)
    index.checkout.embeddings.activate("other@1")
    hashes = [digest(text) for text in ("def pay(): pass", "retry with backoff", "def refund(): pass")]
    put_vectors(index.checkout, "other@1", hashes, unit_vectors(3))
    assert _publish(index, url, project) == (2, 0)
    with _read(url, project) as published:
        assert published.checkout.active_model() == "other@1"
        assert published.vectors.missing("other@1", hashes) == set()


def test_a_reader_needs_no_right_to_write_and_uses_none(index: ProjectIndex, server: Postgres, project: str) -> None:
    database = server.vector_database()
    _publish(index, server.url(database), project)
    assert len(_texts(_limited(server, database, project, "onlooker", "SELECT", vectors="SELECT"), project)) == 3
    with (
        contextlib.closing(PublishedServer(server.url(database))) as owner,
        pytest.raises(StoreReadOnly, match="read-only transaction"),
        owner._server.transaction() as connection,
    ):
        connection.execute(f"DELETE FROM {schema_of(project)}.rag_file")


# --- the same as in the checkout

_WORDS = [
    "retry",
    "backoff",
    "getUserById",
    "naïve",
    "don't",
    "a\\b",
    "running",
    "runs",
    "42",
    "日本語",
    "_",
    "İx",
]
_TERMS = find_terms(" ".join(_WORDS))
_TEXTS = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=30).map(" ".join)
_FILES = st.lists(st.lists(st.tuples(_TEXTS, st.sampled_from(["", "Session.refresh", "pay"])), min_size=1, max_size=4),
                  min_size=1, max_size=4)  # fmt: skip


def _stored(files: list[list[tuple[str, str]]]) -> ProjectIndex:
    index = index_at(None)
    index.checkout.embeddings.activate(MODEL)
    for number, texts in enumerate(files):
        path = f"src/part{number}.py"
        chunks = [
            new_chunk(text, path=path, symbol=symbol, signature=symbol and f"def {symbol}(a)", ordinal=ordinal)
            for ordinal, (text, symbol) in enumerate(texts)
        ]
        symbols = tuple(Symbol(each, "function", 1, 2, f"def {each}", "", True) for _, each in texts if each)
        index.checkout.replace_document(record(path), chunks, outline=Outline(symbols))
        hashes = [chunk.text_hash for chunk in chunks]
        put_vectors(index.checkout, MODEL, hashes, unit_vectors(len(hashes), seed=number))
    return index


def _answers(index: SearchedIndex) -> dict[str, object]:
    """All that a search reads, without the row numbers."""
    chunks, outlines = index.checkout.chunks, index.checkout.outlines
    paths = {number: path for number, path, _, _ in index.checkout.document_paths()}
    ranked = {row.row: row for row in chunks.for_ranking([each.row for each in index.lexical.search(_TERMS, 100)])}
    uids = {row: each.stored.id for row, each in chunks.by_row(chunks.first_of(list(paths), 1000)).items()}

    def found(*terms: str, **more: Sequence[str]) -> list[tuple[str, float]]:
        values = index.lexical.search(terms, 100, **more)  # type: ignore[arg-type]
        return sorted((uids[each.row], round(each.value, 4)) for each in values)

    document = index.checkout.document("src/part0.py")
    assert document is not None
    hashes = sorted(chunks.text_hashes_of_documents(list(paths)))
    return {
        "paths": sorted(paths.values()),
        "ranked": sorted((uids[row], each.path, *each[3:6], bool(each[6]), *each[7:]) for row, each in ranked.items()),
        "texts": sorted(chunks.texts(ranked).values()),
        "said": [found(word) for word in ("retry", "getuserbyid", "user", "naive", "run", "don", "日本語")],
        "several": found("retry", "backoff", "user"),
        "held": found("retry", "backoff", holding=["backoff"]),
        "phrase": sorted(uid for uid, _ in found("retry backoff")),
        "frequencies": [index.lexical.frequencies(("retry", "nothing"), most) for most in (1, 50)],
        "alike": sorted(index.lexical.terms_like("retri")),
        "named": sorted((uids[row], name, declares) for row, name, declares in chunks.named(["refresh", "pay"], 50)),
        "pieces": sorted((uids[row], [each.stored for each in run]) for row, run in chunks.pieces(uids).items()),
        "at": (at := chunks.at(document.id, 1)) and at.stored,
        "first": [uids[row] for row in chunks.first_of([document.id], 2)],
        "by text": sorted((each.path, each.symbol, each.text_hash) for each in chunks.with_texts(hashes)),
        "documents": sorted((uids[row], paths[number]) for row, number in chunks.documents_of(ranked).items()),
        "names": outlines.last_names("re", 10),
        "declared": sorted((uids[row], each.symbol) for row, each in outlines.in_chunks(["refresh", "pay"], 50)),
        "symbols": sorted((each.path, each.symbol, each.kind) for each in outlines.of_documents(list(paths), 100)),
        "near": sorted(each.text_hash for each in index.vectors.nearest(MODEL, unit_vectors(1)[0], 100)),
    }  # fmt: skip


@pytest.mark.slow
@given(files=_FILES)
@settings(max_examples=scale_examples(25))
def test_a_search_reads_the_same_as_in_the_checkout(files: list[list[tuple[str, str]]], url: str) -> None:
    name = f"parity{next(_NUMBERS)}"
    with contextlib.closing(_stored(files)) as index:
        _publish(index, url, name)
        with _read(url, name) as published:
            assert _answers(published) == _answers(index)


def test_a_nul_is_replaced_because_postgresql_holds_none(index: ProjectIndex, url: str, project: str) -> None:
    _store(index, "src/a.py", ["retry x\0y"])
    _publish(index, url, project)
    assert "retry x\ufffdy" in _texts(url, project)


def test_it_has_no_unsaved_text(index: ProjectIndex, url: str, project: str) -> None:
    _publish(index, url, project)
    with _read(url, project) as published:
        assert published.checkout.unsaved_documents() == []
        assert published.checkout.documents("session") == {}
        assert published.checkout.document("src/a.py", "session") is None
        assert set(published.checkout.documents(DISK)) == {"src/a.py", "src/b.py"}
