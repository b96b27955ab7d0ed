"""Keeps of a survey what the checker confirms: each rule is checked before it is written, its exceptions are listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from rag_ls.rules.checks.architecture import read_architecture
from rag_ls.rules.checks.checker import applies, violations
from rag_ls.rules.checks.graph import ImportGraph
from rag_ls.rules.checks.records import CheckedDocument, CheckRule, RuleSet, StructureCheck, Violation
from rag_ls.rules.checks.structure import Structures
from rag_ls.rules.survey.documents import rule_text
from rag_ls.rules.survey.findings import MAX_EXAMPLES, MIN_COUNT, MIN_SHARE, SourceLine, SurveyFinding
from rag_ls.rules.survey.survey import Survey
from rag_ls.rules.survey.worth import worthy
from rag_ls.search.roles import BY_PATH, Roles
from rag_ls.util.path_globs import matches_any

_MAX_PARSED = 2000
"""A rule on the structure of more files is left out: parsing them would take minutes."""
_MIN_NEW_EXCEPTIONS = 3
# Tests and examples often may do what the product must not.
_NOT_PRODUCT = (
    "**/test/**", "**/tests/**", "**/__tests__/**", "**/spec/**", "**/e2e/**", "**/testing/**", "**/fixtures/**",
    "**/*.test.*", "**/*.spec.*", "**/*_test.*", "**/test_*", "**/conftest.py", "**/*Test.*", "**/*Tests.*", "**/*_spec.*",
    "**/examples/**", "**/docs/**", "**/scripts/**", "**/*.config.*", "**/.*",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CheckedTree:
    """The files of a project as rules look at them."""

    paths: Sequence[str]
    read: Callable[[str], str]
    language: Callable[[str], str]
    graph: ImportGraph
    structures: Structures
    roles: Roles = BY_PATH

    def violations(self, rule: CheckRule) -> Iterator[Violation]:
        """All places that break a rule."""
        languages = rule.check.languages if isinstance(rule.check, StructureCheck) else ()
        for path in self.paths:
            if applies(rule, path) and (not languages or self.language(path) in languages):
                text = self.read(path) if languages else ""
                document = CheckedDocument(path, self.language(path), text)
                yield from violations(document, RuleSet((rule,)), self.graph, structures=self.structures)


def verify_survey(found: Survey, tree: CheckedTree) -> Survey:
    """The survey with the findings that are worth a line, if they have a rule those that the checker confirms."""
    topics: dict[str, Any] = {
        field.name: tuple(_confirmed(worthy(value), tree))
        for field in fields(found)
        if isinstance(value := getattr(found, field.name), tuple) and value and isinstance(value[0], SurveyFinding)
    }
    return replace(found, **topics)


def _confirmed(findings: Iterable[SurveyFinding], tree: CheckedTree) -> Iterator[SurveyFinding]:
    said: set[str] = set()
    for finding in findings:
        kept = finding if finding.rule is None else _confirm(finding, finding.rule, tree)
        if kept is None:
            continue
        required = (kept.rule or {}).get("require")
        parts = set(map(repr, required.get("all", [required]))) if isinstance(required, dict) else set[str]()
        # Of "all routes" and "routes that write", or "keys a and b" and "key a", the first says it.
        if not parts or not parts <= said:
            said |= parts
            yield kept


def _confirm(finding: SurveyFinding, stated: Mapping[str, object], tree: CheckedTree) -> SurveyFinding | None:
    """The finding with the exceptions that the checker knows; None where it contradicts."""
    if "require" in stated:
        finding = replace(finding, exceptions=())
    rule = _read(finding)
    if rule is None:
        return None
    if isinstance(rule.check, StructureCheck) and sum(map(_is_of(rule, tree), tree.paths)) > _MAX_PARSED:
        return None if rule.check.required else replace(finding, rule=None)
    broken = list(tree.violations(rule))
    left_out = [glob for glob in _NOT_PRODUCT if any(matches_any((glob,), each.path) for each in broken)]
    left_out = (
        left_out if any(tree.roles.is_test(each.path) or tree.roles.is_secondary(each.path) for each in broken) else []
    )
    if left_out:
        finding = replace(finding, rule={**stated, "not_files": [*_texts(stated, "not_files"), *left_out]})
        if (rule := _read(finding)) is None:
            return None
        broken = [each for each in broken if applies(rule, each.path)]
    new = tuple(dict.fromkeys(each.path for each in broken))
    if isinstance(rule.check, StructureCheck) and rule.check.required is not None:
        every = list(tree.violations(replace(rule, check=replace(rule.check, required=None))))
        kept = len(every) - len(broken)
        if kept < MIN_COUNT or kept < MIN_SHARE * len(every):
            return None
        bad = {(each.path, each.place.line) for each in broken}
        good = [SourceLine(each.path, each.place.line) for each in every if (each.path, each.place.line) not in bad]
        by_file = {place.path: place for place in reversed(good)}
        examples = tuple(dict.fromkeys((*reversed(by_file.values()), *good)))[:MAX_EXAMPLES]
        finding = replace(finding, count=kept, total=len(every), examples=examples)
        return replace(finding, exceptions=new)
    if len(new) > max(_MIN_NEW_EXCEPTIONS, (1 - MIN_SHARE) * finding.total):
        return None
    exceptions = tuple(dict.fromkeys((*finding.exceptions, *new)))
    # Files that the survey did not count, and the rule is for.
    more = len(exceptions) - len(finding.exceptions) if "file_names" in stated or "place" in stated else 0
    return replace(finding, exceptions=exceptions, total=finding.total + more)


def _read(finding: SurveyFinding) -> CheckRule | None:
    read = read_architecture("rules:\n" + "\n".join(rule_text(finding)), "ARCHITECTURE.yml")
    return read.rules[0] if read.rules and not read.problems else None


def _texts(stated: Mapping[str, object], key: str) -> list[str]:
    value = stated.get(key, [])
    return [value] if isinstance(value, str) else list(value) if isinstance(value, list) else []


def _is_of(rule: CheckRule, tree: CheckedTree) -> Callable[[str], bool]:
    languages = rule.check.languages if isinstance(rule.check, StructureCheck) else ()
    return lambda path: tree.language(path) in languages and applies(rule, path)
