"""A project's vectors on PostgreSQL with pgvector, searched there, and what they meet."""

from __future__ import annotations

import contextlib
import functools
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psycopg
import pytest

from rag_ls.errors import NotFound, StoreFull, StoreUnavailable
from rag_ls.storage.postgres.project_vectors import PostgresProjectVectors, table_of
from rag_ls.storage.postgres.schema import PostgresProjects, schema_of
from tests.storage.postgres.servers import Postgres, postgres
from tests.support import at_once, digest, unit_vectors

MODEL, PROJECT = "model@1", "github.com/acme/shop"


@pytest.fixture
def database(server: Postgres) -> str:
    return server.vector_database()


@pytest.fixture
def vectors(server: Postgres, database: str) -> Iterator[PostgresProjectVectors]:
    store = PostgresProjectVectors(server.url(database), PROJECT)
    yield store
    store.close()


def _hashes(*texts: object) -> list[bytes]:
    return [digest(str(text)) for text in texts]


def test_projects_of_one_database_see_nothing_of_each_other(
    server: Postgres, database: str, vectors: PostgresProjectVectors
) -> None:
    vectors.put(MODEL, _hashes("mine"), unit_vectors(1, 16))
    other = PostgresProjectVectors(server.url(database), "github.com/acme/other")
    assert other.missing(MODEL, _hashes("mine")) == set(_hashes("mine"))
    assert other.nearest(MODEL, unit_vectors(1, 16)[0], 5) == []
    other.put(MODEL, _hashes("theirs"), unit_vectors(1, 8))
    assert [each.text_hash for each in vectors.nearest(MODEL, unit_vectors(1, 16)[0], 5)] == _hashes("mine")
    other.close()


@pytest.mark.parametrize(
    ("first", "second"),
    [("a/b", "a-b"), ("Shop", "shop"), ("x" * 100, "x" * 101), ("größe", "gr"), ("'; DROP SCHEMA public; --", "drop")],
)
def test_every_project_has_a_schema_of_its_own_whatever_its_name(first: str, second: str) -> None:
    assert schema_of(first) != schema_of(second)
    for name in (first, second):
        assert schema_of(name).replace("_", "").isalnum()
        assert schema_of(name).isascii()
        assert len(schema_of(name)) < 63


@pytest.mark.slow
def test_the_index_is_used_for_many_vectors_and_finds_what_an_exact_search_finds(
    server: Postgres, database: str
) -> None:
    store = PostgresProjectVectors(server.url(database), PROJECT, indexed_from=3000)
    many, query = unit_vectors(4000, 32), unit_vectors(1, 32, seed=5)[0]
    store.put(MODEL, _hashes(*range(2000)), many[:2000])
    store.maintain()
    assert _indexes(server, database) == []
    store.put(MODEL, _hashes(*range(2000, 4000)), many[2000:])
    store.maintain()
    store.maintain()
    assert _indexes(server, database) == [f"{table_of(MODEL)}_hnsw"]
    exact = {digest(str(number)) for number in np.argsort(-(many @ query))[:10]}
    assert len({each.text_hash for each in store.nearest(MODEL, query, 10)} & exact) >= 9
    # More than are sent with a question: what is found is chosen here.
    allowed = _hashes(*range(0, 4000, 2))
    among = [*allowed, *_hashes(*(f"unknown {number}" for number in range(20_000)))]
    best = {digest(str(number)) for number in np.argsort(-(many[::2] @ query))[:10] * 2}
    assert len({each.text_hash for each in store.nearest(MODEL, query, 10, among)} & best) >= 9
    store.close()


def _indexes(server: Postgres, database: str) -> list[str]:
    rows = server.run("SELECT indexname FROM pg_indexes WHERE indexname LIKE '%hnsw' ORDER BY 1", database)
    return [str(row[0]) for row in rows]


def test_an_index_that_was_not_finished_is_made_anew(server: Postgres, database: str) -> None:
    store = PostgresProjectVectors(server.url(database), PROJECT, indexed_from=100)
    store.put(MODEL, _hashes(*range(200)), unit_vectors(200, 16))
    store.maintain()
    valid = "UPDATE pg_index SET indisvalid = {} WHERE indexrelid = '{}.{}_hnsw'::regclass"
    server.run(valid.format("false", schema_of(PROJECT), table_of(MODEL)), database)
    store.maintain()
    assert server.run("SELECT indisvalid FROM pg_index WHERE indexrelid::regclass::text LIKE '%hnsw'", database) == [
        (True,)
    ]
    store.close()


def test_a_database_without_pgvector_says_what_to_do(server: Postgres) -> None:
    store = PostgresProjectVectors(server.url(server.database()), PROJECT)
    assert store.get(MODEL, _hashes("one")) == {}, "asking makes nothing"
    with pytest.raises(StoreUnavailable, match="CREATE EXTENSION vector in that database"):
        store.put(MODEL, _hashes("one"), unit_vectors(1, 16))
    store.close()


