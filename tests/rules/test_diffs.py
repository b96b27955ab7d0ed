"""A diff is read as the lines that it adds to files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rag_ls.errors import InvalidRequest
from rag_ls.rules.diffs import FileChange, read_diff
from tests.support import git, write

DIFF = """diff --git a/src/a.py b/src/a.py
index 1..2 100644
--- a/src/a.py
+++ b/src/a.py
@@ -1,3 +1,4 @@
 import os
-x = 1
+x = 2
+print(x)
 y = 3
@@ -10 +11,2 @@ def f():
 pass
+z = 4
diff --git a/gone.py b/gone.py
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-x
--- a/src/b.py
+++ b/src/b.py
@@ -0,0 +1 @@
+new
"""


def test_added_lines_have_their_numbers_in_the_new_text() -> None:
    first, gone, second = read_diff(DIFF)
    assert (gone.path, gone.is_deleted, gone.lines) == ("gone.py", True, ())
    assert (first.path, first.lines) == ("src/a.py", ((2, "x = 2"), (3, "print(x)"), (12, "z = 4")))
    assert (second.path, second.text) == ("src/b.py", "new")


def test_a_text_that_is_no_diff_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="git diff"):
        read_diff("please add a print")


def _write_diff(folder: Path, *options: str, name: str = "src/app.py") -> list[FileChange]:
    """The changes that are read from what git prints, in bytes, for an edit of a file."""
    git(folder, "init", "-q")
    write(folder, {name: "import os\n"})
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    (folder / name).write_bytes(b"import os\n++ b/other.py\nprint(1)\n")
    told = subprocess.run(["git", *options, "diff"], cwd=folder, capture_output=True, check=True).stdout
    return read_diff(told.decode("utf-8", "replace"))


@pytest.mark.parametrize(
    "setting",
    [
        "diff.mnemonicPrefix=true", "diff.noprefix=true", "color.ui=always", "core.quotePath=false", "diff.context=0",
        "diff.algorithm=histogram", "diff.colorMoved=zebra", "diff.suppressBlankEmpty=true",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["src/app.py", "src/naïve name.py", "b/a.py", 'src/"q"\t.py', "src b/src b.py"])
def test_a_diff_is_read_under_any_settings_of_git(tmp_path: Path, setting: str, name: str) -> None:
    (change,) = _write_diff(tmp_path, "-c", setting, name=name)
    assert (change.path, change.lines) == (name, ((2, "++ b/other.py"), (3, "print(1)")))


def test_a_merge_s_diff_is_refused() -> None:
    diff = (
        "diff --cc src/x.py\nindex 1,2..3\n--- a/src/x.py\n+++ b/src/x.py\n@@@ -1,2 -1,2 +1,3 @@@\n  a\n -gone\n++new\n"
    )
    with pytest.raises(InvalidRequest, match=r"b/src/x.py is compared with both sides of a merge"):
        read_diff(diff)


def test_only_the_end_of_a_line_ends_it() -> None:
    (change,) = read_diff("--- a/x.py\r\n+++ b/x.py\r\n@@ -1 +1,3 @@\r\n a\r\n+b\x0cc\u2028d\r\n+e\r\n")
    assert change.lines == ((2, "b\x0cc\u2028d"), (3, "e"))


def test_renamed_deleted_binary_and_empty_files_are_changes_too() -> None:
    diff = (
        "diff --git a/a b.py b/c d.py\nsimilarity index 90%\nrename from a b.py\nrename to c d.py\n"
        "diff --git a/x.bin b/x.bin\nBinary files a/x.bin and b/x.bin differ\n"
        "diff --git a/old.py b/old.py\ndeleted file mode 100644\nindex 1..0\n"
        "diff --git a/new.py b/new.py\nnew file mode 100644\nindex 0..1\n"
    )
    assert [(each.path, each.is_new, each.is_deleted) for each in read_diff(diff)] == [
        ("c d.py", True, False), ("x.bin", False, False), ("old.py", False, True), ("new.py", True, False),
    ]  # fmt: skip


@pytest.mark.parametrize("head", ["@@ -1,9 +1,9 @@", "@@ -1,2 +1 @@", "@@", "@@ -1,1 +1,2 @@ def f():"])
def test_lines_that_the_head_of_a_hunk_counts_wrongly_stay_with_their_file(head: str) -> None:
    diff = f"--- a/x.py\n+++ b/x.py\n{head}\n a\n+b\n--- a/y.py\n+++ b/y.py\n@@ -1 +1,2 @@\n a\n+c\n-- \n2.40.0\n"
    first, second = read_diff(diff)
    assert (first.path, first.text, second.path, second.text) == ("x.py", "b", "y.py", "c")


@pytest.mark.parametrize("option", ["--word-diff", "--color-words"])
def test_a_diff_of_words_is_refused_and_not_taken_for_one_that_adds_nothing(tmp_path: Path, option: str) -> None:
    _write_diff(tmp_path)
    told = subprocess.run(["git", "diff", option], cwd=tmp_path, capture_output=True, check=True, text=True).stdout
    with pytest.raises(InvalidRequest, match="--word-diff"):
        read_diff(told)


def test_lines_that_look_like_heads_within_a_hunk_are_its_lines() -> None:
    diff = "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n a\n--- a/y\n+++ b/y\n@@ -9 +9,2 @@\n a\n+c\n"
    (change,) = read_diff(diff)
    assert change.lines == ((2, "++ b/y"), (10, "c"))


def test_files_that_plain_diff_compares_have_the_name_of_the_new_one() -> None:
    names = [("old/src/x.py", "new/src/x.py", "src/x.py"), ("x.py.orig", "x.py", "x.py"), ("x.py", "x.py", "x.py")]
    for old, new, path in names:
        (change,) = read_diff(
            f"diff -u {old} {new}\n--- {old}\t2020-01-01\n+++ {new}\t2020-01-02\n@@ -1 +1,2 @@\n a\n+b\n"
        )
        assert change.path == path
