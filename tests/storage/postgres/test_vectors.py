"""Vectors that a team shares on PostgreSQL, and what it meets there."""

from __future__ import annotations

import functools
import random
import threading
from collections.abc import Iterator

import numpy as np
import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_ls.config.engine_settings import StoreSettings
from rag_ls.errors import StoreUnavailable
from rag_ls.storage import SharedVectors, open_shared_vectors
from rag_ls.storage.postgres.shared import PostgresVectors
from tests.storage.postgres.servers import Postgres, postgres
from tests.support import at_once, digest, scale_examples, unit_vectors

MODEL, OTHER = "model@1", "model@2"


@pytest.fixture
def vectors(server: Postgres, database: str) -> Iterator[PostgresVectors]:
    store = PostgresVectors(server.url(database))
    yield store
    store.close()


def _hashes(*texts: str) -> list[bytes]:
    return [digest(text) for text in texts]


def test_a_colleague_gets_what_was_put_and_nothing_of_another_model(
    server: Postgres, database: str, vectors: PostgresVectors
) -> None:
    hashes, made = _hashes("one", "two"), unit_vectors(2, 16)
    vectors.put(MODEL, hashes, made)
    colleague = PostgresVectors(server.url(database))
    found = colleague.get(MODEL, [*hashes, digest("three")])
    assert set(found) == set(hashes)
    assert np.allclose([found[text_hash] for text_hash in hashes], made, atol=1e-3)
    assert colleague.missing(MODEL, [*hashes, digest("three")]) == {digest("three")}
    assert colleague.get(OTHER, hashes) == {}
    colleague.close()


def test_what_is_there_is_not_replaced(vectors: PostgresVectors) -> None:
    first, second = unit_vectors(2, 16)
    vectors.put(MODEL, _hashes("one"), first[None])
    vectors.put(MODEL, _hashes("one"), second[None])
    assert np.allclose(vectors.get(MODEL, _hashes("one"))[digest("one")], first, atol=1e-3)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 0.0, 3.0])
def test_vectors_that_would_spoil_searches_are_refused_and_none_is_stored(
    vectors: PostgresVectors, wrong: float
) -> None:
    made = unit_vectors(2, 16)
    made[1] *= wrong
    with pytest.raises(ValueError, match="length one"):
        vectors.put(MODEL, _hashes("one", "two"), made)
    assert vectors.missing(MODEL, _hashes("one", "two")) == set(_hashes("one", "two"))


@pytest.mark.parametrize("stored", [b"", b"\0" * 32, b"\xff" * 32, np.ones(4, np.float16).tobytes(), b"odd"])
def test_what_somebody_else_damaged_is_left_out(
    server: Postgres, database: str, vectors: PostgresVectors, stored: bytes
) -> None:
    vectors.put(MODEL, _hashes("one", "two"), unit_vectors(2, 16))
    with psycopg.connect(server.url(database)) as connection:
        connection.execute("UPDATE rag_ls.rag_vector SET vector = %s WHERE text_hash = %s", (stored, digest("one")))
    assert set(vectors.get(MODEL, _hashes("one", "two"))) == {digest("two")}


def test_a_model_of_another_dimension_is_refused(vectors: PostgresVectors) -> None:
    vectors.put(MODEL, _hashes("one"), unit_vectors(1, 16))
    with pytest.raises(StoreUnavailable, match="vectors of 16 numbers for model@1, this machine makes 8"):
        vectors.put(MODEL, _hashes("two"), unit_vectors(1, 8))


@settings(max_examples=scale_examples(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.integers(0, 30), max_size=20), max_size=5))
def test_many_puts_are_one_set(server: Postgres, puts: list[list[int]]) -> None:
    store = PostgresVectors(server.url(server.database()))
    made = unit_vectors(31, 8)
    try:
        for numbers in puts:
            distinct = list(dict.fromkeys(numbers))
            store.put(MODEL, [digest(str(number)) for number in distinct], made[distinct])
        everything = [digest(str(number)) for number in range(31)]
        expected = {digest(str(number)) for numbers in puts for number in numbers}
        assert set(store.get(MODEL, everything)) == expected
        assert store.missing(MODEL, everything) == set(everything) - expected
    finally:
        store.close()


def test_two_users_who_come_first_at_once_make_the_tables_once(server: Postgres, database: str) -> None:
    stores = [PostgresVectors(server.url(database)) for _ in range(6)]

    def fill(store: SharedVectors, number: int) -> None:
        for part in range(5):
            texts = [f"{part} {text}" for text in range(50)]
            random.Random(number).shuffle(texts)
            store.put(MODEL, _hashes(*texts), unit_vectors(50, 16))

    assert at_once(functools.partial(fill, store, number) for number, store in enumerate(stores)) == []
    with psycopg.connect(server.url(database)) as connection:
        assert connection.execute("SELECT count(*) FROM rag_ls.rag_vector").fetchone() == (250,)
    for store in stores:
        store.close()


