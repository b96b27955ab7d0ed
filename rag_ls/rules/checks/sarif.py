"""Writes violations as SARIF 2.1.0, which code hosts show beside the lines (OASIS, "Static Analysis Results Interchange")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rag_ls.rules.checks.records import CheckRule, RuleProblem, Severity, Violation

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_BAD_RULE = "rag-ls-rule"


def write_sarif(
    violations: Sequence[Violation], problems: Sequence[RuleProblem], rules: Sequence[CheckRule], version: str
) -> dict[str, Any]:
    """A SARIF log with one run. `problems` are what is wrong with the rules themselves."""
    described = [_rule(rule) for rule in {rule.id: rule for rule in rules}.values()]
    results = [*(_problem(problem) for problem in problems), *(_result(each) for each in violations)]
    driver = {"name": "rag-ls", "version": version, "informationUri": "https://rag-ls.dev", "rules": described}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }


def _rule(rule: CheckRule) -> dict[str, Any]:
    described: dict[str, Any] = {
        "id": rule.id,
        "shortDescription": {"text": rule.message or rule.id},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }
    if rule.see.startswith(("http://", "https://")):
        described["helpUri"] = rule.see
    return described


def _result(found: Violation) -> dict[str, Any]:
    place = found.place
    region = {
        "startLine": place.line, "startColumn": place.column + 1, "endLine": place.end_line,
        "endColumn": place.end_column + 1,
    }  # fmt: skip
    return {
        "ruleId": found.rule,
        "level": _LEVELS[found.severity],
        "message": {"text": f"{found.message} (see {found.see})" if found.see else found.message},
        "locations": [_location(found.path, region)],
    }


def _problem(problem: RuleProblem) -> dict[str, Any]:
    return {
        "ruleId": _BAD_RULE,
        "level": _LEVELS[problem.severity],
        "message": {"text": problem.message},
        "locations": [_location(problem.path, {"startLine": problem.line})],
    }


def _location(path: str, region: dict[str, int]) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": path, "uriBaseId": "%SRCROOT%"}, "region": region}}
