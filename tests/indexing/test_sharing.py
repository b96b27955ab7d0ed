"""A team that shares its vectors on a real PostgreSQL: the second user embeds nothing, unsaved text stays at home."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from rag_ls.embedding import EMBEDDED_TEXTS
from rag_ls.engine.client import Client, local_client
from rag_ls.engine.project_view import ProjectView
from rag_ls.indexing import Buffer
from tests.storage.postgres.servers import Postgres, postgres
from tests.support import PATIENCE_S, SHOP, until, write


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """A running PostgreSQL."""
    with postgres(tmp_path_factory.mktemp("team")) as found:
        yield found


@pytest.fixture
def url(server: Postgres, monkeypatch: pytest.MonkeyPatch) -> str:
    """The team's store, which all users of the test have."""
    found = server.url(server.database())
    monkeypatch.setenv("RAG_LS_STORE_URL", found)
    return found


@contextmanager
def user(home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Client, ProjectView]]:
    """A user with an own home, whose clone is indexed."""
    monkeypatch.setenv("RAG_LS_HOME", str(home))
    client = local_client("cli")
    try:
        view = client.open(folder)
        view.keep_indexed()
        assert view.indexing.wait_until_idle(PATIENCE_S)
        yield client, view
    finally:
        client.close()


def _shared(url: str) -> int:
    with psycopg.connect(url) as connection:
        (count,) = connection.execute("SELECT count(*) FROM rag_ls.rag_vector").fetchone() or (0,)
    return int(count)


def test_a_second_user_with_an_own_home_and_clone_embeds_nothing(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Fewer texts than eight are embedded faster than asked for.
    files = {
        **SHOP,
        **{f"src/part_{number}.py": f"def part_{number}():\n    return {number}\n" for number in range(12)},
    }
    first, second = write(tmp_path / "first", files), write(tmp_path / "elsewhere" / "clone", files)
    with user(tmp_path / "home1", first, monkeypatch) as (client, view):
        embedded = client.engine.counts[EMBEDDED_TEXTS]
        assert embedded >= 16
        assert _shared(url) == embedded
        assert view.indexing.share_problem == ""
    with user(tmp_path / "home2", second, monkeypatch) as (client, view):
        assert client.engine.counts[EMBEDDED_TEXTS] == 0
        assert view.status().complete
        write(second, {"src/mine.py": "def my_own_thing():\n    return 'new'\n"})
        view.indexing.index_tree()
        assert until(lambda: _shared(url) == embedded + 1)
        assert client.engine.counts[EMBEDDED_TEXTS] == 1


def test_neither_vectors_nor_hashes_of_unsaved_text_leave(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path / "shop", SHOP)
    with user(tmp_path / "home", folder, monkeypatch) as (client, view):
        before = _shared(url)
        text = (folder / "src/cart.py").read_text()
        view.buffer_changed(Buffer("src/cart.py", text + "\n\ndef unsaved():\n    return 'heron'\n"))
        assert view.indexing.wait_until_idle(PATIENCE_S)
        assert client.engine.counts[EMBEDDED_TEXTS] > before, "it was embedded here"
        assert _shared(url) == before


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://somebody:hush@127.0.0.1:1/team", "127.0.0.1:1/team cannot be reached"),
        ("mysql://somebody:hush@db/team", "names no store that is known"),
    ],
)
def test_a_store_that_cannot_be_asked_holds_up_nobody_and_is_told(
    url: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_LS_STORE_URL", url)
    with user(tmp_path / "home", write(tmp_path / "shop", SHOP), monkeypatch) as (_, view):
        status = view.status()
        assert status.complete
        assert words in status.note
        assert "hush" not in status.note
