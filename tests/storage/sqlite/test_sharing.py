"""Any number of threads and processes write one index, and nothing is lost or mixed."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from rag_ls.storage.sqlite.checkout import CheckoutIndex
from tests.support import MODEL, finished, lexical_of, new_chunks, open_checkout, python, record, write_many

_WRITER = """
import sys
from pathlib import Path

from tests.support import open_checkout, write_many

store, name = open_checkout(Path(sys.argv[1])), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
write_many(store, name)
store.close()
"""


@pytest.mark.slow
def test_two_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "index.db"
    writers = [python(_WRITER, file, name) for name in ("left", "right")]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        finished(writer)
    _check_all_is_there(open_checkout(file), ("left", "right"))


def test_two_threads_with_stores_of_their_own_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "index.db"
    failures: list[BaseException] = []

    def run(name: str) -> None:
        try:
            store = open_checkout(file)
            write_many(store, name)
            store.close()
        except BaseException as error:
            failures.append(error)

    open_checkout(file).close()
    threads = [threading.Thread(target=run, args=(name,)) for name in ("left", "right")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    _check_all_is_there(open_checkout(file), ("left", "right"))


def test_a_commit_is_seen_by_the_other_store_at_once(tmp_path: Path) -> None:
    mine, other = open_checkout(tmp_path / "index.db"), open_checkout(tmp_path / "index.db")
    mine.replace_document(record(), new_chunks(["needle"]))
    assert len(lexical_of(other).search(["needle"], 5)) == 1
    other.remove_documents(["src/a.py"])
    assert lexical_of(mine).search(["needle"], 5) == []


def test_what_another_store_read_while_a_removal_waited_for_it_stays(tmp_path: Path) -> None:
    mine, other = open_checkout(tmp_path / "index.db"), open_checkout(tmp_path / "index.db")
    began_ns = time.time_ns()
    removal = threading.Thread(target=mine.remove_documents, args=(["src/a.py"],), kwargs={"seen_ns": began_ns})
    with other._database.writing():
        removal.start()
        removal.join(0.3)
        state = replace(record().state, read_ns=time.time_ns())
        other.replace_document(replace(record(), state=state), new_chunks(["needle"]))
    removal.join()
    mine.forget_documents(["src/a.py"], seen_ns=began_ns)
    assert len(lexical_of(mine).search(["needle"], 5)) == 1
    mine.forget_documents(["src/a.py"])
    assert lexical_of(mine).search(["needle"], 5) == []


def test_readers_see_whole_documents_while_another_thread_replaces_them(tmp_path: Path) -> None:
    writer, reader = open_checkout(tmp_path / "index.db"), open_checkout(tmp_path / "index.db")
    writer.replace_document(record(), new_chunks(["a0", "b0", "c0"]))
    done = threading.Event()

    def write() -> None:
        for number in range(1, 100):
            writer.replace_document(record(), new_chunks([f"{letter}{number}" for letter in "abc"]))
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    document = reader.document("src/a.py")
    assert document is not None
    seen = []
    while not done.is_set():
        seen.append([row.stored.chunk.text for row in reader.chunks.of_document(document.id)])
    thread.join()
    assert seen
    assert all(len({text[1:] for text in texts}) == 1 and len(texts) == 3 for texts in seen)


def _check_all_is_there(store: CheckoutIndex, names: tuple[str, ...]) -> None:
    expected = {f"{name}/{number}.py" for name in names for number in range(40)}
    assert set(store.documents()) == expected | {"shared.py"}
    for number in range(40):
        assert len(lexical_of(store).search([f"number{number}"], 10)) == len(names)
    shared = store.document("shared.py")
    assert shared is not None
    texts = [row.stored.chunk.text for row in store.chunks.of_document(shared.id)]
    assert texts in [[f"{name} shared39"] for name in names]
    assert [len(lexical_of(store).search([f"shared{number}"], 10)) for number in range(40)] == [0] * 39 + [1]
    assert store.embeddings.pending_count(MODEL) == len(expected) + 1
    store.close()
