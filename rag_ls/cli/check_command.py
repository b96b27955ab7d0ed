"""The verb `check`: checks files against the project's rules, without an engine and without a model."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from rag_ls import __version__
from rag_ls.cli import DONE, FAILED, WRONG_USAGE
from rag_ls.cli.progress import show_progress
from rag_ls.cli.terminal import FAINT, NAME, PLACE, WARNING, Paint, paint, print_notes
from rag_ls.config import load_settings
from rag_ls.errors import InvalidRequest
from rag_ls.indexing import Patterns
from rag_ls.project import find_project
from rag_ls.rules import (
    CheckReport,
    CheckRule,
    RuleProblem,
    Severity,
    Violation,
    changed_files,
    check_project,
    note_staged_apart,
)
from rag_ls.util.paths import is_among
from rag_ls.util.text import count_of

_PATIENCE_S = 2.0
"""The time after which progress is shown."""
_MAX_SHOWN = 100
"""The places that break one rule which are shown; the others are counted."""
_NAMES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_BAD_RULE = "rag-ls-rule"


def run(arguments: SimpleNamespace) -> int:
    """Check files; fails where one breaks a rule of severity error, or a rule itself is wrong.

    A rule of severity error that is for no file, or files that the rules are for and that are not read, are wrong usage.
    """
    project = find_project(arguments.project)
    settings = load_settings(project).settings
    wanted = [_path_in(project.root, path) for path in arguments.paths]
    if arguments.changed is not None:
        changed = changed_files(project.root, arguments.changed)
        wanted = [path for path in changed if is_among(path, wanted)]
        print_notes(note_staged_apart(project.root, arguments.changed))
        if not wanted:
            print_notes(f"nothing differs from {arguments.changed}")
            return DONE
    started = time.monotonic()
    with show_progress(embeds=False) as show:

        def report_step(done: int, total: int) -> None:
            if time.monotonic() - started > _PATIENCE_S:
                show({"project": project.root.name, "phase": "reading", "done": done, "total": total})

        report = check_project(
            project.root,
            wanted,
            patterns=Patterns.of(settings.index),
            processes=os.cpu_count() or 1,
            report=report_step,
        )
    print_notes(*report.notes)
    _print(report, arguments)
    severities = {each.severity for each in report.violations} | {each.severity for each in report.rules.problems}
    if Severity.ERROR in severities:
        return FAILED
    is_partial = report.is_idle or (report.unread and arguments.changed is None)
    is_blind = any(rule.severity is Severity.ERROR for rule in report.blind)
    return WRONG_USAGE if is_partial or is_blind else DONE


def _path_in(root: Path, path: str) -> str:
    place = Path(os.path.abspath(path))
    if not place.exists():
        raise InvalidRequest(f"{path} does not exist; give files or folders of the project")
    if not place.resolve().is_relative_to(root):
        raise InvalidRequest(f"{path} is outside the project {root}")
    found = place.resolve().relative_to(root).as_posix()
    return "" if found == "." else found


def _print(report: CheckReport, arguments: SimpleNamespace) -> None:
    if arguments.json or arguments.format == "json":
        print(json.dumps(_make_json(report), indent=2, ensure_ascii=False))
    elif arguments.format == "sarif":
        found = write_sarif(report.violations, report.rules.problems, report.rules.rules, __version__)
        print(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        _print_text(report)


def _print_text(report: CheckReport) -> None:
    style = paint()
    for problem in report.rules.problems:
        kind = style.style("rule", WARNING if problem.severity is Severity.ERROR else FAINT)
        print(f"{style.style(f'{problem.path}:{problem.line}', PLACE)}  {kind}  {problem.message}")
    shown = Counter[str]()
    for found in report.violations:
        shown[found.rule] += 1
        if shown[found.rule] <= _MAX_SHOWN:
            print(_format_violation(found, style))
    for rule, count in shown.items():
        if count > _MAX_SHOWN:
            print(f"{style.style(rule, NAME)}  {count_of(count - _MAX_SHOWN, 'more place')}; --json lists all")
    print_notes(_summarize_report(report))


def _format_violation(found: Violation, style: Paint) -> str:
    where = style.style(f"{found.path}:{found.place.line}:{found.place.column + 1}", PLACE)
    kind = style.style(found.severity.value, WARNING if found.severity is Severity.ERROR else FAINT)
    see = f"  (see {found.see})" if found.see else ""
    return f"{where}  {kind}  {style.style(found.rule, NAME)}  {found.message}{see}"


def _summarize_report(report: CheckReport) -> str:
    rules, problems = report.rules.rules, report.rules.problems
    if not rules and not problems:
        return (
            "nothing to check: no rules that a machine checks are written here; they stand under `rules:` in "
            "ARCHITECTURE.yml (https://github.com/rag-ls/rag-ls/blob/main/docs/rules.md shows how)"
        )
    wrong = sum(problem.severity is Severity.ERROR for problem in problems)
    unread = f"{count_of(wrong, 'rule or file of rules', 'rules or files of rules')} cannot be read"
    if (wrong and not rules) or report.is_idle or not report.files:
        why = "no rule is for any file of this project" if report.is_idle else "no rule is for these files"
        return f"nothing was checked: {unread if wrong and not rules else why}"
    found = Counter(each.severity for each in report.violations)
    counts = [count_of(found[severity], name) for severity, name in _NAMES.items() if found[severity]]
    known = _count_exceptions(report)
    left_out = f"; without {count_of(known, 'known exception')} that the rules list" if known else ""
    read = f"{count_of(report.files, 'file')} checked against {count_of(len(rules), 'rule')}"
    return f"{read}: {', '.join(counts) or 'nothing breaks a rule'}{left_out}{f'; {unread}' if wrong else ''}"


def _count_exceptions(report: CheckReport) -> int:
    return sum(len(rule.exceptions) for rule in report.rules.rules)


def _make_json(report: CheckReport) -> dict[str, Any]:
    return {
        "files": report.files,
        "rules": len(report.rules.rules),
        "exceptions": _count_exceptions(report),
        "problems": [_pick_fields(each, "path line message severity") for each in report.rules.problems],
        "violations": [
            {
                **_pick_fields(each, "rule severity message path see stated_at"),
                **_pick_fields(each.place, "line end_line"),
                "column": each.place.column + 1,
                "end_column": each.place.end_column + 1,
            }
            for each in report.violations
        ],
    }


def _pick_fields(record: object, names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names.split()}


# --- SARIF 2.1.0, which code hosts show beside the lines (OASIS, "Static Analysis Results Interchange")


def write_sarif(
    violations: Sequence[Violation], problems: Sequence[RuleProblem], rules: Sequence[CheckRule], version: str
) -> dict[str, Any]:
    """A SARIF log with one run. `problems` are what is wrong with the rules themselves."""
    described = [_describe_rule(rule) for rule in {rule.id: rule for rule in rules}.values()]
    results = [*(_place_problem(problem) for problem in problems), *(_place_violation(each) for each in violations)]
    driver = {"name": "rag-ls", "version": version, "informationUri": "https://rag-ls.dev", "rules": described}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }


def _describe_rule(rule: CheckRule) -> dict[str, Any]:
    described: dict[str, Any] = {
        "id": rule.id,
        "shortDescription": {"text": rule.message or rule.id},
        "defaultConfiguration": {"level": _NAMES[rule.severity]},
    }
    if rule.see.startswith(("http://", "https://")):
        described["helpUri"] = rule.see
    return described


def _place_violation(found: Violation) -> dict[str, Any]:
    place = found.place
    region = {
        "startLine": place.line, "startColumn": place.column + 1, "endLine": place.end_line,
        "endColumn": place.end_column + 1,
    }  # fmt: skip
    return {
        "ruleId": found.rule,
        "level": _NAMES[found.severity],
        "message": {"text": f"{found.message} (see {found.see})" if found.see else found.message},
        "locations": [_location(found.path, region)],
    }


def _place_problem(problem: RuleProblem) -> dict[str, Any]:
    return {
        "ruleId": _BAD_RULE,
        "level": _NAMES[problem.severity],
        "message": {"text": problem.message},
        "locations": [_location(problem.path, {"startLine": problem.line})],
    }


def _location(path: str, region: dict[str, int]) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": path, "uriBaseId": "%SRCROOT%"}, "region": region}}
