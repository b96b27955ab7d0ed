"""Which changes mean something to the index."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_ls.indexing import Admissions, PathSet
from rag_ls.indexing.listing import Patterns
from rag_ls.storage import Skipped
from rag_ls.storage.sqlite.checkout import CheckoutIndex
from tests.support import SETTLED, record, write


@pytest.fixture
def admissions(shop: Path, store: CheckoutIndex) -> Admissions:
    """Those of the shop, with an empty index."""
    return Admissions(shop, store, Patterns)


def test_what_is_gone_and_was_never_known_means_nothing(admissions: Admissions) -> None:
    assert admissions.relevant({"tmp~", "gone"}) == []


def test_new_files_that_the_rules_let_in_do(admissions: Admissions, shop: Path) -> None:
    write(shop, {".gitignore": "*.log\n", "new.py": "x = 1\n", "new.log": "x\n"})
    assert admissions.relevant({"new.py", "new.log"}) == ["new.py"]


def test_a_folder_that_went_with_files_of_the_index_does(admissions: Admissions, store: CheckoutIndex) -> None:
    store.replace_document(record("lib/a.py"), [])
    assert admissions.relevant({"lib"}) == ["lib"]


def test_a_folder_that_went_before_its_files_were_read_does(admissions: Admissions, store: CheckoutIndex) -> None:
    store.queue.add(["lib/deep/a.py"])
    assert admissions.relevant({"lib", "lib/deep", "lib/deep/a.py", "libs"}) == ["lib", "lib/deep", "lib/deep/a.py"]


def test_a_skipped_file_matters_when_it_goes_and_not_when_it_is_written(
    admissions: Admissions, store: CheckoutIndex, shop: Path
) -> None:
    for path in (".env", "gone.lock"):
        store.skip(Skipped(path, "secret", SETTLED))
    write(shop, {".env": "token\n"})
    assert admissions.relevant({".env", "gone.lock"}) == ["gone.lock"]


def test_what_went_while_it_was_on_its_way_into_the_index_does(admissions: Admissions) -> None:
    assert admissions.relevant({"lib", "lib/a.py", "lib/b.py"}, in_hand=["lib/a.py"]) == ["lib", "lib/a.py"]


@given(st.lists(st.text("ab/0.", max_size=6), unique=True), st.text("ab/0.", max_size=4))
def test_a_set_of_paths_finds_what_is_at_a_path(paths: list[str], path: str) -> None:
    expected = [each for each in sorted(paths) if each == path or each.startswith(path + "/")]
    assert sorted(PathSet(paths).at(path)) == expected