def test_a_newer_schema_is_left_alone(server: Postgres, database: str, vectors: PostgresProjectVectors) -> None:
    vectors.put(MODEL, _hashes("one"), unit_vectors(1, 16))
    server.run(f"UPDATE {schema_of(PROJECT)}.rag_meta SET value = '99'", database)
    late = PostgresProjectVectors(server.url(database), PROJECT)
    with pytest.raises(StoreUnavailable, match="made by a newer rag-ls"):
        late.nearest(MODEL, unit_vectors(1, 16)[0], 1)
    late.close()


def test_a_model_of_another_dimension_is_refused(vectors: PostgresProjectVectors) -> None:
    vectors.put(MODEL, _hashes("one"), unit_vectors(1, 16))
    with pytest.raises(StoreUnavailable, match="vectors of 16 numbers for model@1, this machine makes 8"):
        vectors.put(MODEL, _hashes("two"), unit_vectors(1, 8))


def test_a_user_who_may_only_read_finds_and_puts_nothing(
    server: Postgres, database: str, vectors: PostgresProjectVectors
) -> None:
    vectors.put(MODEL, _hashes("one"), unit_vectors(1, 16))
    server.run("DROP ROLE IF EXISTS looker")
    server.run("CREATE ROLE looker LOGIN PASSWORD 'r'")
    schema = schema_of(PROJECT)
    server.run(f"GRANT USAGE ON SCHEMA {schema} TO looker", database)
    server.run(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO looker", database)
    looker = PostgresProjectVectors(server.url(database, "looker", "r"), PROJECT)
    assert len(looker.nearest(MODEL, unit_vectors(1, 16)[0], 5)) == 1
    looker.put(MODEL, _hashes("two"), unit_vectors(1, 16))
    assert vectors.missing(MODEL, _hashes("two")) == set(_hashes("two"))
    looker.close()
    server.run("DROP OWNED BY looker", database)


def test_two_who_fill_one_project_at_once_make_one_set(server: Postgres, database: str) -> None:
    stores = [PostgresProjectVectors(server.url(database), PROJECT) for _ in range(4)]

    def fill(store: PostgresProjectVectors, number: int) -> None:
        for part in range(4):
            texts = np.random.default_rng(number).permutation(100) + 100 * part
            store.put(MODEL, _hashes(*texts), unit_vectors(100, 16))

    assert at_once(functools.partial(fill, store, number) for number, store in enumerate(stores)) == []
    assert stores[0].missing(MODEL, _hashes(*range(400))) == set()
    with psycopg.connect(server.url(database)) as connection:
        count = connection.execute(f"SELECT count(*) FROM {schema_of(PROJECT)}.{table_of(MODEL)}").fetchone()
    assert count == (400,)
    for store in stores:
        store.close()


@pytest.mark.slow
def test_a_server_that_is_killed_while_it_is_filled_has_whole_batches(tmp_path_factory: pytest.TempPathFactory) -> None:
    with postgres(tmp_path_factory.mktemp("killed")) as server:
        store = PostgresProjectVectors(server.url(server.vector_database()), PROJECT)
        made = unit_vectors(5000, 64)
        done = 0
        killer = threading.Timer(0.5, server.kill)
        killer.start()
        with contextlib.suppress(StoreUnavailable):
            while True:
                texts = [f"{done} {number}" for number in range(5000)]
                store.put(MODEL, _hashes(*texts), made)
                done += 1
        killer.join()
        server.start()
        for batch in range(done + 1):
            missing = store.missing(MODEL, _hashes(*(f"{batch} {number}" for number in range(5000))))
            assert len(missing) in ({0} if batch < done else {0, 5000}), batch
        store.put(MODEL, _hashes("after"), made[:1])
        assert store.missing(MODEL, _hashes("after")) == set()
        store.close()


@pytest.fixture
def small_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A disk of 24 MB, on which a database has room for some more."""
    place = tmp_path_factory.mktemp("small")
    # The server's user must get there.
    for folder in (place, *place.parents[:2]):
        folder.chmod(0o755)
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("file systems cannot be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.slow
def test_a_server_whose_disk_is_full_says_so_and_has_whole_batches(
    tmp_path_factory: pytest.TempPathFactory, small_disk: Path
) -> None:
    with postgres(tmp_path_factory.mktemp("full")) as server:
        store = PostgresProjectVectors(server.url(server.database_on(small_disk)), PROJECT)
        made = unit_vectors(2000, 384)
        done: list[int] = []

        def fill() -> None:
            for batch in range(100):
                store.put(MODEL, _hashes(*(f"{batch} {number}" for number in range(2000))), made)
                done.append(batch)

        with pytest.raises(StoreFull, match=r"disk of .* is full"):
            fill()
        batches = len(done)
        assert batches
        for batch in range(batches + 1):
            missing = store.missing(MODEL, _hashes(*(f"{batch} {number}" for number in range(2000))))
            assert len(missing) == (0 if batch < batches else 2000)
        subprocess.run(["mount", "-o", "remount,size=100m", str(small_disk)], check=True)
        store.put(MODEL, _hashes(*(f"{batches} {number}" for number in range(2000))), made)
        assert store.missing(MODEL, _hashes(f"{batches} 7")) == set()
        store.close()


def test_projects_are_listed_and_dropped_with_all_that_they_hold(
    server: Postgres, database: str, vectors: PostgresProjectVectors
) -> None:
    admin = PostgresProjects(server.url(database))
    assert admin.all() == []
    vectors.put(MODEL, _hashes(*range(50)), unit_vectors(50, 16))
    other = PostgresProjectVectors(server.url(database), "other")
    other.put(MODEL, _hashes("one"), unit_vectors(1, 16))
    assert [project.name for project in admin.all()] == [PROJECT, "other"]
    assert all(project.bytes > 0 for project in admin.all())
    admin.drop(PROJECT)
    assert [project.name for project in admin.all()] == ["other"]
    assert vectors.__class__(server.url(database), PROJECT).missing(MODEL, _hashes(0)) == set(_hashes(0))
    with pytest.raises(NotFound, match=r"has no project 'github\.com/acme/shop'"):
        admin.drop(PROJECT)
    other.close()
    admin.close()


def test_a_project_that_was_dropped_meanwhile_is_made_anew_and_models_are_not_mixed(
    server: Postgres, database: str, vectors: PostgresProjectVectors
) -> None:
    vectors.put(MODEL, _hashes("one"), unit_vectors(1, 16))
    admin, other = PostgresProjects(server.url(database)), PostgresProjectVectors(server.url(database), PROJECT)
    admin.drop(PROJECT)
    with pytest.raises(StoreUnavailable, match="has lost this project"):
        vectors.nearest(MODEL, unit_vectors(1, 16)[0], 5)
    other.put("other@2", _hashes("two"), unit_vectors(1, 16))
    assert vectors.nearest(MODEL, unit_vectors(1, 16)[0], 5) == []
    vectors.put(MODEL, _hashes("three"), unit_vectors(1, 16))
    assert [each.text_hash for each in vectors.nearest(MODEL, unit_vectors(1, 16)[0], 5)] == _hashes("three")
    other.close()
    admin.close()


def test_what_a_colleague_writes_into_the_list_drops_nothing_else(
    server: Postgres, database: str, vectors: PostgresProjectVectors
) -> None:
    vectors.put(MODEL, _hashes("one"), unit_vectors(1, 16))
    server.run("CREATE TABLE public.precious (x int)", database)
    evil = "rag_ls CASCADE; DROP TABLE public.precious; --"
    server.run(f"INSERT INTO rag_ls.rag_project (schema, name) VALUES ('{evil}', 'old')", database)
    server.run(f"INSERT INTO rag_ls.rag_project (schema, name) VALUES ('{schema_of('x')}', '{PROJECT}')", database)
    admin = PostgresProjects(server.url(database))
    assert [project.name for project in admin.all()] == [PROJECT]
    with pytest.raises(NotFound):
        admin.drop("old")
    admin.drop(PROJECT)
    assert server.run("SELECT count(*) FROM public.precious", database) == [(0,)]
    admin.close()


def test_who_may_make_a_schema_but_not_change_ours_makes_a_second_project(server: Postgres, database: str) -> None:
    first = PostgresProjectVectors(server.url(database), PROJECT)
    first.put(MODEL, _hashes("one"), unit_vectors(1, 16))
    server.run("DROP ROLE IF EXISTS colleague")
    server.run("CREATE ROLE colleague LOGIN PASSWORD 'c'")
    server.run(f"GRANT CREATE ON DATABASE {database} TO colleague", database)
    server.run("GRANT USAGE ON SCHEMA rag_ls TO colleague", database)
    server.run("GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA rag_ls TO colleague", database)
    second = PostgresProjectVectors(server.url(database, "colleague", "c"), "github.com/acme/second")
    second.put(MODEL, _hashes("one"), unit_vectors(1, 16))
    assert second.missing(MODEL, _hashes("one")) == set()
    first.close()
    second.close()
    server.run("DROP OWNED BY colleague CASCADE", database)


@pytest.mark.slow
def test_what_many_projects_of_one_database_hold_is_not_mixed(server: Postgres, database: str) -> None:
    for number in range(30):
        store = PostgresProjectVectors(server.url(database), f"project {number}")
        store.put(MODEL, _hashes(number), unit_vectors(1, 16, seed=number))
        found = store.nearest(MODEL, unit_vectors(1, 16)[0], 5)
        assert [each.text_hash for each in found] == _hashes(number)
        store.close()
    admin = PostgresProjects(server.url(database))
    assert len(admin.all()) == 30
    admin.close()
