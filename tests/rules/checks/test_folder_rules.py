"""Rules that a package states count for the files below it, and for no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.indexing import Patterns
from rag_ls.rules.checks.project import check_project
from tests.support import write

CODE = {
    "backend/src/web/page.py": "from store import db\nimport requests\nprint(1)\n",
    "backend/src/store/db.py": "x = 1\n",
    "backend/store/db.py": "x = 1\n",
    "store/db.py": "x = 1\n",
    "src/web/page.py": "import requests\nprint(1)\n",
    "backends/src/web/page.py": "print(1)\n",
}


@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        ("{id: a, language: python, forbid: print($$$)}", ["backend/src/web/page.py:3"]),
        ("{id: a, language: python, forbid: print($$$), files: src/**}", ["backend/src/web/page.py:3"]),
        ("{id: a, language: python, forbid: print($$$), files: backend/src/**}", ["backend/src/web/page.py:3"]),
        ("{id: a, language: python, forbid: print($$$), files: '*.py', not_files: page.py}", []),
        ("{id: a, language: python, forbid: print($$$), files: src}", ["backend/src/web/page.py:3"]),
        ("{id: a, forbid_imports: requests}", ["backend/src/web/page.py:2"]),
        ("{id: a, place: [src/web/**, src/store], files: '*.py'}", ["backend/store/db.py:1"]),
        ("{id: a, file_names: PascalCase, files: './src/web/*.py', exceptions: [src/web/page.py]}", []),
    ],
)
def test_globs_of_a_package_count_from_its_folder(tmp_path: Path, rule: str, broken: list[str]) -> None:
    write(tmp_path, {**CODE, "backend/ARCHITECTURE.yml": f"rules:\n  - {rule}\n", ".git/HEAD": ""})
    found = check_project(tmp_path, patterns=Patterns(), processes=1)
    assert [f"{each.path}:{each.place.line}" for each in found.violations] == broken
    assert not found.rules.problems


def test_rules_of_the_project_and_of_packages_count_together_and_foreign_ones_do_not(tmp_path: Path) -> None:
    files = {f"{folder}ARCHITECTURE.yml": RULE for folder in ("", "a/", "a/b/", "vendor/x/", "node_modules/y/")}
    write(tmp_path, {**files, "a/b/c.py": "print(1)\n", "vendor/x/d.py": "print(1)\n", ".git/HEAD": ""})
    found = check_project(tmp_path, patterns=Patterns(), processes=1)
    stated = [(each.path, each.stated_at.partition(":")[0]) for each in found.violations]
    assert stated == [
        ("a/b/c.py", "ARCHITECTURE.yml"), ("a/b/c.py", "a/ARCHITECTURE.yml"), ("a/b/c.py", "a/b/ARCHITECTURE.yml"),
        ("vendor/x/d.py", "ARCHITECTURE.yml"),
    ]  # fmt: skip


RULE = "rules:\n  - {id: no-print, language: python, forbid: print($$$)}\n"