@pytest.mark.slow
def test_a_batch_that_the_server_does_not_survive_is_not_half_there(server: Postgres, database: str) -> None:
    store = PostgresVectors(server.url(database))
    store.put(MODEL, _hashes("before"), unit_vectors(1, 16))
    hashes = _hashes(*map(str, range(20_000)))

    def kill_backends() -> None:
        while not done.is_set():
            for (pid,) in server.run(
                "SELECT pid FROM pg_stat_activity WHERE application_name = 'rag-ls' AND state = 'active'"
            ):
                server.run(f"SELECT pg_terminate_backend({pid})")

    done = threading.Event()
    killer = threading.Thread(target=kill_backends)
    killer.start()
    with pytest.raises(StoreUnavailable):
        store.put(MODEL, hashes, unit_vectors(20_000, 16))
    done.set()
    killer.join()
    assert store.missing(MODEL, hashes) == set(hashes)
    store.put(MODEL, hashes, unit_vectors(20_000, 16))
    assert store.missing(MODEL, [*hashes, digest("before")]) == set()
    store.close()


@pytest.mark.parametrize(
    ("user", "password", "words"),
    [("teammate", "wrong", "refuses the user or the password"), ("nobody", "x", "refuses the user or the password")],
)
def test_who_is_not_let_in_is_told_so_without_the_password(
    server: Postgres, database: str, user: str, password: str, words: str
) -> None:
    store = PostgresVectors(server.url(database, user, f"{password} secret"))
    with pytest.raises(StoreUnavailable, match=words) as refused:
        store.missing(MODEL, _hashes("one"))
    assert "secret" not in str(refused.value)
    assert "secret" not in store.place
    store.close()


def test_a_user_who_may_only_read_reads_what_is_there(
    server: Postgres, database: str, vectors: PostgresVectors
) -> None:
    vectors.put(MODEL, _hashes("one"), unit_vectors(1, 16))
    server.run("DROP ROLE IF EXISTS reader")
    server.run("CREATE ROLE reader LOGIN PASSWORD 'r'")
    for statement in (
        "GRANT USAGE ON SCHEMA rag_ls TO reader",
        "GRANT SELECT ON ALL TABLES IN SCHEMA rag_ls TO reader",
    ):
        server.run(statement, database)
    reader = PostgresVectors(server.url(database, "reader", "r"))
    assert set(reader.get(MODEL, _hashes("one"))) == set(_hashes("one"))
    for _ in range(2):
        reader.put(MODEL, _hashes("two"), unit_vectors(1, 16))
    assert vectors.missing(MODEL, _hashes("two")) == set(_hashes("two"))
    reader.close()
    server.run("DROP OWNED BY reader", database)


def test_a_newer_schema_is_left_alone(server: Postgres, database: str, vectors: PostgresVectors) -> None:
    vectors.put(MODEL, _hashes("one"), unit_vectors(1, 16))
    with psycopg.connect(server.url(database)) as connection:
        connection.execute("UPDATE rag_ls.rag_meta SET value = '99' WHERE key = 'vectors_schema'")
    store = PostgresVectors(server.url(database))
    with pytest.raises(StoreUnavailable, match="made by a newer rag-ls"):
        store.get(MODEL, _hashes("one"))
    store.close()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mysql://x", "no store that is known"), ("postgresql://%zz", "no URL of PostgreSQL"),
        ("postgresql://x:hush@127.0.0.1:1/y", "127.0.0.1:1/y cannot be reached"),
    ],
)  # fmt: skip
def test_what_is_no_server_is_told_in_words(url: str, words: str) -> None:
    def ask() -> None:
        if found := open_shared_vectors(StoreSettings(url=url)):
            found.missing(MODEL, _hashes("one"))

    with pytest.raises(StoreUnavailable, match=words) as refused:
        ask()
    assert "hush" not in str(refused.value)


def test_without_a_store_nothing_is_shared() -> None:
    assert open_shared_vectors(StoreSettings()) is None


@pytest.mark.slow
def test_a_server_that_goes_down_is_used_again_when_it_is_back(tmp_path_factory: pytest.TempPathFactory) -> None:
    with postgres(tmp_path_factory.mktemp("falling")) as server:
        store = PostgresVectors(server.url(server.database()))
        store.put(MODEL, _hashes("one"), unit_vectors(1, 16))
        server.kill()
        for _ in range(2):
            with pytest.raises(StoreUnavailable):
                store.missing(MODEL, _hashes("one"))
        server.start()
        assert store.missing(MODEL, _hashes("one", "two")) == {digest("two")}
        store.close()


def test_who_may_not_make_the_tables_is_told_which_page_has_the_grants(server: Postgres, database: str) -> None:
    server.run("DROP ROLE IF EXISTS guest")
    server.run("CREATE ROLE guest LOGIN PASSWORD 'g'")
    store = PostgresVectors(server.url(database, "guest", "g"))
    with pytest.raises(StoreUnavailable, match=r"docs/team.md has the grants"):
        store.missing(MODEL, _hashes("one"))
    store.close()
