"""Counts the conventions of a project: names, tests and errors by language; routes, middleware and answers of all files together."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from rag_ls.languages import Tests, compile_lines, detect_language, family_of, find_language
from rag_ls.rules.survey.findings import (
    MAX_EXAMPLES,
    MIN_COUNT,
    MIN_SHARE,
    Endpoint,
    FileFacts,
    SourceLine,
    SurveyFinding,
    Tally,
    Trace,
    Traces,
    list_names,
    pick_examples,
)
from rag_ls.rules.survey.sources import COMPONENTS, JAVASCRIPT, TYPED_JAVASCRIPT, is_surveyed, is_vendored
from rag_ls.search import Roles

Facts = Mapping[str, FileFacts]
"""The facts of each file, by path."""
Endpoints = Sequence[tuple[str, Endpoint]]
"""Each endpoint with the path of its file."""

_USUAL_MIDDLEWARE = re.compile(
    r"express\.\w+|(?:bodyParser\.)?(?:json|urlencoded)|gin\.(?:Recovery|Logger|Default)|protect_from_forgery|fetch_\w+|(?:Plug|Phoenix)\.[\w.]+"
    r"|(?:Authentication|Common|CsrfView|Locale|Message|Security|Session|XFrameOptions)Middleware"
    r"|Use(?:Authentication|Authorization|HttpsRedirection|StaticFiles|Routing|Hsts|DeveloperExceptionPage|ExceptionHandler|Swagger(?:UI)?"
    r"|BlazorFrameworkFiles|Migrations?EndPoint|CookiePolicy|HealthChecks|Antiforgery|Middleware)"
)
"""Middleware that nearly any application of its framework has."""
_CARRIERS = "Handlers", "Controllers", "Views", "Routes"
"""The labels of what many places carry: one or two of them show nothing."""
_FEW_ROUTES = 2 * MIN_COUNT
"""A project with no more routes is small: half of them show a pattern."""
_ENVELOPE = (
    "success", "ok", "status", "code", "data", "result", "results", "items", "payload", "meta", "error", "errors", "message", "msg",
)  # fmt: skip
"""The keys of an envelope, in the order in which they are told; other keys are of the thing itself."""
_MAX_WORDS = 4


def middleware_findings(facts: Facts) -> Iterator[SurveyFinding]:
    """Make a finding of each way in which middleware is registered, with how often each name stands there."""
    by_label: dict[str, Tally] = {}
    for path, each in facts.items():
        for use in each.middleware:
            by_label.setdefault(use.label, Tally()).add(use.name, SourceLine(path, use.line))
    for label, names in sorted(by_label.items(), key=lambda item: (-item[1].total, item[0])):
        common = names.most_common(MIN_COUNT if label.startswith(_CARRIERS) else 1)
        told = [name for name in common if not _USUAL_MIDDLEWARE.fullmatch(name)]
        if names.total >= MIN_COUNT and told:
            # A label of several words is the beginning of the sentence.
            shown = list_names(told, counts=names.counts if len(told) > 1 else None)
            claim = f"{label} {shown}" if " " in label else f"`{label}` registers, among others, {shown}"
            yield names.sum_of(told, "middleware", claim)


def list_middleware(facts: Facts) -> tuple[str, ...]:
    """The middleware of applications and routers, and what is common before single routes; the most frequent first.

    Before single routes it is common with three uses, or on half of a small project's routes.
    """
    routes = sum(len(each.endpoints) for each in facts.values())
    of_routes, together = Tally(), Tally()
    for each in facts.values():
        for use in each.middleware:
            (of_routes if use.is_of_route else together).add(use.name)
    least = min(MIN_COUNT, max(1, (routes + 1) // 2)) if routes <= _FEW_ROUTES else MIN_COUNT
    for name in of_routes.most_common(least):
        together.counts[name] = together.count(name) + of_routes.count(name)
    return tuple(together.most_common(1))


def response_findings(facts: Facts, endpoints: Endpoints) -> Iterator[SurveyFinding]:
    """The keys that nearly all answers have together, in one claim; of two files, where more than two have routes."""
    answers = _answers_with_keys(facts)
    kept, having = list[str](), answers
    for key in _count_keys(answers).most_common():
        with_key = [each for each in having if key in each[1]]
        if len(with_key) >= max(MIN_COUNT, MIN_SHARE * len(answers)):
            kept.append(key)
            having = with_key
    files = {place.path for place, _ in having}
    if kept and (len(files) > 1 or len({path for path, _ in endpoints}) <= MAX_EXAMPLES):
        others = (place.path for place, keys in answers if not set(kept).issubset(keys))
        yield SurveyFinding(
            topic="responses", claim=f"Answers have the {'key' if len(kept) == 1 else 'keys'} {list_names(kept)}",
            count=len(having), total=len(answers), examples=pick_examples(place for place, _ in having),
            exceptions=tuple(dict.fromkeys(others)),
        )  # fmt: skip


def name_response_format(facts: Facts) -> str:
    """The envelope of nearly all answers as a word, "success_data_error"; "" where they share none."""
    answers = _answers_with_keys(facts)
    enveloped = sum(not set(_ENVELOPE).isdisjoint(keys) for _, keys in answers)
    if len(answers) < 2 or enveloped < MIN_SHARE * len(answers):
        return ""
    keys, least = _count_keys(answers), min(MIN_COUNT, max(1, len(answers) // 4))
    return "_".join([word for word in _ENVELOPE if keys.count(word) >= least][:_MAX_WORDS])


def _answers_with_keys(facts: Facts) -> list[tuple[SourceLine, tuple[str, ...]]]:
    return [
        (SourceLine(path, answer.line), answer.keys)
        for path, each in facts.items()
        for answer in each.answers
        if answer.keys
    ]


def _count_keys(answers: Collection[tuple[SourceLine, tuple[str, ...]]]) -> Tally:
    tally = Tally()
    for _, keys in answers:
        for key in dict.fromkeys(keys):
            tally.add(key)
    return tally


_MIN_NAMED = 6
"""Fewer names show no style of a project."""
_STYLES = (
    ("snake_case", re.compile(r"^_?[a-z0-9]+(?:_[a-z0-9]+)+$")),
    ("kebab-case", re.compile(r"^[a-z0-9]+(?:-[a-z0-9]+)+$")),
    ("PascalCase", re.compile(r"^[A-Z][a-zA-Z0-9]*$")),
    ("camelCase", re.compile(r"^[a-z0-9]+[A-Z][a-zA-Z0-9]*$")),
)
_ONE_PLAIN_WORD = re.compile(r"^[a-z0-9]+$")
_MADE_NAMES = re.compile(
    r"_controller\.[jt]s$|\.(?:component|service|module|directive|pipe|guard|resolver|interceptor|controller|gateway|filter)\.ts$"
)
"""Names that Stimulus asks for, and those that the tools of Angular and NestJS give."""
_FOLDERS = re.compile(r"(^|/)(__tests__|src/test|tests?|specs?|e2e|cypress)/")
# Names of test files that test runners find by themselves.
_USUAL_NAMES = re.compile(
    r"test_\*\.py|\*_test\.\w+|\*_spec\.rb|\*\.(?:test|spec)\.(?:\w+|\*)|\*Tests?\.(?:java|kt|cs|php|swift|scala)"
)
_USUAL_PLACES = re.compile(r"below `(?:tests?|specs?|e2e|__tests__|(?:[\w.-]+/)*src/test)/?`")
_USUAL_LIBRARIES = re.compile(
    r"`describe` blocks|unittest|pytest|Spring's test support"
    r"|Go's `testing`|`testing`|PHPUnit|ExUnit|Minitest|kotlin\.test|JUnit(?: \d)?|XCTest|RSpec"
)


def title_of_files(family: str, languages: Iterable[str]) -> str:
    """The name of a family of languages: JavaScript, where no file is in TypeScript, which is of its family."""
    is_javascript = family in JAVASCRIPT and TYPED_JAVASCRIPT.isdisjoint(languages)
    return "JavaScript" if is_javascript else find_language(family).title or family


def naming_findings(languages: Mapping[str, str]) -> Iterator[SurveyFinding]:
    """The conventions of file names. `languages` has the language of each file of the product."""
    by_language: dict[str, list[str]] = {}
    for path in sorted(languages):
        by_language.setdefault(languages[path], []).append(path)
    for language, paths in sorted(by_language.items(), key=lambda item: -len(item[1])):
        if not find_language(language).is_named_by_tools:
            yield from _find_style(language, paths)


def _style_of(stem: str) -> str:
    """The way a name joins its words; "" for one word, which fits most styles."""
    if _ONE_PLAIN_WORD.match(stem):
        return ""
    return next((name for name, pattern in _STYLES if pattern.match(stem)), "other")


def _find_style(language: str, paths: Iterable[str]) -> Iterator[SurveyFinding]:
    """The style of nearly all names that show one, with a rule for the files below the folder that holds them."""
    tally = Tally()
    for path in paths:
        stem, dot, _ = posixpath.basename(path).partition(".")
        style = _style_of(stem) if dot and not _MADE_NAMES.search(path) else ""
        # `__init__`, `[slug]`: a tool asks for these names.
        if style and style != "other":
            tally.add(style, SourceLine(path, 1))
    main = tally.convention()
    if not main or tally.total < _MIN_NAMED or (language in COMPONENTS and main == "PascalCase"):
        return
    title = find_language(language).title or language
    what = "a name that shows a style" if main == "PascalCase" else "a name of several words"
    shown = [path for files in tally.files.values() for path in files]
    folder = _common_folder(shown)
    suffixes = sorted({posixpath.splitext(path)[1] for path in shown})
    rule = {
        "id": f"{language}-file-names", "file_names": main,
        "files": [f"{folder}/**/*{suffix}" if folder else f"**/*{suffix}" for suffix in suffixes],
        "message": f"{title} files are named in {main}",
    }  # fmt: skip
    yield replace(tally.finding("naming", f"{title} files with {what} are in {main}", main), rule=rule)


def _common_folder(paths: Iterable[str]) -> str:
    parts = [posixpath.dirname(path).split("/") for path in paths]
    return "/".join(first for first, *_ in takewhile(lambda same: len(set(same)) == 1, zip(*parts, strict=False)))


def is_looked_at(path: str, language: str, roles: Roles) -> bool:
    """Whether a file may hold tests of the project."""
    family = family_of(language)
    if (
        not is_surveyed(family)
        or "/src/main/" in f"/{path}"
        or roles.is_secondary(path)
        or is_vendored(re.sub(r"(^|/)(e2e|cypress)/", "/", path))
    ):
        return False
    return roles.is_test(path) or bool(_tests_of(family).name_of(posixpath.basename(path)))


def find_test_traces(path: str, language: str, text: str) -> Iterator[Trace]:
    """The name of a file of tests and the libraries that they use; nothing for a file that only serves tests."""
    family = family_of(language)
    tests = _tests_of(family)
    name = tests.name_of(posixpath.basename(path)) if text.strip() else ""
    if not name and not (tests.declared and compile_lines(tests.declared).search(text)):
        return
    yield Trace("test file", family, name, 1)
    for library, match in tests.libraries_in(text):
        shown = match.start() + len(match[0]) - len(match[0].lstrip())
        yield Trace("test library", family, library, text.count("\n", 0, shown) + 1)


def test_findings(traces: Traces) -> Iterator[SurveyFinding]:
    """The names, places and libraries that nearly all tests of a language share."""
    for family, names in traces.of("test file"):
        every = [path for files in names.files.values() for path in files]
        homes = Tally()
        for path in every:
            homes.add(_name_home(path), SourceLine(path, 1))
        title = title_of_files(family, (detect_language(path) or "" for path in every))
        start = f"{title} test files"
        if (name := names.convention()) and not _USUAL_NAMES.fullmatch(name):
            yield names.finding("tests", f"{start} are named `{name}`", name)
        if (home := homes.convention()) and not _USUAL_PLACES.fullmatch(home):
            yield homes.finding("tests", f"{start} lie {home}", home)
        libraries = traces.tally("test library", family)
        for name in libraries.most_common():
            if libraries.count(name) >= MIN_SHARE * names.total and not _USUAL_LIBRARIES.fullmatch(name):
                yield libraries.finding("tests", f"{start} use {name}", name, names.total, every)


def _tests_of(family: str) -> Tests:
    return find_language(family).tests or Tests()


def _name_home(path: str) -> str:
    """The folder for tests that holds a test, in words; "" where it is in none."""
    if not (match := _FOLDERS.search(path)):
        return ""
    folder = path[: match.end()].rstrip("/")
    return "in folders named `__tests__`" if folder.endswith("__tests__") else f"below `{folder}/`"


_ERROR_NAME = re.compile(r"(?:Error|Exception|Fault|Failure)$")
# Built-in errors that code raises or derives from if it has no base class of its own.
_BUILT_IN = re.compile(
    r"(?:\w+[.\\])*(?:Error|Exception|BaseException|Throwable|StandardError|\w*(?:Runtime|Value|Type|Key|Range|Syntax|NotImplemented"
    r"|Argument)Error|\w*(?:Runtime|IllegalArgument|IllegalState|NullPointer|UnsupportedOperation|Argument|ArgumentNull"
    r"|InvalidOperation|NotImplemented|NotSupported|InvalidArgument|Logic|HTTP|Http|Domain|UnexpectedValue)Exception)"
)
_COMMENTED = re.compile(r"^\s*(?://|#|\*|--)|//")
_GO_CHECK = re.compile(r"\bif\s[^\n{]*\berr\s*!=\s*nil\s*\{([^}]{0,1000})")
_GO_WRAPS = {
    "wrap the error with `fmt.Errorf` and `%w`": re.compile(r"fmt\.Errorf\([^\n]*%w"),
    "wrap the error with `errors.Wrap`": re.compile(r"\b(?:errors|xerrors)\.(?:Wrap|Wrapf|WithMessage|WithStack)\("),
}
_RUST_RESULT = re.compile(r"\bfn\s+\w+[^{};]{0,600}?->\s*(?:[\w:]+::)?Result<[^{;]*,\s*([\w:]+)>\s*(?:where\b|\{)")


def find_error_traces(language: str, text: str) -> Iterator[Trace]:
    """The classes of a file, the errors that it raises, and how it passes on those of others."""
    family, syntax = family_of(language), find_language(language).errors
    if syntax is not None:
        for match, line in _find(compile_lines(syntax.declared), text, "class"):
            bases = tuple(re.split(r"[.:\\]+", base.strip())[-1] for base in match[2].split(","))
            yield Trace("class", family, match[1], line, bases)
        for match, line in _find(compile_lines(syntax.raised), text, syntax.raise_word):
            # `raise error` only passes on a caught error.
            if match[1].split(".")[-1][:1].isupper():
                yield Trace("raised", family, match[1].lstrip("\\"), line)
    if language == "go":
        for match, line in _find(_GO_CHECK, text, "err"):
            way = next((name for name, pattern in _GO_WRAPS.items() if pattern.search(match[1])), "")
            yield Trace("passed on", family, f"Checks of `err != nil` {way}" if way else "", line)
    if language == "rust":
        for match, line in _find(_RUST_RESULT, text, "Result<"):
            yield Trace("passed on", family, f"Rust functions that can fail return `Result<_, {match[1]}>`", line)


def _find(pattern: re.Pattern[str], text: str, mark: str) -> Iterator[tuple[re.Match[str], int]]:
    """The matches that stand in no comment, with their lines; to look for the mark that all hold first is much faster."""
    for match in pattern.finditer(text) if mark in text else ():
        start = match.start() + len(match[0]) - len(match[0].lstrip())
        if not _COMMENTED.search(text[text.rfind("\n", 0, start) + 1 : start + 2]):
            yield match, text.count("\n", 0, start) + 1


def error_findings(traces: Traces, languages: Mapping[str, str]) -> Iterator[SurveyFinding]:
    """The conventions that nearly all errors of a language follow."""
    for family, classes in sorted(traces.classes.items()):
        yield from _class_findings(title_of_files(family, (languages[place.path] for _, place in classes)), classes)
    for family, raised in traces.of("raised"):
        if (name := raised.convention()) and not _BUILT_IN.fullmatch(name):
            title = title_of_files(family, (languages[path] for path in raised.files[name]))
            yield raised.finding("errors", f"{title} code raises `{name}`", name)
    for _, ways in traces.of("passed on"):
        if claim := ways.convention():
            yield ways.finding("errors", claim, claim)


def _class_findings(title: str, classes: Sequence[tuple[Trace, SourceLine]]) -> Iterator[SurveyFinding]:
    """The base that the project's own errors share."""
    named = {base for trace, _ in classes for base in trace.bases}
    tally = Tally()
    for trace, place in classes:
        base = next(filter(_ERROR_NAME.search, trace.bases), "")
        # The base of the others does not derive from itself.
        if base and not (trace.name in named and _BUILT_IN.fullmatch(base)):
            tally.add(base, place)
    if (base := tally.convention()) and not _BUILT_IN.fullmatch(base):
        yield tally.finding("errors", f"{title} error classes of the project derive from `{base}`", base)
