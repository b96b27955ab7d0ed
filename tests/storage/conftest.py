"""An empty database of the PostgreSQL server that all tests share."""

from __future__ import annotations

import pytest

from tests.storage.postgres.servers import Postgres


@pytest.fixture
def database(server: Postgres) -> str:
    """An empty database."""
    return server.database()
