"""A team that shares its vectors on a real PostgreSQL: the second user embeds nothing, unsaved text stays at home."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from rag_ls.embedding import EMBEDDED_TEXTS, LoadedModel
from rag_ls.embedding.local.stack import LocalProvider
from rag_ls.engine.client import Client, local_client
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import ModelMissing
from rag_ls.indexing import Buffer
from tests.storage.postgres.servers import Postgres
from tests.support import PATIENCE_S, SHOP, until, write


@pytest.fixture
def url(server: Postgres, monkeypatch: pytest.MonkeyPatch) -> str:
    """The team's store, which all users of the test have."""
    found = server.url(server.database())
    monkeypatch.setenv("RAG_LS_STORE_URL", found)
    return found


@contextmanager
def user(home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Client, ProjectSession]]:
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
        assert view.indexing.embeddings.sharing.problem == ""
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


def test_a_project_that_was_indexed_before_there_was_a_store_is_given_too(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path / "shop", SHOP)
    monkeypatch.delenv("RAG_LS_STORE_URL")
    with user(tmp_path / "home", folder, monkeypatch) as (client, _):
        embedded = client.engine.counts[EMBEDDED_TEXTS]
    monkeypatch.setenv("RAG_LS_STORE_URL", url)
    with user(tmp_path / "home", folder, monkeypatch) as (client, _):
        assert client.engine.counts[EMBEDDED_TEXTS] == 0
        assert _shared(url) == embedded


@pytest.mark.slow
def test_text_that_was_embedded_while_it_was_unsaved_is_given_once_it_is_saved(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_ls.indexing.sharing._LOOK_AGAIN_S", 0.5)
    folder = write(tmp_path / "shop", SHOP)
    with user(tmp_path / "home", folder, monkeypatch) as (client, view):
        before = _shared(url)
        text = (folder / "src/cart.py").read_text() + "\n\ndef now_saved():\n    return 'heron'\n"
        view.buffer_changed(Buffer("src/cart.py", text))
        # Another file is given meanwhile, and with it the unsaved text is looked at.
        write(folder, {"src/other.py": "def other():\n    return 'owl'\n"})
        view.indexing.index_tree()
        assert until(lambda: _shared(url) == before + 1)
        embedded = client.engine.counts[EMBEDDED_TEXTS]
        write(folder, {"src/cart.py": text})
        view.buffer_closed("src/cart.py")
        view.indexing.index_tree()
        assert until(lambda: _shared(url) > before + 1)
        assert client.engine.counts[EMBEDDED_TEXTS] == embedded, "it had its vectors"


def test_indexing_ends_where_the_store_answers_and_the_model_does_not(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: LocalProvider, model_id: str) -> LoadedModel:
        raise ModelMissing("it is broken")

    monkeypatch.setattr(LocalProvider, "load", refuse)
    with user(tmp_path / "home", write(tmp_path / "shop", SHOP), monkeypatch) as (_, view):
        assert not view.status().complete


@pytest.mark.slow
def test_two_engines_on_one_project_share_it_and_neither_waits_for_ever(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path / "shop", SHOP)
    with user(tmp_path / "home1", folder, monkeypatch), user(tmp_path / "home2", folder, monkeypatch) as (_, view):
        write(folder, {"src/other.py": "def other():\n    return 'owl'\n"})
        view.indexing.index_tree()
        assert view.indexing.wait_until_idle(PATIENCE_S)
        assert until(lambda: _shared(url) == len(SHOP) + 1)
