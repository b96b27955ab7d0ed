"""The background work of open projects, in real engines and real processes."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from rag_ls.chunking import embedding_text
from rag_ls.engine.client import Client, local_client
from rag_ls.engine.requests import SearchRequest
from rag_ls.engine.session import ProjectSession
from rag_ls.indexing import Buffer, Phase, documents_thread
from rag_ls.indexing.inbox import Inbox
from rag_ls.indexing.progress import Depth, Progress
from rag_ls.model import Freshness
from rag_ls.storage import ChunkRow
from rag_ls.storage.sqlite.checkout import CheckoutIndex
from tests.support import PATIENCE_S, open_checkout, python, until, write

_OTHER_ENGINE = """
import sys, time
from rag_ls.engine.client import Client, local_client

client = local_client()
opened = client.open(sys.argv[1])
opened.indexing.index_tree()
while not opened.store.documents():
    time.sleep(0.005)
print("working", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def view(client: Client, shop: Path) -> ProjectSession:
    """The shop, indexed."""
    view = client.open(shop)
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    return view


@pytest.fixture
def second(shop: Path) -> Iterator[ProjectSession]:
    """The shop as another client has it open."""
    client = local_client()
    yield client.open(shop)
    client.close()


@pytest.fixture
def big(tmp_path: Path) -> Path:
    """A project that takes a while to read."""
    return write(tmp_path / "big", {f"src/file{number}.py": _functions(number) for number in range(400)})


def _functions(number: int) -> str:
    return "\n\n".join(f"def function_{number}_{part}(value):\n    return value + {part}\n" for part in range(10))


def test_work_that_waits_for_its_model_is_not_called_idle(client: Client, shop: Path) -> None:
    # A text that no test has embedded before: the vectors of others are there at once.
    write(shop, {"src/fresh.py": f"def fresh_{uuid.uuid4().hex}():\n    return {uuid.uuid4().int}\n"})
    view = client.open(shop)
    view.indexing.index_tree(Depth.WORDS)
    _settled(view)
    # The thread says so a moment after its last file.
    assert until(lambda: view.indexing.activity.phase is Phase.IDLE)
    view.indexing.resume()
    assert view.indexing.activity.phase in (Phase.LOADING, Phase.EMBEDDING)
    assert view.indexing.wait_until_idle(PATIENCE_S)
    assert view.indexing.activity.phase is Phase.IDLE


@pytest.mark.slow
def test_what_a_question_began_is_finished_by_the_next_though_nobody_had_it_open_meanwhile(
    client: Client, shop: Path
) -> None:
    write(shop, {"src/fresh.py": f"def fresh_{uuid.uuid4().hex}():\n    return {uuid.uuid4().int}\n"})
    view = client.open(shop)
    view.indexing.index_tree(Depth.WORDS)
    _settled(view)
    assert not view.indexing.is_left_over
    view.indexing.pause()
    assert view.indexing.is_left_over
    view.indexing.go_on_alone()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    view.indexing.pause()
    assert not view.indexing.is_left_over


def test_embedding_counts_up_to_one_total_though_texts_stand_in_several_files(client: Client, tmp_path: Path) -> None:
    view = client.open(write(tmp_path, {f"src/file{number}.py": _functions(number % 20) for number in range(60)}))
    steps: list[Progress] = []
    view.indexing.listen(steps.append)
    view.indexing.index_tree(Depth.WORDS)
    _settled(view)
    waiting = view.store.counts().pending_embeddings
    view.indexing.resume()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    embedding = [step for step in steps if step.phase is Phase.EMBEDDING]
    assert {step.total for step in embedding} == {waiting}
    assert (embedding[0].done, embedding[-1].done) == (0, waiting)
    assert embedding == sorted(embedding, key=lambda step: step.done)


@pytest.mark.slow
def test_reading_counts_each_file_once_though_the_tree_is_compared_meanwhile(client: Client, big: Path) -> None:
    view = client.open(big)
    steps: list[Progress] = []

    def compare_once(step: Progress) -> None:
        if step.phase is Phase.READING and step.done and not any(former.done for former in steps):
            view.indexing.rescan()
        steps.append(step)

    view.indexing.listen(compare_once)
    view.indexing.index_tree(Depth.WORDS)
    _settled(view)
    reading = [step for step in steps if step.phase is Phase.READING]
    # Those that were in hand during the comparison are looked at once more: they may have changed since they were read.
    assert max(step.total for step in reading) == 400
    assert all(step.done <= step.total for step in reading)
    # The last batch is stored a moment before it is told.
    assert until(lambda: (last := [step for step in steps if step.phase is Phase.READING][-1]).done == last.total)


def _settled(view: ProjectSession) -> None:
    assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)


