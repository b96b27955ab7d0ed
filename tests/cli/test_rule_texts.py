"""The verbs on rules print all that their answers speak of."""

from __future__ import annotations

from rag_ls.cli.rule_commands import _constraints
from rag_ls.cli.terminal import PLAIN


def test_the_places_where_a_diff_breaks_a_rule_are_shown() -> None:
    broken = {"rule": "no-print", "severity": "error", "message": "Use the log.", "filePath": "src/cart.py", "line": 3}
    answer = {
        "constraints": [], "patterns": [], "examples": [], "violations": [broken],
        "summary": "1 rule is broken by the diff in 1 place: see violations; no rule seems to be about this",
    }  # fmt: skip
    assert _constraints(answer, PLAIN) == (
        "src/cart.py:3  error  no-print  Use the log.\n\n"
        "1 rule is broken by the diff in 1 place, as shown above; no rule seems to be about this"
    )


def test_the_rules_that_a_machine_checks_in_a_file_are_shown() -> None:
    answer = {
        "constraints": [], "patterns": [], "examples": [], "checks": ["no-print: Use the log.", "layers"],
        "summary": "no rule seems to be about this, 0 examples in code",
    }  # fmt: skip
    assert _constraints(answer, PLAIN) == (
        "checked  no-print: Use the log.\nchecked  layers\n\nno rule seems to be about this, 0 examples in code"
    )
