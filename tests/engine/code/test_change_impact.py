"""The things that a change of several files touches, read from a real repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.engine.code.change_impact import FileImpact, NameChange, find_change_impact
from rag_ls.errors import InvalidRequest
from rag_ls.indexing import Depth
from rag_ls.rules.checks.project import changed_files
from rag_ls.rules.diffs import ChangedFile, read_changes
from rag_ls.util.git_changes import ChangeStatus
from tests.support import PATIENCE_S, git, git_repository, write

SHOP = {
    "shop/__init__.py": "",
    "shop/cart.py": (
        "class Cart:\n    def add(self, item):\n        self.item = item\n\n    def drop_all(self):\n        pass\n\n\n"
        "def total(items):\n    return sum(items)\n\n\ndef count(items):\n    return len(items)\n\n\ndef _own():\n    pass\n"
    ),
    "shop/mail.py": "from shop.cart import count, total\n\n\ndef send():\n    return total([]) + count([])\n",
    "shop/web.py": "from shop.cart import Cart\n\n\ndef view(cart):\n    cart.drop_all()\n    return Cart()\n",
    "shop/old.py": "def legacy():\n    return 1\n",
    "shop/uses_old.py": "from shop.old import legacy\n\nlegacy()\n",
    "shop/moved.py": "def here():\n    return 1\n\n\ndef there():\n    return 2\n",
    "shop/uses_moved.py": "from shop.moved import here\n\nhere()\n",
    "tests/test_cart.py": "from shop.cart import total\n\n\ndef test_it():\n    assert total([1]) == 1\n",
    "logo.png": b"\x89PNG\x00\x01",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with one commit on its branch `main`."""
    made = git_repository(tmp_path / "shop", SHOP)
    git(made, "branch", "-M", "main")
    return made


def _impact(client: Client, root: Path, revision: str = "main") -> dict[str, FileImpact]:
    view = client.open(root, on_purpose=True)
    view.indexing.index_tree(Depth.WORDS)
    assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    found = find_change_impact(view, read_changes(root, revision).files)
    return {each.file.path: each for each in found}


def test_public_names_and_those_who_must_change_along(client: Client, root: Path) -> None:
    text = str(SHOP["shop/cart.py"]).replace("def total(items):", "def total(items, tax):").replace("len(items)", "0")
    text = text.replace("    def drop_all(self):\n        pass\n", "").replace("def _own", "def _renamed")
    write(root, {"shop/cart.py": text + "\n\ndef fresh():\n    pass\n"})
    found = _impact(client, root)["shop/cart.py"]
    assert {each.name: each.change for each in found.names} == {
        "Cart": NameChange.BODY, "total": NameChange.SIGNATURE, "count": NameChange.BODY, "fresh": NameChange.ADDED,
        "Cart.drop_all": NameChange.REMOVED,
    }  # fmt: skip
    assert {each.path: each.uses for each in found.breaking} == {
        "shop/mail.py": ((1, "total"), (5, "total")),
        "shop/web.py": ((5, "Cart.drop_all"),),
        "tests/test_cart.py": ((1, "total"), (5, "total")),
    }
    assert [each.path for each in found.dependents] == ["shop/mail.py", "shop/web.py", "tests/test_cart.py"]
    assert found.tests == ("tests/test_cart.py",)


def test_who_changed_along_has_not_to(client: Client, root: Path) -> None:
    write(root, {
        "shop/cart.py": str(SHOP["shop/cart.py"]).replace("def total(items):", "def total(items, tax):"),
        "shop/mail.py": str(SHOP["shop/mail.py"]).replace("total([])", "total([], 0)"),
    })  # fmt: skip
    assert [each.path for each in _impact(client, root)["shop/cart.py"].breaking] == ["tests/test_cart.py"]


def test_who_still_uses_what_is_gone_is_told_though_it_changed(client: Client, root: Path) -> None:
    write(root, {
        "shop/cart.py": str(SHOP["shop/cart.py"]).replace("def total(items):", "def total_of(items):"),
        "shop/mail.py": "# Sends mail.\n" + str(SHOP["shop/mail.py"]),
        "tests/test_cart.py": str(SHOP["tests/test_cart.py"]).replace("total", "total_of"),
    })  # fmt: skip
    assert [(each.path, each.lines) for each in _impact(client, root)["shop/cart.py"].breaking] == [
        ("shop/mail.py", (2, 6))
    ]


def test_deleted_and_renamed_files_that_are_still_imported(client: Client, root: Path) -> None:
    git(root, "rm", "-q", "shop/old.py")
    git(root, "mv", "shop/moved.py", "shop/place.py")
    found = _impact(client, root)
    assert (found["shop/old.py"].file.status, found["shop/place.py"].file.status) == (
        ChangeStatus.DELETED,
        ChangeStatus.RENAMED,
    )
    assert [(each.path, each.lines) for each in found["shop/old.py"].breaking] == [("shop/uses_old.py", (1, 3))]
    assert [(each.path, each.lines) for each in found["shop/place.py"].breaking] == [("shop/uses_moved.py", (1,))]


