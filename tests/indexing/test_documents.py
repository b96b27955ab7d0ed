"""Files on their way into the index."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.chunking import Budget
from rag_ls.indexing import Admissions, Cutters, Cutting, DocumentIndexer
from rag_ls.indexing.documents import Prepared
from rag_ls.indexing.intake import Intake
from rag_ls.indexing.listing import Patterns
from rag_ls.project import Project
from rag_ls.storage.sqlite.checkout import CheckoutIndex
from tests.support import write


@pytest.fixture
def documents(shop: Path, store: CheckoutIndex, cutters: Cutters) -> DocumentIndexer:
    """Those of the shop, of which nothing is indexed yet."""
    return DocumentIndexer(Project(shop.resolve()), store, Cutting(Budget(200, 40, 24)), cutters)


@pytest.fixture
def admissions(shop: Path, store: CheckoutIndex) -> Admissions:
    """What the shop's rules let in."""
    return Admissions(shop, store, Patterns)


@pytest.mark.parametrize("ignored", [False, True])
def test_a_file_that_goes_between_cutting_and_storing_is_not_in_the_index(
    documents: DocumentIndexer,
    admissions: Admissions,
    store: CheckoutIndex,
    shop: Path,
    ignored: bool,
) -> None:
    intake = Intake(documents, store, admissions)
    write(shop, {".gitignore": "src/\n" if ignored else ""})
    queued = ["src/auth.py", "src/cart.py"]
    store.queue.add(queued)
    cut: dict[str, Prepared] = {}
    for batch in documents.prepare_many(queued, parallel=True):
        cut |= batch
    (shop / "src/cart.py").unlink()
    changed = intake.find_wanted(admissions.relevant(["src/cart.py"]))
    assert changed == ["src/cart.py"]
    for path in changed:
        intake.take_file(path)
    documents.index_files(cut)
    assert set(store.documents()) == {"src/auth.py"}
    assert store.queue.paths() == []


@pytest.mark.parametrize("before", [None, b"PNG\0\1\2"], ids=["gone", "binary"])
def test_a_file_that_is_written_between_reading_and_storing_stays_queued(
    documents: DocumentIndexer, store: CheckoutIndex, shop: Path, before: bytes | None
) -> None:
    (shop / "src/cart.py").unlink()
    if before is not None:
        (shop / "src/cart.py").write_bytes(before)
    store.queue.add(["src/cart.py"])
    (read,) = documents.prepare_many(["src/cart.py"], parallel=False)
    write(shop, {"src/cart.py": "def total():\n    return 1\n"})
    store.queue.add(["src/cart.py"])
    documents.index_files(read)
    assert store.queue.paths() == ["src/cart.py"]


def test_a_skipped_file_that_is_gone_is_forgotten(
    documents: DocumentIndexer, admissions: Admissions, store: CheckoutIndex, shop: Path
) -> None:
    intake = Intake(documents, store, admissions)
    write(shop, {".env": "token\n"})
    intake.take_file(".env")
    assert intake.find_wanted([".env"]) == []
    (shop / ".env").unlink()
    for path in intake.find_wanted([".env"]):
        intake.take_file(path)
    assert store.skipped() == {}


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_text_is_that_of_its_file_with_and_without_a_byte_order_mark(
    documents: DocumentIndexer, shop: Path, mark: str
) -> None:
    write(shop, {"src/prices.py": f"{mark}tea = '3 €'\n"})
    assert documents.equals_file("src/prices.py", "tea = '3 €'\n")
    assert documents.equals_file("src/prices.py", "\ufefftea = '3 €'\n")
    assert not documents.equals_file("src/prices.py", "tea = '4 €'\n")
    assert not documents.equals_file("src/prices.py", "tea = '30 €'\n")
    assert not documents.equals_file("src/gone.py", "")


@pytest.mark.parametrize("ends", ["\r\n", "\n"])
def test_a_text_is_that_of_its_file_with_either_line_ends(documents: DocumentIndexer, shop: Path, ends: str) -> None:
    (shop / "src/prices.py").write_bytes(f"tea = '3 €'{ends}milk = 2{ends}".encode())
    for sent in ("\r\n", "\n"):
        assert documents.equals_file("src/prices.py", f"tea = '3 €'{sent}milk = 2{sent}")
        assert not documents.equals_file("src/prices.py", f"tea = '3 €'{sent}milk = 3{sent}")
        assert not documents.equals_file("src/prices.py", f"tea = '3 €'{sent}{sent}milk = 2")


def test_a_file_of_another_length_than_the_typed_text_is_not_read(
    documents: DocumentIndexer, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    read_file = documents.read
    monkeypatch.setattr(documents, "read", lambda path: read.append(path) or read_file(path))
    text = (shop / "src/cart.py").read_text()
    assert not documents.equals_file("src/cart.py", f"{text}#")
    assert read == []
    assert documents.equals_file("src/cart.py", text)
    assert read == ["src/cart.py"]
