"""An edit is blamed for what it made, and for nothing else."""

from __future__ import annotations

import pytest

from rag_ls.rules.checks.architecture import read_architecture
from rag_ls.rules.checks.checked_code import leave_out_former
from rag_ls.rules.checks.checker import violations
from rag_ls.rules.checks.contracts import ImportGraph
from rag_ls.rules.checks.records import CheckedDocument

RULES = """rules:
  - {id: names, file_names: kebab-case}
  - {id: log, require_imports: logging}
  - {id: no-print, language: python, forbid: print($$$)}
"""


@pytest.mark.parametrize(
    ("former", "text", "made"),
    [
        ("x = 1\n", "y = 1\n", []),
        ("print(1)\nx = 1\n", "x = 1\nprint(1)\n", []),
        ("print(1)\n", "print(1)\nprint(1)\n", ["no-print"]),
        ("print(1)\n", "x = 1\nprint(2)\n", ["no-print"]),
        ("if x:\n    print(1)\n", "print(1)\n", []),
        ("", "print(1)\n", ["no-print"]),
    ],
)
def test_only_what_an_edit_made_is_left(former: str, text: str, made: list[str]) -> None:
    rules = read_architecture(RULES, "ARCHITECTURE.yml")
    before, after = (CheckedDocument("MyFile.py", "python", each) for each in (former, text))
    found = [violations(each, rules, ImportGraph({})) for each in (before, after)]
    assert [each.rule for each in leave_out_former(found[1], after, found[0], before)] == made
