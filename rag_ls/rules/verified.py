"""Keeps of a survey what the checker confirms: each rule is checked before it is written, its exceptions are listed."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from rag_ls.rules.checks.architecture import read_architecture
from rag_ls.rules.checks.checker import applies, looks_at_imports, violations
from rag_ls.rules.checks.contracts import find_suspects
from rag_ls.rules.checks.graph import ImportGraph
from rag_ls.rules.checks.matched_code import language_to_match
from rag_ls.rules.checks.records import CheckedDocument, CheckRule, ImportCheck, RuleSet, StructureCheck
from rag_ls.rules.checks.structure import count_structures
from rag_ls.rules.survey.documents import rule_text
from rag_ls.rules.survey.findings import MIN_SHARE, SurveyFinding, is_convention
from rag_ls.rules.survey.survey import Survey
from rag_ls.rules.unread import UnreadTree, find_broken
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


_IMPORT = r"(?m:^[^\n]{{0,80}}?\b(?:import|from|require|use|using)\b[^\n]{{0,80}}\b{0}|^\s*(?:\w+\s+)?[\"']{0})"
"""An import of a module on a line that somebody could have written: a bundle's names are no imports."""

_File = tuple[str, str]
"""A path and its language."""
_Counts = tuple[int, int]
"""The places of a file that keep a rule, and those that break it."""


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
    refused: tuple[str, ...] = ()
    """Those of `paths` whose imports nobody has read, because a program wrote them."""
    unread: frozenset[str] = frozenset()
    """The files that the survey did not read, because there are too many."""
    outside: UnreadTree | None = None
    """These files, as far as they are code."""


def verify_survey(found: Survey, tree: CheckedTree) -> Survey:
    """The survey with the findings whose rules the checker confirms, and those that have no rule."""
    every = [(field.name, getattr(found, field.name)) for field in fields(found)]
    topics = {name: value for name, value in every if isinstance(value, tuple) and _are_findings(value)}
    rules = {
        finding.rule["id"]: (finding, rule)
        for findings in topics.values()
        for finding in findings
        if finding.rule is not None and (rule := _read(finding)) is not None
    }
    broken = _break_structures([each for each in rules.values() if isinstance(each[1].check, StructureCheck)], tree)
    others = [rule for _, rule in rules.values() if not isinstance(rule.check, StructureCheck)]
    broken.update({rule.id: _broken_by(rule, tree) for rule in others})
    confirmed: dict[str, Any] = {
        name: tuple(
            kept
            for finding in findings
            if (kept := _confirm(finding, broken.get(str(finding.rule["id"])), tree.roles) if finding.rule else finding)
        )
        for name, findings in topics.items()
    }
    if tree.outside is not None and tree.outside.files:
        confirmed = _with_outside(confirmed, tree.outside, tree.roles, found.unread / max(1, found.files))
    return replace(found, **confirmed)


def _with_outside(
    topics: Mapping[str, Sequence[SurveyFinding]], outside: UnreadTree, roles: Roles, share: float
) -> dict[str, tuple[SurveyFinding, ...]]:
    """The findings whose rules few files outside of the sample break, with these files. `share` is how many there are for one inside."""
    read = [
        (rule, each.marks) for findings in topics.values() for each in findings if each.rule and (rule := _read(each))
    ]
    broken = find_broken(read, outside)
    return {
        name: tuple(
            kept
            for each in findings
            if (kept := _with_broken(each, broken[str(each.rule["id"])], roles, share) if each.rule else each)
        )
        for name, findings in topics.items()
    }


def _with_broken(finding: SurveyFinding, broken: Sequence[str], roles: Roles, share: float) -> SurveyFinding | None:
    stated, broken = _leave_out(finding.rule or {}, broken, (), roles)
    most = max(_MIN_NEW_EXCEPTIONS, (1 - MIN_SHARE) * finding.total * share)
    return replace(finding, rule=stated, outside=tuple(broken)) if len(broken) <= most else None


def _are_findings(value: tuple[object, ...]) -> bool:
    return bool(value) and isinstance(value[0], SurveyFinding)


