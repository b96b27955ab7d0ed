"""What an answer says of files that were not looked at."""

from __future__ import annotations

from collections import Counter

from rag_ls.engine.project_status import describe_left_out


def test_files_that_may_hold_code_are_named_before_many_others() -> None:
    counts = Counter({"secret": 216, "data": 6, "generated": 1, "too large": 2, "minified": 2})
    assert describe_left_out(counts) == (
        "227 files were not looked at (2 too large, 216 secret, 6 data, 2 minified, 1 more): index_status with skipped = true lists them"
    )
