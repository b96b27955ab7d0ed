"""A project whose vectors a real PostgreSQL searches: what is found, what stays here, and what happens without it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_ls.embedding import EMBEDDED_TEXTS, HostedModel
from rag_ls.engine.client import local_client
from rag_ls.engine.code.hovers import hover
from rag_ls.engine.code.related_code import find_related
from rag_ls.engine.requests import SearchRequest
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import ModelMissing
from rag_ls.indexing import Buffer
from rag_ls.model import SearchAnswer, StoredChunk
from rag_ls.search.view import Filters
from rag_ls.storage import Vector, Vectors
from rag_ls.storage.postgres.project_vectors import table_of
from rag_ls.storage.postgres.schema import schema_of
from tests.indexing.test_sharing import user
from tests.storage.postgres.servers import Postgres, postgres
from tests.support import PATIENCE_S, SHOP, until, write

FILES = {**SHOP, **{f"src/part_{number}.py": f"def part_{number}():\n    return {number}\n" for number in range(12)}}
QUESTION = "amount to be paid by the customer"


@pytest.fixture
def database(server: Postgres, monkeypatch: pytest.MonkeyPatch) -> str:
    """The team's store, which searches."""
    found = server.vector_database()
    monkeypatch.setenv("RAG_LS_STORE_URL", server.url(found))
    monkeypatch.setenv("RAG_LS_STORE_SEARCH", "server")
    monkeypatch.setattr("rag_ls.storage.served._REST_S", 0.2)
    return found


def _search(view: ProjectSession, question: str = QUESTION) -> SearchAnswer:
    return view.search(SearchRequest(question), wait_for_model_s=PATIENCE_S)


def _first(view: ProjectSession, question: str) -> str:
    """The file of the best hit; empty if there is none yet."""
    return next((hit.item.chunk.path for hit in _search(view, question).hits if isinstance(hit.item, StoredChunk)), "")


def _local(view: ProjectSession) -> int:
    """How many vectors are on this machine."""
    checkout, vectors = view.project.index.checkout, view.project.index.served
    assert vectors is not None
    hashes = checkout.embeddings.saved_hashes()
    return len(vectors._local.get(checkout.embeddings.active_model(), hashes))


def _table(view: ProjectSession) -> str:
    """The table of the project's vectors on the server."""
    return f"{schema_of('shop')}.{table_of(view.project.index.checkout.embeddings.active_model())}"