def test_a_name_that_left_its_file_breaks_its_importers(client: Client, root: Path) -> None:
    write(root, {"shop/old.py": "def other():\n    return 1\n"})
    assert [(each.path, each.uses) for each in _impact(client, root)["shop/old.py"].breaking] == [
        ("shop/uses_old.py", ((1, "legacy"), (3, "legacy")))
    ]


def test_binary_and_new_files_and_comments(client: Client, root: Path) -> None:
    write(root, {
        "logo.png": b"\x89PNG\x00\x02", "shop/new.py": "def new():\n    pass\n", "notes.txt": "new\n",
        "shop/old.py": "# A comment.\n\ndef legacy():\n    return 1\n",
    })  # fmt: skip
    found = _impact(client, root)
    assert "not looked into" in found["logo.png"].file.note
    assert [(each.name, each.change) for each in found["shop/new.py"].names] == [("new", NameChange.ADDED)]
    assert found["shop/new.py"].file.status is ChangeStatus.ADDED
    assert (found["notes.txt"].names, found["shop/old.py"].names) == ((), ())


def test_what_the_branch_did_counts_and_not_what_the_other_one_did_since(client: Client, root: Path) -> None:
    git(root, "checkout", "-qb", "mine")
    write(root, {"shop/old.py": "def other():\n    return 1\n"})
    git(root, "commit", "-qam", "mine")
    git(root, "checkout", "-q", "main")
    write(root, {"shop/mail.py": "x = 1\n"})
    git(root, "commit", "-qam", "theirs")
    git(root, "checkout", "-q", "mine")
    assert [file.path for file in read_changes(root, "main").files] == ["shop/old.py"]


@pytest.mark.parametrize("revision", ["nowhere", "--output=x", "", "main..nowhere"])
def test_a_base_that_does_not_exist_is_named(root: Path, revision: str) -> None:
    with pytest.raises(InvalidRequest, match="is no revision of this repository; give a branch, tag or commit"):
        read_changes(root, revision)


def test_a_folder_without_git_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"changes since 'main' cannot be told: .* is in no git repository"):
        read_changes(tmp_path, "main")


def test_another_commit_of_a_submodule_is_named(root: Path) -> None:
    commit = git(root, "rev-parse", "HEAD").strip()
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{commit},vendor/lib")
    (note,) = read_changes(root, "main").notes
    assert note.startswith("vendor/lib is a submodule")


def test_branches_without_a_common_commit_are_compared_as_they_are(root: Path) -> None:
    git(root, "checkout", "-q", "--orphan", "apart")
    write(root, {"shop/old.py": "x = 1\n"})
    git(root, "commit", "-qam", "apart")
    changes = read_changes(root, "main")
    assert "no commit is known that main and this branch have in common" in changes.notes[0]
    assert [file.path for file in changes.files] == ["shop/old.py"]


def test_a_file_whose_time_alone_is_another_one_has_not_changed(root: Path) -> None:
    for file in ("shop/cart.py", "shop/mail.py"):
        os.utime(root / file, (1, 1))
    write(root, {"shop/old.py": "def legacy():\n    return 2\n"})
    assert [each.path for each in read_changes(root, "main").files] == ["shop/old.py"]
    assert changed_files(root, "main") == ["shop/old.py"]


def test_another_repository_within_is_no_new_file_and_links_are_not_followed(root: Path, tmp_path: Path) -> None:
    git_repository(root / "inner", {"a.py": "def a(): ...\n"})
    (root / "link.py").symlink_to(root / "shop/cart.py")
    assert [(each.path, each.after, each.note) for each in read_changes(root, "main").files] == [
        ("link.py", "", "a link: not followed")
    ]


def test_a_long_file_is_compared_in_time() -> None:
    """A comparison of all places would take hours."""
    before = [f'  "package-{at % 700}": {{ "version": "{at % 13}" }},\n' for at in range(20_000)]
    after = [*before[:5000], '  "new": 1,\n', *before[7000:]]
    file = ChangedFile("lock.json", ChangeStatus.CHANGED, "lock.json", "".join(before), "".join(after))
    assert [line for _, line in file.added_lines.lines] == ['  "new": 1,']


def test_code_that_is_only_aligned_otherwise_does_the_same(client: Client, root: Path) -> None:
    write(root, {"shop/old.py": "def legacy():\n    return  1\n"})
    assert _impact(client, root)["shop/old.py"].names == ()
