"""A check of all files of a project, without an engine."""

from __future__ import annotations

from pathlib import Path

from rag_ls.indexing import Patterns
from rag_ls.rules.checks.project import check_project
from tests.support import write

RULES = """rules:
  - {id: no-b, forbid_imports: b.py, files: ["*.py"], message: b is going}
"""


def test_a_check_says_how_far_it_is_and_reads_no_more_than_imports_for_rules_on_imports(tmp_path: Path) -> None:
    files = {f"m{number}.py": "import b\n\ndef f(): ...\n" for number in range(70)}
    write(tmp_path, {"ARCHITECTURE.yml": RULES, "b.py": "", "data.json": "{}", **files})
    steps = list[tuple[int, int]]()
    report = check_project(
        tmp_path, patterns=Patterns(), processes=1, report=lambda done, total: steps.append((done, total))
    )
    assert len(report.violations) == 70
    assert {total for _, total in steps} == {71}, "each file counts once, though its imports are read first"
    assert [done for done, _ in steps] == [0, 25, 50]


def test_a_rule_on_names_reads_declarations(tmp_path: Path) -> None:
    rules = "rules:\n  - {id: names, symbol_names: {style: snake_case}, files: ['*.py'], message: as Python does}\n"
    write(tmp_path, {"ARCHITECTURE.yml": rules, "a.py": "def do_it(): ...\n\ndef doIt(): ...\n"})
    found = check_project(tmp_path, patterns=Patterns(), processes=1)
    assert [(each.rule, each.place.line) for each in found.violations] == [("names", 3)], found.rules.problems
