"""What differs between a project's files and its index."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from rag_ls.chunking import Budget
from rag_ls.indexing import Cutters, Cutting, DocumentIndexer, Scan, scan_tree
from rag_ls.indexing.listing import Patterns
from rag_ls.indexing.scan import is_all_known
from rag_ls.model import Freshness
from rag_ls.project import Project
from rag_ls.storage.sqlite.checkout import CheckoutIndex
from tests.support import git_repository, lexical_of, write


class _Index:
    """A store with what fills it, without any background work."""

    def __init__(self, root: Path, store: CheckoutIndex, cutters: Cutters) -> None:
        self.project, self.store = Project(root.resolve()), store
        cutting = Cutting(Budget(200, 40, 24))
        self.documents = DocumentIndexer(self.project, store, cutting, cutters)

    def scan(self) -> Scan:
        return scan_tree(self.project, self.store, self.documents, Patterns())

    def read_queue(self) -> list[str]:
        queued = self.store.queue.paths()
        for path in queued:
            self.documents.index_file(path)
        return queued

    def settle(self) -> None:
        """As if all had been read long after it was written: the stamps prove what they say."""
        for path, known in self.store.documents().items():
            self.store.touch_document(replace(known, state=replace(known.state, read_ns=known.state.read_ns + 10**11)))
            assert path

    def freshness(self, path: str) -> Freshness | None:
        known = self.store.document(path)
        assert known is not None
        return self.documents.freshness(known)


@pytest.fixture
def index(shop: Path, store: CheckoutIndex, cutters: Cutters) -> _Index:
    """The shop, indexed and settled."""
    index = _Index(shop, store, cutters)
    index.scan()
    index.read_queue()
    index.settle()
    return index


def test_the_first_scan_queues_every_file(shop: Path, store: CheckoutIndex, cutters: Cutters) -> None:
    index = _Index(shop, store, cutters)
    assert index.scan() == Scan(files=4, queued=4, removed=0)
    assert index.read_queue() == ["docs/guide.md", "src/auth.py", "src/cart.py", "src/mail.js"]
    assert store.queue.paths() == []


def test_an_unchanged_project_queues_nothing(index: _Index) -> None:
    assert index.scan() == Scan(files=4, queued=0, removed=0)


def test_new_changed_and_deleted_files_are_found(index: _Index, shop: Path) -> None:
    write(shop, {"src/new.py": "x = 1\n", "src/cart.py": "changed = True\n"})
    (shop / "src/mail.js").unlink()
    assert index.scan() == Scan(files=4, queued=2, removed=1)
    assert index.read_queue() == ["src/cart.py", "src/new.py"]
    assert set(index.store.documents()) == {"docs/guide.md", "src/auth.py", "src/cart.py", "src/new.py"}
    assert lexical_of(index.store).search(["invoice"], 5) == []


def test_a_file_that_another_process_finds_again_during_a_comparison_stays_queued(index: _Index, shop: Path) -> None:
    (shop / "src/mail.js").unlink()

    def find_again() -> None:
        write(shop, {"src/mail.js": "const found = 1\n"})
        index.store.queue.add(["src/mail.js"])

    scan_tree(index.project, index.store, index.documents, Patterns(), give_way=find_again)
    assert index.store.queue.paths() == ["src/mail.js"]


def test_a_file_that_a_question_looks_at_while_a_comparison_leaves_it_out_is_left_out_by_the_next(
    index: _Index, shop: Path
) -> None:
    git_repository(shop, {".gitignore": "src/mail.js\n"})

    def look() -> None:
        known = index.store.document("src/mail.js")
        assert known is not None
        index.store.touch_document(replace(known, state=replace(known.state, read_ns=time.time_ns())))

    assert scan_tree(index.project, index.store, index.documents, Patterns(), give_way=look).contested == 1
    assert index.scan().contested == 0
    assert "src/mail.js" not in index.store.documents()


def test_tracked_files_whose_folder_is_a_link_to_its_new_place_are_known_by_their_real_paths(
    shop: Path, store: CheckoutIndex, cutters: Cutters
) -> None:
    git_repository(shop, {})
    index = _Index(shop, store, cutters)
    index.scan()
    index.read_queue()
    (shop / "src").rename(shop / "moved")
    (shop / "src").symlink_to("moved")
    assert index.freshness("src/cart.py") is None
    index.documents.index_file("src/auth.py")
    assert "src/auth.py" not in store.documents()
    index.scan()
    index.read_queue()
    assert set(store.documents()) == {"docs/guide.md", "moved/auth.py", "moved/cart.py", "moved/mail.js"}


def test_a_touched_file_is_read_and_not_cut_again(index: _Index, shop: Path) -> None:
    os.utime(shop / "src/cart.py", ns=(10**18, 10**18))
    assert index.scan().queued == 1
    assert index.documents.index_file("src/cart.py") is None
    assert index.store.queue.paths() == []
    index.settle()
    assert index.scan().queued == 0


def test_a_change_within_the_tick_of_reading_is_found_although_the_stamp_is_the_same(
    shop: Path, store: CheckoutIndex, cutters: Cutters
) -> None:
    index = _Index(shop, store, cutters)
    index.scan()
    index.read_queue()
    changed = (shop / "src/cart.py").read_text().replace("discount", "diskount")
    write(shop, {"src/cart.py": changed})
    status = (shop / "src/cart.py").lstat()
    known = store.document("src/cart.py")
    assert known is not None
    assert known.state.size == status.st_size
    # The file system's clock did not move on between reading and writing.
    same = replace(known.state, mtime_ns=status.st_mtime_ns, ctime_ns=status.st_ctime_ns)
    store.touch_document(replace(known, state=same))
    assert index.freshness("src/cart.py") is Freshness.CHANGED
    index.scan()
    assert "src/cart.py" in store.queue.paths()
    replaced = index.documents.index_file("src/cart.py")
    assert replaced is not None
    assert replaced.added > 0


def test_a_file_that_is_ignored_now_leaves_the_index(index: _Index, shop: Path) -> None:
    write(shop, {".gitignore": "src/\n"})
    index.scan()
    index.read_queue()
    assert set(index.store.documents()) == {".gitignore", "docs/guide.md"}


def test_a_file_that_became_binary_leaves_the_index_and_comes_back_as_text(index: _Index, shop: Path) -> None:
    text = (shop / "src/cart.py").read_bytes()
    write(shop, {"src/cart.py": b"\0\1\2"})
    index.scan()
    index.read_queue()
    assert index.store.skipped()["src/cart.py"].reason == "binary"
    assert lexical_of(index.store).search(["discount"], 5) == []
    write(shop, {"src/cart.py": text})
    index.scan()
    index.read_queue()
    assert "src/cart.py" not in index.store.skipped()
    assert len(lexical_of(index.store).search(["discount"], 5)) == 1


def test_skipped_files_are_counted_and_not_read_again(shop: Path, store: CheckoutIndex, cutters: Cutters) -> None:
    write(shop, {".env": "TOKEN=x", "logo.png": b"\x89PNG"})
    index = _Index(shop, store, cutters)
    index.scan()
    index.read_queue()
    reasons = {path: skipped.reason for path, skipped in store.skipped().items()}
    assert reasons == {".env": "secret", "logo.png": "binary"}


def test_skipped_files_that_were_just_written_are_not_queued_again(
    shop: Path, store: CheckoutIndex, cutters: Cutters
) -> None:
    write(shop, {"logo.bin": b"\0" * 10, "latin.py": bytes(range(128, 256))})
    index = _Index(shop, store, cutters)
    index.scan()
    index.read_queue()
    assert index.store.skipped_counts() == {"binary": 1, "unknown encoding": 1}
    assert index.scan().queued == 0
    write(shop, {"latin.py": b"cafe = 1\n!"})
    assert index.scan().queued == 1


def test_other_cutting_settings_cut_every_file_again(index: _Index) -> None:
    index.documents.cutting = Cutting(Budget(100, 40, 24))
    assert index.scan() == Scan(files=4, queued=4, removed=0)
    assert index.freshness("src/cart.py") is Freshness.CHANGED
    assert index.documents.index_file("src/cart.py") is not None
    index.read_queue()
    index.settle()
    assert index.scan().queued == 0


def test_freshness_is_that_of_the_file_at_this_moment(index: _Index, shop: Path) -> None:
    assert index.freshness("src/cart.py") is Freshness.DISK
    os.utime(shop / "src/cart.py", ns=(10**18, 10**18))
    assert index.freshness("src/cart.py") is Freshness.DISK
    write(shop, {"src/cart.py": "other\n"})
    assert index.freshness("src/cart.py") is Freshness.CHANGED
    (shop / "src/cart.py").unlink()
    assert index.freshness("src/cart.py") is None


def test_a_file_replaced_by_a_link_is_changed(index: _Index, shop: Path) -> None:
    (shop / "src/cart.py").unlink()
    (shop / "src/cart.py").symlink_to(shop / "src/auth.py")
    assert index.freshness("src/cart.py") is Freshness.CHANGED


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_a_file_of_git_that_another_kind_of_file_replaced_leaves_the_index(
    index: _Index, shop: Path, kind: str
) -> None:
    git_repository(shop, {})
    file = shop / "src/cart.py"
    file.unlink()
    if kind == "link":
        file.symlink_to("auth.py")
    elif kind == "folder":
        write(shop, {"src/cart.py/inner.py": "x = 1\n"})
    else:
        os.mkfifo(file)
    index.scan()
    index.read_queue()
    assert "src/cart.py" not in index.store.documents()
    assert is_all_known(index.store)


def test_unsaved_text_is_a_buffer_s(index: _Index) -> None:
    index.documents.index_buffer("src/cart.py", "unsaved = 1\n", "session")
    known = index.store.document("src/cart.py", "session")
    assert known is not None
    assert index.documents.freshness(known) is Freshness.BUFFER


def test_a_file_whose_name_is_not_utf8_does_not_stop_the_scan(index: _Index, shop: Path) -> None:
    (Path(os.fsdecode(os.fsencode(shop) + b"/src/caf\xe9.py"))).write_text("x = 1\n")
    write(shop, {"src/new.py": "x = 1\n"})
    index.scan()
    index.read_queue()
    assert "src/new.py" in index.store.documents()
