"""Keeps of a survey what the checker confirms: each rule is checked before it is written, its exceptions are listed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from rag_ls.rules.checks.architecture import read_architecture
from rag_ls.rules.checks.checker import applies, violations
from rag_ls.rules.checks.graph import ImportGraph
from rag_ls.rules.checks.records import CheckedDocument, CheckRule, RuleSet, StructureCheck
from rag_ls.rules.checks.structure import count_structures, language_to_match
from rag_ls.rules.survey.documents import rule_text
from rag_ls.rules.survey.findings import MIN_SHARE, SurveyFinding, is_convention
from rag_ls.rules.survey.survey import Survey
from rag_ls.search.roles import BY_PATH, Roles
from rag_ls.util.path_globs import matches_any
from rag_ls.util.records import dataclass, fields, replace

_MIN_NEW_EXCEPTIONS = 3
# Tests and examples may often do things that the product must not.
_NOT_PRODUCT = (
    "**/test/**", "**/tests/**", "**/__tests__/**", "**/spec/**", "**/e2e/**", "**/testing/**", "**/fixtures/**",
    "**/*.test.*", "**/*.spec.*", "**/*_test.*", "**/test_*", "**/conftest.py", "**/*Test.*", "**/*Tests.*", "**/*_spec.*",
    "**/examples/**", "**/docs/**", "**/scripts/**", "**/*.config.*", "**/.*",
)  # fmt: skip
# Others' code, and what programs write.
_NOT_WRITTEN_HERE = (
    "**/mocks/**", "**/vendor/**", "**/third_party/**", "**/generated/**", "**/dist/**", "**/*.min.*", "**/*.gen.*", "**/*.pb.*",
    "**/*.generated.*", "**/*.d.ts", "**/migrations/**",
)  # fmt: skip
_File = tuple[str, str]
"""A path and its language."""
_Counts = tuple[int, int]
"""The places of a file that keep a rule, and those that break it."""
_Ruled = tuple[SurveyFinding, CheckRule]


@dataclass(frozen=True, slots=True)
class CheckedTree:
    """The files of a project as rules look at them."""

    paths: Sequence[str]
    read: Callable[[str], str]
    language: Callable[[str], str]
    graph: ImportGraph
    look: Callable[[Callable[[Sequence[_File]], list[list[_Counts]]], Sequence[_File]], Iterable[list[_Counts] | None]]
    """Calls a function for some files, perhaps in other processes; None for a file that ended its process."""
    roles: Roles = BY_PATH
    unread: frozenset[str] = frozenset()
    """The files that the survey did not read, because there are too many: claims and rules say nothing of them."""


def verify_survey(found: Survey, tree: CheckedTree) -> Survey:
    """The survey with the findings whose rules the checker confirms, and those that have no rule."""
    every = {field.name: getattr(found, field.name) for field in fields(found)}
    topics = {name: value for name, value in every.items() if isinstance(value, tuple) and _are_findings(value)}
    ruled = [
        (finding, rule) for findings in topics.values() for finding in findings if finding.rule and (rule := _read(finding))
    ]  # fmt: skip
    counts = _count_structures([each for each in ruled if isinstance(each[1].check, StructureCheck)], tree)
    counts |= {rule.id: _find_broken(rule, tree) for _, rule in ruled if not isinstance(rule.check, StructureCheck)}
    confirmed: dict[str, Any] = {
        name: tuple(
            kept for each in findings
            if (kept := _confirm(each, counts.get(str(each.rule["id"])), tree.roles) if each.rule else each)
        )
        for name, findings in topics.items()
    }  # fmt: skip
    return replace(found, **confirmed)


def _are_findings(value: tuple[object, ...]) -> bool:
    return bool(value) and isinstance(value[0], SurveyFinding)


def _read(finding: SurveyFinding) -> CheckRule | None:
    read = read_architecture("rules:\n" + "\n".join(rule_text(finding)), "ARCHITECTURE.yml")
    return read.rules[0] if read.rules and not read.problems else None


def _count_structures(ruled: Sequence[_Ruled], tree: CheckedTree) -> dict[str, dict[str, _Counts]]:
    """The places of each rule on the structure of code, by file, in those that the survey has not judged itself.

    Each file is parsed once for all rules.
    """
    counts: dict[str, dict[str, _Counts]] = {rule.id: {} for _, rule in ruled}
    files = [
        (path, tree.language(path)) for path in tree.paths
        if path not in tree.unread and any(_is_asked(each, path, tree.language(path)) for each in ruled)
    ]  # fmt: skip
    # The files that each finding has judged stay here: they are many.
    checks = [(rule.check, finding.marks) for finding, rule in ruled]
    for file, answer in zip(files, tree.look(partial(count_files, tree.read, checks), files), strict=True):
        for each, found in zip(ruled, answer or (), strict=False):
            if any(found) and _is_asked(each, *file):
                counts[each[1].id][file[0]] = found
    return counts


def count_files(
    read: Callable[[str], str], checks: Sequence[tuple[object, tuple[str, ...]]], files: Sequence[_File]
) -> list[list[_Counts]]:
    """The places of each check in each file; one without a check's marks has none, and is not parsed for it."""
    documents = (CheckedDocument(*file, read(file[0])) for file in files)
    return [[_count(document, *each) for each in checks] for document in documents]


