"""A damaged index is made anew without a word: it is derived from the sources."""

from __future__ import annotations

import shutil
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_ls.config.settings import Settings
from rag_ls.errors import StoreDamaged, StoreUnavailable
from rag_ls.storage import INDEX_STORE, open_index
from rag_ls.storage.sqlite.checkout import CheckoutIndex
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.index_file import IndexFile, is_marked_damaged
from rag_ls.storage.sqlite.vector_index import VectorRows
from rag_ls.util.text import content_hash
from tests.support import lexical_of, new_chunks, open_checkout, record


def _garbage(file: Path) -> None:
    file.write_bytes(b"this is no database" * 1000)


def _truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def _emptied(file: Path) -> None:
    file.write_bytes(b"")


def _make_newer(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute("DROP TABLE queue")
    connection.execute("CREATE TABLE queue_of_tomorrow (x)")
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def _without_its_tables(file: Path) -> None:
    file.unlink(missing_ok=True)
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA user_version = 1")
    connection.execute("CREATE TABLE something_else (x)")
    connection.close()


@pytest.mark.parametrize("damage", [_garbage, _truncated, _emptied, _without_its_tables])
def test_a_damaged_index_is_made_anew(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    file = tmp_path / "index.db"
    damage(_filled(file))
    store = open_checkout(file)
    assert store.documents() == {}
    store.replace_document(record(), new_chunks(["fresh"]))
    assert len(lexical_of(store).search(["fresh"], 5)) == 1
    store.close()


def _words_changed_by_hand(file: Path, *, with_their_hash: bool) -> None:
    """Make the chunks' texts other ones than those that the full-text index holds."""
    connection = sqlite3.connect(file)
    connection.execute("UPDATE chunks SET text = 'other words'")
    if with_their_hash:
        connection.execute("UPDATE chunks SET content_hash = ?", (content_hash("other words"),))
    connection.commit()
    connection.close()


def test_a_text_that_somebody_changed_in_the_index_leaves_without_breaking_the_search(tmp_path: Path) -> None:
    _words_changed_by_hand(file := _filled(tmp_path / "index.db"), with_their_hash=False)
    store = open_checkout(file)
    store.remove_documents(["0.py", "1.py", "2.py"])
    store.replace_document(record(), new_chunks(["fresh text"]))
    rows = [found.row for found in lexical_of(store).search(["text"], 5)]
    assert [found.stored.chunk.text for found in store.chunks.by_row(rows).values()] == ["fresh text"]
    store.close()


def test_a_broken_full_text_index_is_made_anew_with_the_index(tmp_path: Path) -> None:
    _words_changed_by_hand(file := _filled(tmp_path / "index.db"), with_their_hash=True)
    store = open_checkout(file)
    store.remove_documents(["0.py", "1.py", "2.py"])
    with pytest.raises(StoreDamaged, match="was damaged and is being made anew"):
        lexical_of(store).search(["text"], 5)
    store.close()
    again = open_checkout(file)
    again.replace_document(record(), new_chunks(["fresh text"]))
    assert len(lexical_of(again).search(["text"], 5)) == 1
    again.close()


def _write_everything_again(store: CheckoutIndex) -> None:
    for path in list(store.documents()):
        store.replace_document(record(path), new_chunks(["fresh"], path=path))


def test_an_index_with_damage_inside_is_made_anew_when_it_is_next_opened(tmp_path: Path) -> None:
    file = _filled(tmp_path / "index.db", documents=200)
    data = bytearray(file.read_bytes())
    # The last third: the first pages of all tables, which are looked at when it is opened, lie before.
    start = len(data) * 2 // 3 // 4096 * 4096
    data[start:] = b"\xa5" * (len(data) - start)
    file.write_bytes(data)
    store = open_checkout(file)
    with pytest.raises(StoreDamaged, match=r"the index .* was damaged and is being made anew") as raised:
        _write_everything_again(store)
    assert (raised.value.store, is_marked_damaged(file)) == (INDEX_STORE, True)
    store.close()
    store = open_checkout(file)
    assert store.documents() == {}
    store.replace_document(record(), new_chunks(["fresh"]))
    assert len(lexical_of(store).search(["fresh"], 500)) == 1


def test_an_index_made_anew_has_another_identity(tmp_path: Path) -> None:
    file = _filled(tmp_path / "index.db")
    former = open_checkout(file)
    identity = VectorRows(former._database).index_id()
    former.close()
    _garbage(file)
    assert VectorRows(open_checkout(file)._database).index_id() != identity


def test_a_leftover_journal_of_another_index_is_not_replayed(tmp_path: Path) -> None:
    file = _filled(tmp_path / "index.db")
    file.with_name("index.db-wal").write_bytes(b"garbage" * 1000)
    store = open_checkout(file)
    assert len(store.documents()) == 3
    store.close()


def test_the_index_is_readable_by_its_user_alone(tmp_path: Path) -> None:
    store = open_checkout(tmp_path / "index.db")
    store.replace_document(record(), new_chunks(["text"]))
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    store.close()
    assert "index.db-wal" in modes
    assert set(modes.values()) == {0o600}


def test_an_index_in_memory_is_shared_by_all_threads() -> None:
    from concurrent.futures import ThreadPoolExecutor

    store = open_checkout(None)
    with ThreadPoolExecutor(4) as pool:
        list(
            pool.map(
                lambda n: store.replace_document(record(f"{n}.py"), new_chunks(["text"], path=f"{n}.py")), range(20)
            )
        )
        found = list(pool.map(lambda _: len(store.documents()), range(4)))
    assert found == [20] * 4


def _filled(file: Path, documents: int = 3) -> Path:
    store = open_checkout(file)
    for number in range(documents):
        path = f"{number}.py"
        store.replace_document(record(path), new_chunks([f"word{number} {'text ' * 50}"], path=path))
    store.close()
    return file


def test_an_index_whose_file_was_gone_before_it_was_looked_at_is_lost(tmp_path: Path) -> None:
    assert IndexFile(tmp_path / "index.db").is_lost
    assert not IndexFile(None).is_lost, "one in RAM has no file to lose"


def test_an_index_whose_folder_was_deleted_is_gone(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    database = Database(folder / "index.db", (lambda connection: connection.execute("CREATE TABLE t (x)"),))
    assert database.let_go()
    shutil.rmtree(folder)
    with (
        pytest.raises(StoreUnavailable, match=r"index\.db\) is gone: its folder was deleted, moved or unmounted"),
        database.writing() as connection,
    ):
        connection.execute("INSERT INTO t VALUES (1)")
    database.close()


def test_an_index_of_a_newer_version_is_left_alone_and_an_older_engine_has_its_own(tmp_path: Path) -> None:
    open_index(tmp_path, Settings()).close()
    _make_newer(tmp_path / "index.db")
    before = (tmp_path / "index.db").read_bytes()
    for _ in range(2):
        index = open_index(tmp_path, Settings())
        assert "a newer rag-ls made the index" in index.file.why_remade
        assert index.file.path is not None
        assert index.file.path.parent.parent == tmp_path
        assert not index.file.is_lost
        index.close()
    assert (tmp_path / "index.db").read_bytes() == before


def test_an_engine_whose_index_a_newer_one_takes_over_moves_on_to_its_own(tmp_path: Path) -> None:
    index = open_index(tmp_path, Settings())
    _make_newer(tmp_path / "index.db")
    with pytest.raises(StoreUnavailable, match="a newer rag-ls uses the index"):
        index.checkout.queue.count()
    assert (index.file.is_lost, is_marked_damaged(tmp_path / "index.db")) == (True, False)
    index.close()
    again = open_index(tmp_path, Settings())
    assert again.checkout.queue.count() == 0
    again.close()


def test_what_lies_in_place_of_the_older_engine_s_folder_is_not_followed(tmp_path: Path) -> None:
    data, precious = tmp_path / "data", tmp_path / "precious"
    data.mkdir()
    open_index(data, Settings()).close()
    _make_newer(data / "index.db")
    folder = open_index(data, Settings()).file.path.parent  # type: ignore[union-attr]
    shutil.rmtree(folder)
    precious.mkdir()
    folder.symlink_to(precious)
    open_index(data, Settings()).close()
    assert list(precious.iterdir()) == []
