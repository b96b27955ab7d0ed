"""A project's rules of dependency-cruiser break where dependency-cruiser itself says so.

`recorded.json` is what dependency-cruiser 16.10 finds in the project of `project.json`, with its packages installed: rule,
importing module, imported module. It tells each circle once, at one of its modules.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from rag_ls.indexing import Patterns
from rag_ls.languages import SourceTree
from rag_ls.rules.checks.project import CheckReport, check_project
from rag_ls.rules.checks.records import RuleSet, Severity
from rag_ls.rules.checks.rule_files import RuleFiles
from tests.support import write

HERE = Path(__file__).parent
PROJECT: dict[str, str] = json.loads((HERE / "project.json").read_text(encoding="utf-8"))
RECORDED: list[tuple[str, str, str]] = json.loads((HERE / "recorded.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> CheckReport:
    """The recorded project, checked."""
    return check_project(write(tmp_path_factory.mktemp("cruised"), PROJECT), patterns=Patterns(), processes=1)


def _read(files: dict[str, str]) -> RuleSet:
    return RuleFiles().read(SourceTree(files, lambda path: files.get(path, "")))


def test_the_same_modules_break_the_same_rules(report: CheckReport) -> None:
    # dependency-cruiser was asked for these folders.
    ours = {(found.rule, found.path) for found in report.violations if found.path.startswith(("src/", "tools/"))}
    theirs = {(rule, path) for rule, path, _ in RECORDED}
    others_of_circles = {
        (found.rule, found.path) for found in report.violations if "a circle: " in found.message
    } - theirs
    assert ours - others_of_circles == theirs
    assert {path for _, path in others_of_circles} == {"src/features/cart/line.ts", "src/rounding.ts"}


def test_the_same_imports_are_named(report: CheckReport) -> None:
    said = {(found.rule, found.path): found.message for found in report.violations}
    for rule, path, target in RECORDED:
        # Packages are not looked into here: their own paths are not known.
        name = re.sub(r"^(node_modules/[^/]+).*", r"\1", target)
        assert name in said[rule, path]


def test_each_violation_is_at_the_line_of_its_import(report: CheckReport) -> None:
    lines = {(found.rule, found.path): found.place.line for found in report.violations}
    assert lines["no-dev-packages", "src/features/mail/send.ts"] == 3
    assert lines["no-types", "src/features/cart/index.ts"] == 2


def test_severities_and_comments_are_kept(report: CheckReport) -> None:
    rules = {rule.id: rule for rule in report.rules.rules}
    assert rules["no-circular"].message == "No circles"
    assert [rules[name].severity for name in ("no-circular", "no-orphans", "no-core", "no-store-in-web")] == [
        Severity.ERROR, Severity.WARNING, Severity.INFO, Severity.WARNING,
    ]  # fmt: skip
    assert "off" not in rules


def test_what_is_not_checked_is_said_and_is_no_error(report: CheckReport) -> None:
    said = {(problem.line, problem.severity): problem.message for problem in report.rules.problems}
    assert len(said) == 2
    license_, coded = (said[line, Severity.INFO] for line in (21, 22))
    assert "'strange' is not checked here: to.license is not known" in license_
    assert "only running the configuration would tell its 'from'" in coded


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("module.exports = makeConfig();", "only running it would tell its rules"),
        ("module.exports = {{{", "does not parse"),
        ("module.exports = { extends: 'dependency-cruiser/configs/recommended' }", "is no file of the project"),
        ("module.exports = { forbidden: [{ name: 'a', from: { path: '(' }, to: {} }] }", "'a' is not checked here"),
        ("module.exports = { forbidden: [shared] }", "only running the configuration would tell it"),
        ("module.exports = { forbidden: [{ name: 'a', from: [], to: {} }] }", "only running the configuration"),
        ("module.exports = { forbidden: [{ name: 'a', from: {}, to: { dependencyTypes: 5 } }] }", "'a' is not checked"),
        ("module.exports = { forbidden: [{ name: 'a', scope: 'folder', from: {}, to: {} }] }", "scope is folder"),
    ],
)
def test_a_configuration_that_is_no_plain_data_is_told(text: str, message: str) -> None:
    found = _read({".dependency-cruiser.cjs": text})
    assert not found.rules
    assert any(message in problem.message for problem in found.problems), found.problems


def test_a_configuration_may_be_a_module_with_constants() -> None:
    text = (
        "// rules\nconst SRC = `^src/`;\nconst base = { severity: 'error' };\n"
        "const config = {\n  forbidden: [\n    "
        "{ ...base, name: \"a\", from: { path: SRC + 'web' }, to: { path: 'st\\\\.ts' } },\n  ],\n};\n"
        "export default config;\n"
    )
    (rule,) = _read({".dependency-cruiser.mjs": text}).rules
    assert (rule.id, rule.severity, rule.line) == ("a", Severity.ERROR, 6)
    assert "source=Modules(path='^src/web', path_not='')" in str(rule.check)
    assert "target=Modules(path='st\\\\.ts', path_not='')" in str(rule.check)
