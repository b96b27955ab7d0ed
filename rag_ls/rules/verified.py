"""Keeps of a survey what the checker confirms: each rule is checked before it is written, its exceptions are listed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from rag_ls.rules.checks.architecture import read_architecture
from rag_ls.rules.checks.checker import applies, violations
from rag_ls.rules.checks.graph import ImportGraph
from rag_ls.rules.checks.records import CheckedDocument, CheckRule, RuleSet
from rag_ls.rules.survey.documents import rule_text
from rag_ls.rules.survey.findings import MIN_SHARE, SurveyFinding, is_convention
from rag_ls.rules.survey.survey import Survey
from rag_ls.util.path_globs import matches_any
from rag_ls.util.records import dataclass, replace

_MIN_NEW_EXCEPTIONS = 3
# Tests and examples may often do what the product must not; others' code, and what programs write.
_NOT_PRODUCT = (
    "**/test/**", "**/tests/**", "**/__tests__/**", "**/spec/**", "**/e2e/**", "**/testing/**", "**/fixtures/**",
    "**/*.test.*", "**/*.spec.*", "**/*_test.*", "**/test_*", "**/conftest.py", "**/*Test.*", "**/*Tests.*", "**/*_spec.*",
    "**/examples/**", "**/docs/**", "**/scripts/**", "**/*.config.*", "**/.*", "**/mocks/**", "**/vendor/**", "**/third_party/**",
    "**/generated/**", "**/dist/**", "**/*.min.*", "**/*.gen.*", "**/*.pb.*", "**/*.generated.*", "**/*.d.ts", "**/migrations/**",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CheckedTree:
    """The files of a project as rules look at them."""

    paths: Sequence[str]
    language: Callable[[str], str]
    graph: ImportGraph
    unread: frozenset[str] = frozenset()
    """The files that the survey did not read, because there are too many: claims and rules say nothing of them."""


def verify_survey(found: Survey, tree: CheckedTree) -> Survey:
    """The survey with the findings whose rules the checker confirms, and those that have no rule."""
    return replace(found, findings=tuple(kept for each in found.findings if (kept := _confirm(each, tree))))


def _confirm(finding: SurveyFinding, tree: CheckedTree) -> SurveyFinding | None:
    """The finding with the exceptions that the checker knows; None where it contradicts, or cannot read the rule."""
    if finding.rule is None:
        return finding
    read = read_architecture("rules:\n" + "\n".join(rule_text(finding)), "ARCHITECTURE.yml")
    if read.problems or not read.rules:
        return None
    counted = {each.partition(" -> ")[0] for each in finding.exceptions}
    rule, broken = _leave_out(finding, list(_find_broken(read.rules[0], tree)), counted)
    if len(broken) > max(_MIN_NEW_EXCEPTIONS, (1 - MIN_SHARE) * finding.total):
        return None
    # A file that an exception names by one of its imports may break the rule by others, too.
    listed = (each for each in finding.exceptions if each.partition(" -> ")[0] not in broken)
    more = len(set(broken).difference(counted))
    confirmed = replace(
        finding, rule=rule, exceptions=tuple(dict.fromkeys((*listed, *broken))), total=finding.total + more
    )
    return confirmed if is_convention(confirmed) else None


def _find_broken(rule: CheckRule, tree: CheckedTree) -> Iterator[str]:
    """The files that break a rule on paths or imports, which is checked without reading them."""
    for path in tree.paths:
        if path not in tree.unread and applies(rule, path):
            document = CheckedDocument(path, tree.language(path), "")
            if violations(document, RuleSet((rule,)), tree.graph):
                yield path


def _leave_out(
    finding: SurveyFinding, broken: Sequence[str], counted: Collection[str]
) -> tuple[dict[str, object], Sequence[str]]:
    """The rule without tests and others' code, where these break it, and the files that break it then."""
    # Files that the survey counted are the product's, wherever they lie.
    new = [path for path in broken if path not in counted]
    left_out = [glob for glob in _NOT_PRODUCT if any(matches_any((glob,), path) for path in new)]
    rule = dict(finding.rule or {})
    if left_out:
        rule["not_files"] = left_out
        broken = [path for path in broken if path in counted or not matches_any(left_out, path)]
    return rule, broken
