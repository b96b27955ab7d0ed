"""A rule's `fix` is the text that mends what it finds, with what the rule has matched."""

from __future__ import annotations

import json

import pytest

from rag_ls.rules.checks.architecture import read_architecture
from rag_ls.rules.checks.checker import violations
from rag_ls.rules.checks.contracts import ImportGraph
from rag_ls.rules.checks.records import CheckedDocument, RuleSet


def _fixes(read: RuleSet, text: str) -> list[str | None]:
    assert read.problems == ()
    return [each.fix for each in violations(CheckedDocument("a.py", "python", text), read, ImportGraph({}))]


@pytest.mark.parametrize(
    ("pattern", "fix", "text", "made"),
    [
        ("print($A)", "log.info($A)", "print('é', )\n", "log.info('é')"),
        ("print($$$ARGS)", "log.info($$$ARGS)", "x = 'é'\nprint(a,  b)\n", "log.info(a,  b)"),
        ("print($$$ARGS)", "log.info($$$ARGS)", "print()\n", "log.info()"),
        ("print($A)", "if debug:\n    log($A)", "def f():\n    print(1)\n", "if debug:\n        log(1)"),
        ("print($A)", "log($B)", "print(1)\n", None),
    ],
)
def test_what_was_matched_stands_in_the_fix(pattern: str, fix: str, text: str, made: str | None) -> None:
    rules = f"rules:\n  - {{id: a, language: python, forbid: {json.dumps(pattern)}, fix: {json.dumps(fix)}}}\n"
    assert _fixes(read_architecture(rules, "ARCHITECTURE.yml"), text) == [made]


@pytest.mark.parametrize("fix", ["log.info($$$)", "log.info($$$_ARGS)", "log($A, $$$ )"])
def test_a_fix_that_would_write_or_lose_what_has_no_name_is_refused(fix: str) -> None:
    rules = f"rules:\n  - {{id: a, language: python, forbid: 'print($A, $$$)', fix: {json.dumps(fix)}}}\n"
    (problem,) = read_architecture(rules, "ARCHITECTURE.yml").problems
    assert "write $$$ARGS for it, in the pattern too" in problem.message


def test_a_rule_without_one_has_none() -> None:
    assert _fixes(
        read_architecture("rules:\n  - {id: a, language: python, forbid: print($A)}\n", "A.yml"), "print(1)\n"
    ) == [None]


def test_of_very_many_places_the_first_thousand_have_a_fix() -> None:
    rules = read_architecture("rules:\n  - {id: a, language: python, forbid: print($A), fix: log($A)}\n", "A.yml")
    made = _fixes(rules, "print(1)\n" * 1_200)
    assert (made.count("log(1)"), made.count(None)) == (1_000, 200)
