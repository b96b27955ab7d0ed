"""A store behind PgBouncer that pools transactions: sessions keep nothing there, so nothing may rely on them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest

from rag_ls.errors import InvalidRequest, StoreReadOnly
from rag_ls.storage.postgres.project_vectors import PostgresProjectVectors, table_of
from rag_ls.storage.postgres.publication import STORE, Publisher
from rag_ls.storage.postgres.server import PostgresServer
from rag_ls.storage.records import PublishedFile
from tests.storage.postgres.servers import Postgres
from tests.support import at_once, digest, unit_vectors, until

MODEL = "model@1"
_PORT = 6432
_SETTINGS = """[databases]
* = host={server}
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
listen_port = {port}
auth_type = trust
auth_file = {folder}/users.txt
pool_mode = transaction
default_pool_size = 4
logfile = {folder}/log
pidfile = {folder}/pid
{more}
"""


@pytest.fixture(params=["", "ignore_startup_parameters = options"], ids=["refuses settings", "drops settings"])
def pooled_url(server: Postgres, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a database with pgvector behind a pooler, which refuses or drops the settings of a session."""
    program = shutil.which("pgbouncer") or shutil.which("/usr/sbin/pgbouncer")
    if program is None:
        pytest.skip("needs PgBouncer (Debian: pgbouncer)")
    database = server.vector_database()
    folder = tmp_path / "pooler"
    folder.mkdir()
    (folder / "users.txt").write_text('"teammate" "correct horse"\n')
    text = _SETTINGS.format(server=server.socket.parent, folder=folder, port=_PORT, more=request.param)
    (folder / "settings.ini").write_text(text)
    as_user: list[str] = []
    if os.getuid() == 0:
        # It refuses to run as root. The folders above are pytest's, which lets their owner alone in.
        user = server.socket.owner()
        for each in (folder, *folder.iterdir()):
            shutil.chown(each, user)
        for parent in (each for each in folder.parents if not each.stat().st_mode & 0o001):
            parent.chmod(parent.stat().st_mode | 0o001)
        as_user = ["-u", user]
    process = subprocess.Popen([program, *as_user, str(folder / "settings.ini")], stderr=subprocess.DEVNULL)
    url = f"postgresql://teammate@/{database}?host={folder}&port={_PORT}"
    try:
        assert until(lambda: _answers(url)), (folder / "log").read_text()
        yield url
    finally:
        process.kill()
        process.wait()


def _answers(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


@pytest.mark.slow
def test_each_transaction_has_our_limits_and_no_other_s(pooled_url: str) -> None:
    writer, reader = PostgresServer(pooled_url, STORE), PostgresServer(pooled_url, STORE, read_only=True)
    with writer.transaction() as one, reader.transaction() as other:
        shown = [each.execute("SHOW statement_timeout").fetchone() for each in (one, other)]
        assert shown == [("30s",), ("10s",)]
    with pytest.raises(StoreReadOnly), reader.transaction() as connection:
        connection.execute("CREATE TABLE mine (a int)")
    with psycopg.connect(pooled_url) as stranger:
        assert stranger.execute("SHOW statement_timeout").fetchone() == ("0",)
    for each in (writer, reader):
        each.close()


@pytest.mark.slow
def test_two_projects_are_published_at_once_and_each_by_one_client_alone(pooled_url: str) -> None:
    publishers = {name: Publisher(pooled_url, f"github.com/acme/{name}") for name in ("shop", "zoo")}
    paths = {name: [f"{name}/{number}.py" for number in range(60)] for name in publishers}

    def publish(name: str) -> None:
        with publishers[name].alone():
            for start in range(0, 60, 10):
                files = [PublishedFile(path, "python", 1, path, (), ()) for path in paths[name][start : start + 10]]
                assert publishers[name].put(files) == {}

    assert at_once(partial(publish, name) for name in publishers) == []
    assert {name: sorted(each.digests()) for name, each in publishers.items()} == {
        name: sorted(each) for name, each in paths.items()
    }
    second = Publisher(pooled_url, "github.com/acme/shop")
    with (
        publishers["shop"].alone(),
        pytest.raises(InvalidRequest, match=r"somebody else publishes github.com/acme/shop"),
        second.alone(),
    ):
        pytest.fail("two publish one project")
    with second.alone():
        second.remove(paths["shop"][:1])
    assert len(second.digests()) == 59
    for each in (*publishers.values(), second):
        each.close()


@pytest.mark.slow
def test_vectors_are_stored_indexed_once_and_found(pooled_url: str) -> None:
    stores = [PostgresProjectVectors(pooled_url, "github.com/acme/shop", indexed_from=1000) for _ in range(2)]
    many = unit_vectors(2000, 32)
    stores[0].put(MODEL, [digest(str(number)) for number in range(2000)], many)
    assert at_once(each.maintain for each in stores) == []
    with psycopg.connect(pooled_url) as connection:
        found = connection.execute("SELECT indexname FROM pg_indexes WHERE indexname LIKE '%hnsw'").fetchall()
    assert found == [(f"{table_of(MODEL)}_hnsw",)]
    assert [stores[1].nearest(MODEL, many[7], 1)[0].text_hash for _ in range(10)] == [digest("7")] * 10
    for each in stores:
        each.close()