def _count(document: CheckedDocument, check: object, marks: Iterable[str]) -> _Counts:
    has_marks = isinstance(check, StructureCheck) and any(mark in document.text for mark in marks)
    return count_structures(document, check) if has_marks and isinstance(check, StructureCheck) else (0, 0)


def _is_asked(ruled: _Ruled, path: str, language: str) -> bool:
    finding, rule = ruled
    languages = rule.check.languages if isinstance(rule.check, StructureCheck) else ()
    return path not in finding.judged and bool(language_to_match(languages, language, path)) and applies(rule, path)


def _find_broken(rule: CheckRule, tree: CheckedTree) -> dict[str, _Counts]:
    """The files that break a rule on paths or imports, which is checked without reading them."""
    asked = (path for path in tree.paths if path not in tree.unread and applies(rule, path))
    documents = (CheckedDocument(path, tree.language(path), "") for path in asked)
    return {each.path: (0, 1) for each in documents if violations(each, RuleSet((rule,)), tree.graph)}


def _confirm(finding: SurveyFinding, places: Mapping[str, _Counts] | None, roles: Roles) -> SurveyFinding | None:
    """The finding with the exceptions that the checker knows; None where it contradicts, or cannot read the rule."""
    if places is None:
        return None
    counted = {each.partition(" -> ")[0] for each in finding.exceptions}
    every = [path for path, counts in places.items() if counts[1]]
    stated, broken = _leave_out(finding.rule or {}, every, counted, roles)
    if len(broken) > max(_MIN_NEW_EXCEPTIONS, (1 - MIN_SHARE) * finding.total):
        return None
    # A file that an exception names by one of its imports may break the rule by others, too.
    whole = counted.intersection(broken)
    listed = (each for each in finding.exceptions if each.partition(" -> ")[0] not in whole)
    # Files that the rule applies to, but that the survey did not count.
    kept, total = 0, len(set(broken).difference(counted))
    if "require" in stated:
        more = [counts for path, counts in places.items() if not (roles.is_test(path) or roles.is_secondary(path))]
        kept, total = sum(each[0] for each in more), sum(map(sum, more))
    confirmed = replace(
        finding, rule=stated, exceptions=tuple(dict.fromkeys((*listed, *broken))), count=finding.count + kept,
        total=finding.total + total,
    )  # fmt: skip
    return confirmed if is_convention(confirmed) else None


def _leave_out(
    stated: Mapping[str, object], broken: Sequence[str], counted: Collection[str], roles: Roles
) -> tuple[Mapping[str, object], Sequence[str]]:
    """A rule that leaves out tests and others' code where these break it, and the files that break it then."""
    has_tests = any(roles.is_test(path) or roles.is_secondary(path) for path in broken)
    # Files that the survey counted are the product's, wherever they lie.
    globs = (*(_NOT_PRODUCT if has_tests else ()), *_NOT_WRITTEN_HERE)
    new = [path for path in broken if path not in counted] if not has_tests else broken
    if left_out := [glob for glob in globs if any(matches_any((glob,), path) for path in new)]:
        former = stated.get("not_files", [])
        stated = {**stated, "not_files": [*(former if isinstance(former, list) else [former]), *left_out]}
        broken = [path for path in broken if not matches_any(left_out, path)]
    return stated, broken
