"""A diff is read as the lines that it adds to files."""

from __future__ import annotations

import pytest

from rag_ls.errors import InvalidRequest
from rag_ls.rules.diffs import read_diff

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
    first, second = read_diff(DIFF)
    assert (first.path, first.lines) == ("src/a.py", ((2, "x = 2"), (3, "print(x)"), (12, "z = 4")))
    assert (second.path, second.text) == ("src/b.py", "new")


def test_a_text_that_is_no_diff_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="git diff"):
        read_diff("please add a print")
