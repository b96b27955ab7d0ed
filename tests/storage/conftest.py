"""One PostgreSQL server for all tests of stores."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.storage.postgres.servers import Postgres, postgres


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """A running PostgreSQL."""
    with postgres(tmp_path_factory.mktemp("postgres")) as found:
        yield found


@pytest.fixture
def database(server: Postgres) -> str:
    """An empty database."""
    return server.database()
