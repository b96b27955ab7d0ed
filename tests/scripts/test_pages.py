"""The pages that people write: they are short, name all that there is, and name no path that is gone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rag_ls.operations.tools import TOOLSETS, offer_tools

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "rag_ls"
ARCHITECTURE = ROOT / "docs" / "architecture.md"


def _rooms() -> list[str]:
    return sorted(folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").is_file())


def _named_paths(page: str) -> set[str]:
    """The paths of modules and folders of this repository that a page has in backticks."""
    rooms = "|".join([*_rooms(), "tests", "scripts", "docs", "packages", "editors", "training", "rag_ls"])
    return set(re.findall(rf"`((?:(?:{rooms})/[\w./-]*)|\w+\.py)`", page))


def test_each_path_that_the_architecture_names_exists() -> None:
    named = _named_paths(ARCHITECTURE.read_text(encoding="utf-8"))
    assert {"engine/engine.py", "model.py", "tests/storage/contracts/"} <= named
    assert sorted(path for path in named if not (PACKAGE / path).exists() and not (ROOT / path).exists()) == []


def test_each_room_has_a_line_in_the_architecture() -> None:
    rows = [line for line in ARCHITECTURE.read_text(encoding="utf-8").split("\n") if line.startswith("| `")]
    assert [room for room in _rooms() if not any(f"`{room}/`" in row.split(" | ")[0] for row in rows)] == []


def test_the_readme_names_each_tool() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert sorted(name for name in offer_tools(TOOLSETS) if f"`{name}`" not in page) == []


@pytest.mark.parametrize(
    ("page", "lines"), [("README.md", 150), ("docs/performance.md", 150), ("docs/quality.md", 300)]
)
def test_a_page_that_people_read_first_is_short(page: str, lines: int) -> None:
    assert len((ROOT / page).read_text(encoding="utf-8").splitlines()) <= lines