def test_a_second_user_embeds_nothing_keeps_nothing_and_finds_the_same(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = write(tmp_path / "first" / "shop", FILES), write(tmp_path / "second" / "shop", FILES)
    with user(tmp_path / "home1", first, monkeypatch) as (client, view):
        assert client.engine.counts[EMBEDDED_TEXTS] >= len(FILES)
        found = _search(view)
    with user(tmp_path / "home2", second, monkeypatch) as (client, view):
        again = _search(view)
        assert client.engine.counts[EMBEDDED_TEXTS] == 0
        assert view.status().complete
        assert view.status().note == ""
        assert _local(view) == 0
    assert again.stats.dense
    assert [hit.item for hit in again.hits] == [hit.item for hit in found.hits]
    assert "dense" in again.hits[0].matched_by


def test_what_is_unsaved_is_found_by_meaning_and_stays_here(
    server: Postgres, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with user(tmp_path / "home", write(tmp_path / "shop", FILES), monkeypatch) as (_, view):
        counted = f"SELECT count(*) FROM {_table(view)}"
        before = server.run(counted, database)
        text = (
            "def settle_invoice(customer):\n    '''Money that the buyer still owes us.'''\n    return customer.debt\n"
        )
        view.buffer_changed(Buffer("src/debts.py", text))
        assert view.indexing.wait_until_idle(PATIENCE_S)
        assert until(lambda: _first(view, "what does a buyer owe") == "src/debts.py")
        assert until(lambda: "dense" in _search(view, "what does a buyer owe").hits[0].matched_by)
        assert server.run(counted, database) == before


@pytest.mark.slow
def test_while_the_server_is_away_words_answer_and_are_marked_so(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_ls.storage.served._REST_S", 0.2)
    monkeypatch.setattr("rag_ls.indexing.sharing._RETRY_S", 0.2)
    for thread in ("embedder", "documents_thread"):
        monkeypatch.setattr(f"rag_ls.indexing.{thread}._LONG_REST_S", 1.0)
    with postgres(tmp_path_factory.mktemp("away")) as server:
        monkeypatch.setenv("RAG_LS_STORE_URL", server.url(server.vector_database()))
        monkeypatch.setenv("RAG_LS_STORE_SEARCH", "server")
        with user(tmp_path / "home", write(tmp_path / "shop", FILES), monkeypatch) as (_, view):
            assert _search(view).stats.dense
            server.stop()
            answer = _search(view, "cart total price")
            assert not answer.stats.dense
            assert answer.hits, "words find it"
            assert "found by words alone" in str(answer.stats.notes)
            assert "found by words alone" in view.status().note
            assert "correct horse" not in view.status().note
            write(view.project.root, {"src/later.py": "def later():\n    return 'heron'\n"})
            view.indexing.index_tree()
            assert until(lambda: _first(view, "heron") == "src/later.py")
            server.start()
            assert until(lambda: _search(view, "price of all that is in the cart").stats.dense)
            assert until(lambda: view.status().note == "")


class Network:
    """A way to a server's socket that can stop to carry anything, as a network that hangs."""

    def __init__(self, target: Path) -> None:
        self.hangs = threading.Event()
        self._target = str(target)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            far.connect(self._target)
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(source, sink), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                while self.hangs.is_set():
                    time.sleep(0.05)
                sink.sendall(data)
        except OSError:
            pass
        finally:
            for end in (source, sink):
                end.close()

    def close(self) -> None:
        self.hangs.clear()
        self._listener.close()


@pytest.mark.slow
def test_a_network_that_hangs_holds_up_a_question_for_no_more_than_its_deadline(
    server: Postgres, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = Network(server.socket)
    monkeypatch.setenv("RAG_LS_STORE_URL", f"postgresql://teammate:correct%20horse@127.0.0.1:{network.port}/{database}")
    monkeypatch.setattr("rag_ls.storage.served._REST_S", 30.0)
    with user(tmp_path / "home", write(tmp_path / "shop", FILES), monkeypatch) as (_, view):
        assert _search(view).stats.dense
        network.hangs.set()
        assert not _search(view, "cart total price").stats.dense
        asked = [_search(view, f"cart total price {number}") for number in range(20)]
        assert all(answer.hits and not answer.stats.dense for answer in asked)
        assert "did not answer within" in view.status().note
        network.hangs.clear()
        monkeypatch.setattr("rag_ls.storage.served._REST_S", 0.0)
        assert until(lambda: _search(view, "price of all that is in the cart").stats.dense)
    network.close()


@pytest.mark.slow
def test_vectors_that_the_server_has_lost_are_made_again(
    server: Postgres, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = write(tmp_path / "first" / "shop", FILES), write(tmp_path / "second" / "shop", FILES)
    with user(tmp_path / "home1", first, monkeypatch):
        pass
    with user(tmp_path / "home2", second, monkeypatch) as (client, view):
        assert client.engine.counts[EMBEDDED_TEXTS] == 0
        table = _table(view)
    server.run(f"DELETE FROM {table}", database)
    with user(tmp_path / "home2", second, monkeypatch) as (client, view):
        assert until(lambda: client.engine.counts[EMBEDDED_TEXTS] >= len(FILES))
        assert view.indexing.wait_until_idle(PATIENCE_S)
        assert server.run(f"SELECT count(*) FROM {table}", database) >= [(len(FILES),)]
        assert _search(view).stats.dense


def test_who_searches_here_again_gets_the_vectors_that_were_there_alone(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = write(tmp_path / "first" / "shop", FILES), write(tmp_path / "second" / "shop", FILES)
    with user(tmp_path / "home1", first, monkeypatch):
        pass
    with user(tmp_path / "home2", second, monkeypatch):
        pass
    monkeypatch.delenv("RAG_LS_STORE_SEARCH")
    monkeypatch.delenv("RAG_LS_STORE_URL")
    with user(tmp_path / "home2", second, monkeypatch) as (client, view):
        assert view.status().complete
        assert client.engine.counts[EMBEDDED_TEXTS] >= len(FILES)
        assert _search(view).stats.dense


def test_no_vector_and_no_hash_of_unsaved_text_is_sent_whatever_is_asked(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with user(tmp_path / "home", write(tmp_path / "shop", FILES), monkeypatch) as (_, view):
        served = view.project.index.served
        assert served is not None
        sent_hashes, sent_vectors = _recorded(monkeypatch, served.server)
        text = (
            "def settle_invoice(customer):\n    '''Money that the buyer still owes us.'''\n    return customer.debt\n"
        )
        view.buffer_changed(Buffer("src/debts.py", text))
        assert view.indexing.wait_until_idle(PATIENCE_S)
        (row,) = view.project.index.checkout.chunks.of_symbol("settle_invoice")
        own = view.project.embedding_of(row)
        assert own is not None
        hover(view, "src/debts.py", 1)
        find_related(view, path="src/debts.py", line=1)
        find_related(view, snippet=text, path="src/debts.py")
        _search(view, "debt")
        view.search(SearchRequest("debt", filters=Filters(language="python")), wait_for_model_s=PATIENCE_S)
        hover(view, "src/cart.py", 2)
        assert sent_vectors, "saved text is searched there"
        assert all(float(vector @ own.vector) < 0.99 for vector in sent_vectors)
        assert row.text_hash not in sent_hashes


def _recorded(monkeypatch: pytest.MonkeyPatch, server: Any) -> tuple[set[bytes], list[Vector]]:
    """All hashes and vectors that the server is told from now on."""
    hashes: set[bytes] = set()
    vectors: list[Vector] = []

    def record(name: str) -> None:
        method = getattr(server, name)

        def call(model: str, *given: Any) -> Any:
            for each in given:
                if isinstance(each, np.ndarray):
                    vectors.extend(each if each.ndim == 2 else [each])
                elif isinstance(each, Collection):
                    hashes.update(each)
            return method(model, *given)

        monkeypatch.setattr(server, name, call)

    for name in ("get", "missing", "put", "similarities", "nearest"):
        record(name)
    return hashes, vectors


@pytest.mark.slow
def test_a_server_that_was_away_when_embedding_began_is_asked_once_it_is_back(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("sharing", "embedder"):
        monkeypatch.setattr(f"rag_ls.indexing.{module}._RETRY_S", 0.2)
    first, second = write(tmp_path / "first" / "shop", FILES), write(tmp_path / "second" / "shop", FILES)
    with postgres(tmp_path_factory.mktemp("late")) as server:
        monkeypatch.setenv("RAG_LS_STORE_URL", server.url(server.vector_database()))
        monkeypatch.setenv("RAG_LS_STORE_SEARCH", "server")
        with user(tmp_path / "home1", first, monkeypatch):
            pass
        server.stop()
        monkeypatch.setattr(HostedModel, "embed_documents", _busy)
        monkeypatch.setattr("rag_ls.indexing.embedder._RETRY_S", 0.1)
        monkeypatch.setenv("RAG_LS_HOME", str(tmp_path / "home2"))
        client = local_client("cli")
        view = client.open(second)
        view.keep_indexed()
        assert until(lambda: "not shared" in view.status().note)
        assert view.status().pending_embeddings
        server.start()
        assert until(lambda: not view.status().pending_embeddings), "nothing had to be embedded here"
        client.close()


def _busy(self: HostedModel, texts: Sequence[str], *, backlog: int = 0) -> Vectors:
    raise ModelMissing("it takes hours")
