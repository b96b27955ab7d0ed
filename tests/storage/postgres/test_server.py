"""Connections to a PostgreSQL server."""

from __future__ import annotations

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from rag_ls.errors import StoreUnavailable
from rag_ls.storage.postgres.server import PostgresServer
from tests.storage.postgres.servers import Postgres


def test_a_statement_that_reads_is_no_transaction_and_the_next_one_is_as_ever(server: Postgres) -> None:
    client = PostgresServer(server.url(server.database()), "a store")
    with client.reading() as connection:
        connection.execute("SELECT 1")
        assert connection.info.transaction_status == TransactionStatus.IDLE
    with pytest.raises(StoreUnavailable), client.reading() as connection:
        connection.execute("SELECT 1 / 0")
    with client.transaction() as connection:
        connection.execute("CREATE TABLE kept (number int)")
        assert connection.info.transaction_status == TransactionStatus.INTRANS
    with pytest.raises(StoreUnavailable):
        _write_and_fail(client)
    with client.reading() as connection:
        assert connection.execute("SELECT * FROM kept").fetchall() == []
    client.close()


def _write_and_fail(client: PostgresServer) -> None:
    with client.transaction() as connection:
        connection.execute("INSERT INTO kept VALUES (1)")
        raise psycopg.OperationalError("the machine goes to sleep")