def _found(view: ProjectSession, query: str) -> list[tuple[str, Freshness | None]]:
    hits = view.search(SearchRequest(query)).hits
    return [(hit.item.chunk.path, hit.freshness) for hit in hits if {"lexical", "symbol"} & set(hit.matched_by)]


def test_a_project_is_indexed_whole_with_its_embeddings(view: ProjectSession) -> None:
    status = view.status()
    assert (status.documents, status.queued_documents, status.pending_embeddings, status.complete) == (4, 0, 0, True)
    assert view.search(SearchRequest("how much do the goods cost")).stats.dense


@pytest.mark.slow
def test_a_large_document_that_is_typed_in_is_indexed_in_the_end_though_nobody_asks(view: ProjectSession) -> None:
    large = _functions(1) * 300
    for name in ("zebra", "giraffe"):
        view.buffer_changed(Buffer("src/large.py", f"{large}\n\ndef {name}():\n    return 1\n"))
        assert until(lambda name=name: view.store.outlines.named([name], 1))
    assert until(lambda: not view.indexing.inbox.paths())


@pytest.mark.slow
def test_a_question_waits_for_the_text_that_its_client_has_just_typed(view: ProjectSession) -> None:
    for name in ("zebra", "giraffe"):
        view.buffer_changed(Buffer("src/large.py", _functions(1) * 150 + f"\n\ndef {name}_price():\n    return 1\n"))
        assert _found(view, name) == [("src/large.py", Freshness.BUFFER)]


def test_unsaved_text_is_searched_until_it_is_closed(view: ProjectSession) -> None:
    view.buffer_changed(Buffer("src/cart.py", "def zebra_price():\n    return 1\n"))
    _settled(view)
    assert _found(view, "zebra") == [("src/cart.py", Freshness.BUFFER)]
    assert _found(view, "discount") == []
    view.buffer_closed("src/cart.py")
    _settled(view)
    assert _found(view, "zebra") == []
    assert _found(view, "discount") == [("src/cart.py", Freshness.DISK)]


def test_unsaved_text_is_searched_by_other_processes_too(view: ProjectSession, second: ProjectSession) -> None:
    view.buffer_changed(Buffer("src/cart.py", "def zebra_price():\n    return 1\n"))
    _settled(view)
    assert _found(second, "zebra") == [("src/cart.py", Freshness.BUFFER)]


@pytest.mark.parametrize(("question", "earlier"), [("queue_lengths", 0), ("changes", 2)])
def test_a_text_is_taken_in_while_the_resting_thread_waits_for_the_disk(
    view: ProjectSession, monkeypatch: pytest.MonkeyPatch, question: str, earlier: int
) -> None:
    # `changes` is asked at the beginning of each step, too, where no lock was ever held: there are two until it rests.
    left, is_stuck, disk_answers = [None] * earlier, threading.Event(), threading.Event()
    ask = getattr(CheckoutIndex, question)

    def ask_slowly(store: CheckoutIndex) -> object:
        if threading.current_thread().name == "documents":
            if left:
                left.pop()
            else:
                is_stuck.set()
                disk_answers.wait()
        return ask(store)

    monkeypatch.setattr(documents_thread, "_CHANGES_LOOK_S", 0.01)
    monkeypatch.setattr(CheckoutIndex, question, ask_slowly)
    view.indexing.look_again()
    assert is_stuck.wait(PATIENCE_S)
    buffer = Buffer("src/cart.py", "def zebra_price():\n    return 1\n")
    hand_over = threading.Thread(target=view.buffer_changed, args=(buffer,))
    hand_over.start()
    hand_over.join(PATIENCE_S)
    is_taken_in = not hand_over.is_alive()
    disk_answers.set()
    assert is_taken_in
    assert until(lambda: view.store.outlines.named(["zebra_price"], 1))


def test_a_buffer_that_equals_its_file_is_the_file(view: ProjectSession, shop: Path) -> None:
    view.buffer_changed(Buffer("src/cart.py", (shop / "src/cart.py").read_text()))
    _settled(view)
    assert view.store.unsaved_documents() == []
    assert _found(view, "discount") == [("src/cart.py", Freshness.DISK)]


@pytest.mark.slow
def test_a_text_that_cannot_be_taken_holds_up_no_comparison(
    view: ProjectSession, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Inbox, "take_typed", lambda _: None)
        view.indexing.inbox.put_buffer("an editor", Buffer("a.py", "typed = 1\n"))
        write(shop, {"later.py": "def later():\n    return 1\n"})
        view.indexing.index_tree()
        assert until(lambda: "later.py" in view.store.documents())


