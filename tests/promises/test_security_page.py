"""docs/security.md says nothing that is not tested: each row names its test, and each test that it names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_REPOSITORY = Path(__file__).parents[2]
_PAGE = (_REPOSITORY / "docs/security.md").read_text("utf-8")
_NAME = re.compile(r"`(\.{3}\w+|test_\w+)(?:\.{3})?(\.py)?`|`(tests/[\w/.]*)`")
# One test watches all that is sent and written.
_ONE_TEST = ("What dependencies would send", "What is written where")


def _rows() -> list[tuple[str, str]]:
    """The heading of its section and the text of each row of a table."""
    rows, heading = [], ""
    lines = _PAGE.splitlines()
    for at, line in enumerate(lines):
        if line.startswith("## "):
            heading = line[3:]
        is_head = at + 1 < len(lines) and lines[at + 1].startswith("| ---")
        if line.startswith("| ") and not is_head and not line.startswith("| ---"):
            rows.append((heading, line))
    return rows


def _tests() -> set[str]:
    files = (_REPOSITORY / "tests").rglob("test_*.py")
    return {name for file in files for name in re.findall(r"def (test_\w+)", file.read_text("utf-8"))}


def test_each_row_names_its_test() -> None:
    assert len(_rows()) > 50
    assert [row for heading, row in _rows() if heading not in _ONE_TEST and not _NAME.search(row)] == []


def test_each_test_that_is_named_exists() -> None:
    tests, files = _tests(), {file.name for file in (_REPOSITORY / "tests").rglob("test_*.py")}
    named = [match for match in _NAME.finditer(_PAGE) if not match[3]]
    assert len(named) > 60
    for match in named:
        name = match[1].strip(".")
        if match[2]:
            assert f"{name}.py" in files, name
        else:
            assert any(name in test for test in tests), name
    for match in _NAME.finditer(_PAGE):
        assert not match[3] or (_REPOSITORY / match[3]).exists(), match[3]


@pytest.mark.parametrize("heading", _ONE_TEST)
def test_what_is_sent_and_written_is_watched_by_one_test(heading: str) -> None:
    assert heading in _PAGE
    assert "test_a_day_of_work_sends_nothing_and_writes_only_where_it_says" in _tests()
