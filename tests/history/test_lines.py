"""The commits that changed some lines, in real repositories."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_ls.history.lines import LineHistory
from rag_ls.history.patches import compare_texts, map_back
from rag_ls.history.project_history import ProjectHistory
from rag_ls.storage import CheckoutIndex
from tests.support import PATIENCE_S, git, git_repository, scale_examples, write

FEE = "def fee(total):\n    share = total * RATE\n    return round(share, 2)\n"
REST = "".join(f"\n\ndef other_{number}():\n    return {number}\n" for number in range(5))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return git_repository(tmp_path / "shop", {"fee.py": FEE + REST})


def commit(root: Path, subject: str, files: dict[str, str]) -> None:
    write(root, files)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", subject)


def follow(store: CheckoutIndex, root: Path, path: str, lines: tuple[int, int]) -> list[str]:
    """The subjects of the commits that changed some lines, the newest first; `+` before the one that brought them."""
    history = ProjectHistory(root, store.commits, lambda: False)
    history.begin_reading()
    assert history.wait(PATIENCE_S)
    assert not history.problem
    changes = LineHistory(root, store.commits).follow(store.commits.id_of(store.commits.head), path, lines)
    found = store.commits.by_id([each.commit_id for each in changes])
    return [("+" if each.introduces else "") + found[each.commit_id].subject for each in changes]


def test_commits_that_changed_other_lines_are_left_out(store: CheckoutIndex, root: Path) -> None:
    commit(root, "round up", {"fee.py": FEE.replace("round(share, 2)", "ceil(share)") + REST})
    commit(root, "elsewhere", {"fee.py": "import math\n\n\n" + FEE.replace("round(share, 2)", "ceil(share)") + REST})
    commit(
        root,
        "below",
        {"fee.py": "import math\n\n\n" + FEE.replace("round(share, 2)", "ceil(share)") + "x = 1\n" + REST},
    )
    assert follow(store, root, "fee.py", (4, 6)) == ["round up", "+first"]


def test_a_renamed_file_and_a_moved_function_are_followed(store: CheckoutIndex, root: Path) -> None:
    commit(root, "two digits", {"fee.py": FEE.replace("2)", "3)") + REST})
    git(root, "mv", "fee.py", "charges.py")
    commit(root, "rename", {})
    commit(root, "move", {"charges.py": REST, "money.py": "RATE = 0.1\n\n\n" + FEE.replace("2)", "3)")})
    commit(root, "shorter", {"money.py": "RATE = 0.1\n\n\n" + FEE.replace("2)", "3)").replace("share", "part")})
    assert follow(store, root, "money.py", (4, 6)) == ["shorter", "move", "two digits", "+first"]


def test_a_merge_tells_only_what_it_changed_itself(store: CheckoutIndex, root: Path) -> None:
    main = git(root, "branch", "--show-current").strip()
    git(root, "checkout", "--quiet", "-b", "rates")
    commit(root, "on a branch", {"fee.py": FEE.replace("RATE", "rate()") + REST})
    git(root, "checkout", "--quiet", main)
    commit(root, "meanwhile", {"fee.py": FEE + REST + "\nLAST = 1\n"})
    git(root, "merge", "--quiet", "--no-edit", "rates")
    assert follow(store, root, "fee.py", (1, 3)) == ["on a branch", "+first"]


def test_after_a_rebase_former_commits_count_no_longer(store: CheckoutIndex, root: Path) -> None:
    commit(root, "slip", {"fee.py": FEE.replace("2)", "1)") + REST})
    assert follow(store, root, "fee.py", (1, 3)) == ["slip", "+first"]
    write(root, {"fee.py": FEE.replace("2)", "4)") + REST})
    git(root, "commit", "--quiet", "--all", "--amend", "--message", "four digits")
    assert follow(store, root, "fee.py", (1, 3)) == ["four digits", "+first"]
    assert store.commits.search(["slip"], 5) == []


def test_a_folder_of_a_repository_sees_its_own_files(store: CheckoutIndex, root: Path) -> None:
    commit(root, "inner", {"part/pay.py": FEE})
    commit(root, "inner change", {"part/pay.py": FEE.replace("2)", "3)"), "fee.py": REST})
    assert follow(store, root / "part", "pay.py", (1, 3)) == ["inner change", "+inner"]


_TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=12)


@given(_TEXTS, _TEXTS, st.data())
@settings(max_examples=scale_examples(100))
def test_lines_that_no_hunk_touches_hold_the_same_text_before(
    former: list[str], now: list[str], data: st.DataObject
) -> None:
    first = data.draw(st.integers(1, len(now)))
    last = data.draw(st.integers(first, len(now)))
    is_touched, before = map_back(compare_texts("\n".join(former), "\n".join(now)), (first, last))
    if not is_touched:
        assert before is not None
        assert former[before[0] - 1 : before[1]] == now[first - 1 : last]
    elif before is not None:
        assert 1 <= before[0] <= before[1] <= len(former)