def test_only_the_last_of_many_edits_stays(view: ProjectSession) -> None:
    # So unlike each other that none is taken for another one misspelt.
    names = [f"{first * 4}{second * 4}" for first in "abcde" for second in "klmnopqrst"]
    for name in names:
        view.buffer_changed(Buffer("src/cart.py", f"def {name}():\n    return 1\n"))
    _settled(view)
    assert [name for name in names if _found(view, name)] == names[-1:]


@pytest.mark.parametrize(
    "path", [".env", "deploy/server.pem", "id_rsa", "ignored.py", ".rag-ls/notes.py", "node_modules/a.js"]
)
def test_what_may_not_be_indexed_is_not_when_it_is_opened_or_written(
    view: ProjectSession, shop: Path, path: str
) -> None:
    write(shop, {".gitignore": "ignored.py\n", path: "zebra = 1\n"})
    view.buffer_changed(Buffer(path, "zebra = 2\n"))
    view.files_changed([path])
    _settled(view)
    view.indexing.index_tree()
    _settled(view)
    assert _found(view, "zebra") == []
    assert view.store.document(path) is None


def test_a_typed_text_that_is_too_large_is_told_until_it_is_not(view: ProjectSession) -> None:
    inbox = view.indexing.inbox
    view.buffer_changed(Buffer("src/cart.py", "zebra = 1\n" * 200_000))
    _settled(view)
    assert _found(view, "zebra") == []
    assert inbox.unread_note.startswith("src/cart.py is open in an editor with a text that is not indexed (too large)")
    view.buffer_changed(Buffer("src/cart.py", "zebra = 1\n"))
    _settled(view)
    assert (_found(view, "zebra"), inbox.unread_note) == ([("src/cart.py", Freshness.BUFFER)], "")


def test_a_guest_document_is_searched_unless_its_name_speaks_of_a_secret(view: ProjectSession) -> None:
    for path in ("/elsewhere/zebra.py", "/elsewhere/.env"):
        view.buffer_changed(Buffer(path, "zebra = 1\n", "python", guest=True))
    _settled(view)
    assert _found(view, "zebra") == [("/elsewhere/zebra.py", Freshness.BUFFER)]


def test_a_written_file_is_read_again_and_a_deleted_one_is_gone(view: ProjectSession, shop: Path) -> None:
    write(shop, {"src/cart.py": "def zebra():\n    return 1\n", "src/new.py": "def giraffe():\n    return 1\n"})
    (shop / "src/auth.py").unlink()
    view.files_changed(["src/cart.py", "src/new.py", "src/auth.py"])
    _settled(view)
    assert _found(view, "zebra") == [("src/cart.py", Freshness.DISK)]
    assert _found(view, "giraffe") == [("src/new.py", Freshness.DISK)]
    assert _found(view, "refresh") == []


def test_a_deleted_folder_takes_its_files_along(view: ProjectSession, shop: Path) -> None:
    for file in (shop / "src").iterdir():
        file.unlink()
    (shop / "src").rmdir()
    view.files_changed(["src"])
    _settled(view)
    assert set(view.store.documents()) == {"docs/guide.md"}


