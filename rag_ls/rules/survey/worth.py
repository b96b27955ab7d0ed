"""Tells which findings are worth a line: no mixtures, and nothing that holds for nearly any project of its kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from rag_ls.rules.survey.findings import MIN_SHARE, SurveyFinding

# What a framework, a language or its usual tools ask for. `{}` is anything in backquotes.
_BANAL = tuple(
    re.compile(pattern)
    for pattern in (
        # Each framework has one way to write a parameter, and one usual call to answer.
        r"^Parameters in routes are written",
        r"^Handlers answer with `",
        r"` is in use$",
        r"^Endpoints declare their answer with",
        r"^Relative imports name the extension `\.(?:js|vue|svelte|css|json)`",
        r"^Files import one another by relative paths$",
        r"^(?:Rust modules|Ruby files) ",
        # A built-in error is what code raises that has none of its own.
        r"^\S+ code raises `(?:\w+\.)*(?:Error|Exception|RuntimeException|RuntimeError|ValueError|TypeError|KeyError|NotImplementedError"
        r"|ArgumentError|StandardError|\w*(?:IllegalArgument|IllegalState|NullPointer|UnsupportedOperation|Argument|ArgumentNull"
        r"|InvalidOperation|NotImplemented|NotSupported|InvalidArgument|Logic|HTTP|Http|Domain)Exception)`$",
        r"derive from `(?:Exception|Error|RuntimeException|RuntimeError|StandardError|Throwable|ValueError|BaseException)`$",
        r"^\S+ handlers (?:log the error|raise an error again|pass the error)",
        r"^Checks of `err != nil` return the error as it is",
        r"^Rust functions that can fail return `Result<_>`",
        r"^Go packages declare errors as variables",
        # What the test runner looks for by itself.
        r"test files are named `(?:test_\*\.py|\*_test\.\w+|\*_spec\.rb"
        r"|\*\.test\.\w+|\*Tests?\.(?:java|kt|cs|php|swift|scala)|\*\.(?:test|spec)\.\*)`",
        r"test files lie below `(?:tests?|specs?|src/test|__tests__)/?`",
        r"test files use (?:`describe` blocks|unittest|Go's `testing`|`testing`|PHPUnit|ExUnit|JUnit(?: \d)?)$",
        r"^Rust files hold their unit tests themselves",
        r"^(?:Python|Ruby|Elixir|Rust|Dart|Java|Kotlin|C#|Swift|PHP|Scala) files with a name",
        # Where the generators of Rails, Laravel, Phoenix and Angular put files.
        r"^Files named `[^`]+` lie in `(?:[\w-]+/)*(?:app/(?:controllers|models|helpers|jobs|mailers|policies|channels|views)"
        r"|app/(?:Http/\w+|Console/Commands|Exceptions|Providers|Policies|Jobs|Events|Listeners|Mail|Models|Rules|Observers|Casts|Notifications)"
        r"|database/(?:factories|seeders|seeds|migrations)|config|src/app)/`",
    )
)
_TALLIED = frozenset(("responses", "imports", "naming", "errors", "tests", "endpoints"))
"""The topics whose claims are about a share of a total."""
_DECLARED = (
    r"(?m)^[ \t]*(?:export[ \t]+)?(?:async[ \t]+)?(?:def|function|const|class|public @interface|@interface|final class)[ \t]+"
    r"{}(?:Attribute)?\b"
)


def worthy(findings: Iterable[SurveyFinding]) -> Iterator[SurveyFinding]:
    """The findings that are a convention of this project."""
    for finding in findings:
        is_part = finding.count < MIN_SHARE * finding.total
        has_unnamed = finding.count < finding.total and not finding.exceptions and finding.rule is None
        if is_part or has_unnamed or (finding.topic in _TALLIED and not finding.total):
            continue
        if not any(pattern.search(finding.claim) for pattern in _BANAL):
            yield finding


def mark_own(findings: Iterable[SurveyFinding], texts: Callable[[], Iterable[str]]) -> Iterator[SurveyFinding]:
    """The findings on decorators; those that the project itself declares say so."""
    for finding in findings:
        name = re.search(r"\w+(?=\W*$)", finding.claim.partition("`")[2].partition("`")[0])
        declared = re.compile(_DECLARED.format(re.escape(name[0]))) if name else None
        if name and declared and any(name[0] in text and declared.search(text) for text in texts()):
            yield replace(finding, claim=finding.claim.replace("is in use", "is the project's own, and in use"))
        else:
            yield finding
