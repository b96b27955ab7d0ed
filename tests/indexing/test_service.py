"""The background work of open projects, in real engines and real processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_ls.client import Client, local_client
from rag_ls.indexing import Buffer, Phase
from rag_ls.model import Freshness
from rag_ls.requests import SearchRequest
from rag_ls.storage import IndexStore
from rag_ls.workspace import OpenProject
from tests.support import PATIENCE_S, python, until, write

_OTHER_ENGINE = """
import sys, time
from rag_ls.client import Client, local_client

client = local_client()
opened = client.open(sys.argv[1])
opened.indexing.index_tree()
while not opened.store.documents():
    time.sleep(0.005)
print("working", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def opened(client: Client, shop: Path) -> OpenProject:
    """The shop, indexed."""
    opened = client.open(shop)
    opened.indexing.index_tree()
    assert opened.indexing.wait_until_idle(PATIENCE_S)
    return opened


@pytest.fixture
def second(shop: Path) -> Iterator[OpenProject]:
    """The shop as another client has it open."""
    client = local_client()
    yield client.open(shop)
    client.close()


@pytest.fixture
def big(tmp_path: Path) -> Path:
    """A project that takes a while to read."""
    return write(tmp_path / "big", {f"src/file{number}.py": _functions(number) for number in range(400)})


def _functions(number: int) -> str:
    return "\n\n".join(f"def function_{number}_{part}(value):\n    return value + {part}\n" for part in range(30))


def _settled(opened: OpenProject) -> None:
    assert opened.indexing.wait_until_idle(PATIENCE_S, embeddings=False)


def _found(opened: OpenProject, query: str) -> list[tuple[str, Freshness | None]]:
    hits = opened.search(SearchRequest(query)).hits
    return [(hit.item.chunk.path, hit.freshness) for hit in hits if {"lexical", "symbol"} & set(hit.matched_by)]


def test_a_project_is_indexed_whole_with_its_embeddings(opened: OpenProject) -> None:
    status = opened.status()
    assert (status.documents, status.queued_documents, status.pending_embeddings, status.complete) == (4, 0, 0, True)
    assert opened.search(SearchRequest("how much do the goods cost")).stats.dense


def test_a_large_document_that_is_typed_in_is_indexed_in_the_end_though_nobody_asks(opened: OpenProject) -> None:
    large = _functions(1) * 100
    for name in ("zebra", "giraffe"):
        opened.buffer_changed(Buffer("src/large.py", f"{large}\n\ndef {name}():\n    return 1\n"))
        assert until(lambda name=name: opened.store.outlines.named([name], 1))
    assert until(lambda: not opened.indexing.unseen())


def test_unsaved_text_is_searched_until_it_is_closed(opened: OpenProject) -> None:
    opened.buffer_changed(Buffer("src/cart.py", "def zebra_price():\n    return 1\n"))
    _settled(opened)
    assert _found(opened, "zebra") == [("src/cart.py", Freshness.BUFFER)]
    assert _found(opened, "discount") == []
    opened.buffer_closed("src/cart.py")
    _settled(opened)
    assert _found(opened, "zebra") == []
    assert _found(opened, "discount") == [("src/cart.py", Freshness.DISK)]


def test_unsaved_text_is_searched_by_other_processes_too(opened: OpenProject, second: OpenProject) -> None:
    opened.buffer_changed(Buffer("src/cart.py", "def zebra_price():\n    return 1\n"))
    _settled(opened)
    assert _found(second, "zebra") == [("src/cart.py", Freshness.BUFFER)]


def test_a_buffer_that_equals_its_file_is_the_file(opened: OpenProject, shop: Path) -> None:
    opened.buffer_changed(Buffer("src/cart.py", (shop / "src/cart.py").read_text()))
    _settled(opened)
    assert opened.store.unsaved_documents() == []
    assert _found(opened, "discount") == [("src/cart.py", Freshness.DISK)]


def test_only_the_last_of_many_edits_stays(opened: OpenProject) -> None:
    # So unlike each other that none is taken for another one misspelt.
    names = [f"{first * 4}{second * 4}" for first in "abcde" for second in "klmnopqrst"]
    for name in names:
        opened.buffer_changed(Buffer("src/cart.py", f"def {name}():\n    return 1\n"))
    _settled(opened)
    assert [name for name in names if _found(opened, name)] == names[-1:]


@pytest.mark.parametrize(
    "path", [".env", "deploy/server.pem", "id_rsa", "ignored.py", ".rag-ls/notes.py", "node_modules/a.js"]
)
def test_what_may_not_be_indexed_is_not_when_it_is_opened_or_written(
    opened: OpenProject, shop: Path, path: str
) -> None:
    write(shop, {".gitignore": "ignored.py\n", path: "zebra = 1\n"})
    opened.buffer_changed(Buffer(path, "zebra = 2\n"))
    opened.files_changed([path])
    _settled(opened)
    opened.indexing.index_tree()
    _settled(opened)
    assert _found(opened, "zebra") == []
    assert opened.store.document(path) is None


def test_a_guest_document_is_searched_unless_its_name_speaks_of_a_secret(opened: OpenProject) -> None:
    for path in ("/elsewhere/zebra.py", "/elsewhere/.env"):
        opened.buffer_changed(Buffer(path, "zebra = 1\n", "python", guest=True))
    _settled(opened)
    assert _found(opened, "zebra") == [("/elsewhere/zebra.py", Freshness.BUFFER)]


def test_a_written_file_is_read_again_and_a_deleted_one_is_gone(opened: OpenProject, shop: Path) -> None:
    write(shop, {"src/cart.py": "def zebra():\n    return 1\n", "src/new.py": "def giraffe():\n    return 1\n"})
    (shop / "src/auth.py").unlink()
    opened.files_changed(["src/cart.py", "src/new.py", "src/auth.py"])
    _settled(opened)
    assert _found(opened, "zebra") == [("src/cart.py", Freshness.DISK)]
    assert _found(opened, "giraffe") == [("src/new.py", Freshness.DISK)]
    assert _found(opened, "refresh") == []


def test_a_deleted_folder_takes_its_files_along(opened: OpenProject, shop: Path) -> None:
    for file in (shop / "src").iterdir():
        file.unlink()
    (shop / "src").rmdir()
    opened.files_changed(["src"])
    _settled(opened)
    assert set(opened.store.documents()) == {"docs/guide.md"}


def test_a_file_that_changed_behind_our_back_is_marked_and_soon_read(opened: OpenProject, shop: Path) -> None:
    write(shop, {"src/cart.py": (shop / "src/cart.py").read_text() + "\n\ndef zebra():\n    return 1\n"})
    assert ("src/cart.py", Freshness.CHANGED) in _found(opened, "discount")
    assert until(lambda: _found(opened, "zebra") == [("src/cart.py", Freshness.DISK)])


def test_a_file_deleted_behind_our_back_is_no_hit(opened: OpenProject, shop: Path) -> None:
    (shop / "src/cart.py").unlink()
    assert _found(opened, "discount") == []


def test_cancelled_indexing_stops_and_goes_on_later(client: Client, big: Path) -> None:
    opened = client.open(big)
    opened.indexing.index_tree()
    assert until(lambda: opened.store.counts().documents > 0)
    opened.indexing.cancel()
    assert opened.indexing.progress.phase is Phase.CANCELLED
    assert not opened.indexing.wait_until_idle(PATIENCE_S)
    assert opened.store.queue.paths()
    assert not opened.search(SearchRequest("function")).stats.complete
    opened.buffer_changed(Buffer("typed.py", "zebra = 1\n"))
    assert until(lambda: _found(opened, "zebra"))
    opened.indexing.index_tree()
    _settled(opened)
    assert opened.store.counts().documents == 400


def test_cancelled_indexing_can_be_taken_over_by_another_process(client: Client, big: Path) -> None:
    opened = client.open(big)
    opened.indexing.index_tree()
    assert until(lambda: opened.store.counts().documents)
    opened.indexing.cancel()
    other = local_client()
    taken = other.open(big)
    taken.indexing.index_tree()
    done = taken.indexing.wait_until_idle(15, embeddings=False)
    other.close()
    assert done


def test_what_a_killed_process_left_is_taken_over(big: Path, client: Client) -> None:
    worker = python(_OTHER_ENGINE, big)
    assert worker.stdout is not None
    assert worker.stdout.readline() == "working\n"
    opened = client.open(big)
    opened.indexing.index_tree()
    waited = until(lambda: opened.indexing.progress.phase is Phase.WAITING or opened.store.counts().documents == 400)
    worker.kill()
    worker.communicate()
    assert waited
    _settled(opened)
    assert opened.store.counts().documents == 400
    assert opened.store.queue.paths() == []


def test_a_queue_that_a_killed_process_left_is_finished_without_being_asked(big: Path, client: Client) -> None:
    worker = python(_OTHER_ENGINE, big)
    assert worker.stdout is not None
    assert worker.stdout.readline() == "working\n"
    worker.kill()
    worker.communicate()
    left = IndexStore(big / ".rag-ls/index.db")
    assert left.queue.paths()
    left.close()
    opened = client.open(big)
    assert until(lambda: opened.store.counts().documents == 400)


def test_a_buffer_with_half_a_surrogate_pair_is_searched(opened: OpenProject) -> None:
    opened.buffer_changed(Buffer("src/cart.py", "zebra = '\ud83d'\n"))
    opened.buffer_changed(Buffer("src/other.py", "giraffe = 1\n"))
    _settled(opened)
    assert _found(opened, "giraffe") == [("src/other.py", Freshness.BUFFER)]
    assert _found(opened, "zebra") == [("src/cart.py", Freshness.BUFFER)]