def _break_structures(
    rules: Sequence[tuple[SurveyFinding, CheckRule]], tree: CheckedTree
) -> dict[str, dict[str, _Counts]]:
    """The places of each rule on the structure of code, by file, in those that the survey has not judged itself.

    Each file is parsed once for all rules.
    """
    broken: dict[str, dict[str, _Counts]] = {rule.id: {} for _, rule in rules}
    asked: dict[str, list[int]] = {}
    for number, (finding, rule) in enumerate(rules):
        for path in tree.paths:
            if (
                path not in finding.judged
                and path not in tree.unread
                and language_to_match(_languages(rule), tree.language(path), path)
                and applies(rule, path)
            ):
                asked.setdefault(path, []).append(number)
    texts = [(rule, finding.marks) for finding, rule in rules]
    files = [(path, tree.language(path)) for path in asked]
    answers = tree.look(partial(break_files, tree.read, texts), files)
    for path, answer in zip(asked, answers, strict=True):
        for number in asked[path] if answer else ():
            if answer and any(answer[number]):
                broken[rules[number][1].id][path] = answer[number]
    return broken


def break_files(
    read: Callable[[str], str], rules: Sequence[tuple[CheckRule, tuple[str, ...]]], files: Sequence[_File]
) -> list[list[_Counts]]:
    """The places of each rule in each file; one without a rule's marks has none, and is not parsed for it."""
    documents = (CheckedDocument(*file, read(file[0])) for file in files)
    return [[_count(document, rule.check, marks) for rule, marks in rules] for document in documents]


def _count(document: CheckedDocument, check: object, marks: Iterable[str]) -> _Counts:
    if not isinstance(check, StructureCheck) or not any(mark in document.text for mark in marks):
        return 0, 0
    return count_structures(document, check)


def _broken_by(rule: CheckRule, tree: CheckedTree) -> dict[str, _Counts]:
    """The files that break a rule on paths or imports, which is checked without reading them."""
    # Files outside the survey's sample are left out, because it did not count them.
    suspects = find_suspects(rule.check, tree.graph) if looks_at_imports(rule) else frozenset(tree.paths)
    asked = (path for path in tree.paths if path in suspects and path not in tree.unread and applies(rule, path))
    documents = (CheckedDocument(path, tree.language(path), "") for path in asked)
    broken = {each.path: (0, 1) for each in documents if violations(each, RuleSet((rule,)), tree.graph)}
    names = rule.check.forbidden if isinstance(rule.check, ImportCheck) else ()
    imported = (path for path in tree.refused if names and applies(rule, path))
    written = re.compile("|".join(_IMPORT.format(re.escape(name)) for name in names))
    return broken | {path: (0, 1) for path in imported if written.search(tree.read(path))}


def _languages(rule: CheckRule) -> tuple[str, ...]:
    return rule.check.languages if isinstance(rule.check, StructureCheck) else ()


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
    exceptions = tuple(dict.fromkeys((*listed, *broken)))
    # Files that the rule applies to, but that the survey did not count.
    kept, total = 0, len(set(broken).difference(counted))
    if "require" in stated:
        more = [counts for path, counts in places.items() if not (roles.is_test(path) or roles.is_secondary(path))]
        kept, total = sum(each[0] for each in more), sum(map(sum, more))
    confirmed = replace(
        finding, rule=stated, exceptions=exceptions, count=finding.count + kept, total=finding.total + total
    )
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
        stated = {**stated, "not_files": [*_texts(stated, "not_files"), *left_out]}
        broken = [path for path in broken if not matches_any(left_out, path)]
    return stated, broken


def _read(finding: SurveyFinding) -> CheckRule | None:
    read = read_architecture("rules:\n" + "\n".join(rule_text(finding)), "ARCHITECTURE.yml")
    return read.rules[0] if read.rules and not read.problems else None


def _texts(stated: Mapping[str, object], key: str) -> list[str]:
    value = stated.get(key, [])
    return [value] if isinstance(value, str) else list(value) if isinstance(value, list) else []