def test_a_file_that_changed_behind_our_back_is_marked_and_soon_read(
    client: Client, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Neither watching nor a comparison is to notice it before the question does.
    monkeypatch.setenv("RAG_LS_INDEX_WATCH", "false")
    monkeypatch.setattr("rag_ls.indexing.agenda._MIN_REST_S", 3600.0)
    view = client.open(shop)
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    write(shop, {"src/cart.py": (shop / "src/cart.py").read_text() + "\n\ndef zebra():\n    return 1\n"})
    assert ("src/cart.py", Freshness.CHANGED) in _found(view, "discount")
    assert until(lambda: _found(view, "zebra") == [("src/cart.py", Freshness.DISK)])


def test_a_file_deleted_behind_our_back_is_no_hit(view: ProjectSession, shop: Path) -> None:
    (shop / "src/cart.py").unlink()
    assert _found(view, "discount") == []


@pytest.mark.slow
def test_cancelled_indexing_stops_and_goes_on_later(client: Client, big: Path) -> None:
    view = client.open(big)
    view.indexing.index_tree()
    assert until(lambda: view.store.counts().documents > 0)
    view.indexing.cancel()
    assert view.indexing.progress.phase is Phase.CANCELLED
    assert not view.indexing.wait_until_idle(PATIENCE_S)
    assert view.store.queue.paths()
    assert not view.search(SearchRequest("function")).stats.complete
    view.buffer_changed(Buffer("typed.py", "zebra = 1\n"))
    assert until(lambda: _found(view, "zebra"))
    view.indexing.index_tree()
    _settled(view)
    assert view.store.counts().documents == 400


@pytest.mark.slow
def test_cancelled_indexing_can_be_taken_over_by_another_process(client: Client, big: Path) -> None:
    view = client.open(big)
    view.indexing.index_tree()
    assert until(lambda: view.store.counts().documents)
    view.indexing.cancel()
    other = local_client()
    taken = other.open(big)
    taken.indexing.index_tree()
    done = taken.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    other.close()
    assert done


@pytest.mark.parametrize("is_asked_here", [True, False])
def test_what_another_process_works_on_is_not_called_idle(client: Client, shop: Path, is_asked_here: bool) -> None:
    view = client.open(shop)
    view.indexing.index_tree(Depth.WORDS)
    _settled(view)
    with FileLock(shop / ".rag-ls/index.lock"):
        if is_asked_here:
            view.indexing.resume()
            assert until(lambda: view.indexing.progress.phase is Phase.WAITING)
        assert not view.search(SearchRequest("cart")).stats.is_idle
        assert str(view.indexing.activity) == "another rag-ls process indexes this project"
    if not is_asked_here:
        assert view.search(SearchRequest("cart")).stats.is_idle


@pytest.mark.slow
def test_what_a_killed_process_left_is_taken_over(big: Path, client: Client) -> None:
    worker = python(_OTHER_ENGINE, big)
    assert worker.stdout is not None
    assert worker.stdout.readline() == "working\n"
    view = client.open(big)
    view.indexing.index_tree()
    waited = until(lambda: view.indexing.progress.phase is Phase.WAITING or view.store.counts().documents == 400)
    worker.kill()
    worker.communicate()
    assert waited
    _settled(view)
    assert view.store.counts().documents == 400
    assert view.store.queue.paths() == []


@pytest.mark.slow
def test_a_queue_that_a_killed_process_left_is_finished_without_being_asked(big: Path, client: Client) -> None:
    worker = python(_OTHER_ENGINE, big)
    assert worker.stdout is not None
    assert worker.stdout.readline() == "working\n"
    worker.kill()
    worker.communicate()
    left = open_checkout(big / ".rag-ls/index.db")
    assert left.queue.paths()
    left.close()
    view = client.open(big)
    assert until(lambda: view.store.counts().documents == 400)


def test_a_buffer_with_half_a_surrogate_pair_is_searched(view: ProjectSession) -> None:
    view.buffer_changed(Buffer("src/cart.py", "zebra = '\ud83d'\n"))
    view.buffer_changed(Buffer("src/other.py", "giraffe = 1\n"))
    _settled(view)
    assert _found(view, "giraffe") == [("src/other.py", Freshness.BUFFER)]
    assert _found(view, "zebra") == [("src/cart.py", Freshness.BUFFER)]


@pytest.mark.slow
def test_what_is_typed_goes_before_the_pool_that_is_embedded_and_each_text_gets_its_own_vector(
    client: Client, tmp_path: Path
) -> None:
    # Long enough that each is a chunk of its own, and unlike what another test embedded.
    body = "".join(f"    value = value * {line} + offset\n" for line in range(10)) + f"    # {uuid.uuid4().hex}\n"
    files = {
        f"src/file{number}.py": "\n\n".join(
            f"def task_{number}_{part}(value, offset):\n{body}    return value" for part in range(20)
        )
        for number in range(16)
    }
    view = client.open(write(tmp_path, files))
    view.indexing.index_tree(Depth.WORDS)
    _settled(view)
    waiting = view.store.queue_lengths()[1]
    view.indexing.resume()
    assert until(lambda: 0 < view.store.queue_lengths()[1] < waiting, PATIENCE_S)
    view.buffer_changed(Buffer("src/file1.py", "def zebra_of_the_editor():\n    return 'typed'\n"))
    assert until(lambda: view.store.document("src/file1.py", view.editing_session) is not None, PATIENCE_S)
    typed = view.store.document("src/file1.py", view.editing_session)
    assert typed is not None
    assert until(lambda: bool(view.store.chunks.text_hashes_of_documents([typed.id])), PATIENCE_S)
    assert view.store.queue_lengths()[1] > 0, "the pool was done before"
    assert view.indexing.wait_until_idle(PATIENCE_S)
    _assert_own_vectors(view, view.store.chunks.of_document(typed.id))
    for path in ("src/file0.py", "src/file15.py"):
        document = view.store.document(path)
        assert document is not None
        _assert_own_vectors(view, view.store.chunks.of_document(document.id))


def _assert_own_vectors(view: ProjectSession, rows: list[ChunkRow]) -> None:
    model = view.project.engine.models.wait(view.store.embeddings.active_model())
    assert model is not None
    found = view.project.index.vectors.get(model.model_id, [row.text_hash for row in rows])
    own = model.embed_documents([embedding_text(row.stored.chunk) for row in rows])
    for row, vector in zip(rows, own, strict=True):
        assert float(found[row.text_hash] @ vector) > 0.95
