"""Which changes mean something to the index."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.indexing import Admissions
from rag_ls.indexing.files import Patterns
from rag_ls.storage.sqlite.checkout import SqliteCheckout
from tests.support import record, write


@pytest.fixture
def admissions(shop: Path, store: SqliteCheckout) -> Admissions:
    """Those of the shop, with an empty index."""
    return Admissions(shop, store, Patterns)


def test_what_is_gone_and_was_never_known_means_nothing(admissions: Admissions) -> None:
    assert admissions.relevant({"tmp~", "gone"}) == []


def test_new_files_that_the_rules_let_in_do(admissions: Admissions, shop: Path) -> None:
    write(shop, {".gitignore": "*.log\n", "new.py": "x = 1\n", "new.log": "x\n"})
    assert admissions.relevant({"new.py", "new.log"}) == ["new.py"]


def test_a_folder_that_went_with_files_of_the_index_does(admissions: Admissions, store: SqliteCheckout) -> None:
    store.replace_document(record("lib/a.py"), [])
    assert admissions.relevant({"lib"}) == ["lib"]


def test_a_folder_that_went_before_its_files_were_read_does(admissions: Admissions, store: SqliteCheckout) -> None:
    store.queue.add(["lib/deep/a.py"])
    assert admissions.relevant({"lib", "lib/deep", "lib/deep/a.py", "libs"}) == ["lib", "lib/deep", "lib/deep/a.py"]


def test_what_went_while_it_was_on_its_way_into_the_index_does(admissions: Admissions) -> None:
    assert admissions.relevant({"lib", "lib/a.py", "lib/b.py"}, in_hand=["lib/a.py"]) == ["lib", "lib/a.py"]
