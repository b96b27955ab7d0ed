"""Finds how files are named; where tests lie, how their files are named, and what they are written with."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import takewhile

from rag_ls.languages import family_of, find_language
from rag_ls.languages.patterns import Tests, compile_lines
from rag_ls.rules.survey.file_facts import Trace, Traces
from rag_ls.rules.survey.findings import MIN_SHARE, SourceLine, SurveyFinding, Tally
from rag_ls.rules.survey.sources import COMPONENTS, JAVASCRIPT, TYPED_JAVASCRIPT, is_surveyed, is_vendored
from rag_ls.search.roles import Roles

MIN_NAMED = 6
"""Fewer names show no style of a project."""
_STYLES = (
    ("snake_case", re.compile(r"^_?[a-z0-9]+(?:_[a-z0-9]+)+$")),
    ("kebab-case", re.compile(r"^[a-z0-9]+(?:-[a-z0-9]+)+$")),
    ("PascalCase", re.compile(r"^[A-Z][a-zA-Z0-9]*$")),
    ("camelCase", re.compile(r"^[a-z0-9]+[A-Z][a-zA-Z0-9]*$")),
)
_ONE_WORD = re.compile(r"^[a-z0-9]+$")
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


def style_of(stem: str) -> str:
    """The way a name joins its words; "" for one word, which fits most styles."""
    if _ONE_WORD.match(stem):
        return ""
    return next((name for name, pattern in _STYLES if pattern.match(stem)), "other")


def _find_style(language: str, paths: Iterable[str]) -> Iterator[SurveyFinding]:
    """The style of nearly all names that show one, with a rule for the files below the folder that holds them."""
    tally = Tally()
    for path in paths:
        stem, dot, _ = posixpath.basename(path).partition(".")
        style = style_of(stem) if dot and not _MADE_NAMES.search(path) else ""
        # `__init__`, `[slug]`: a tool asks for these names.
        if style and style != "other":
            tally.add(style, SourceLine(path, 1))
    main = tally.convention()
    if not main or tally.total < MIN_NAMED or (language in COMPONENTS and main == "PascalCase"):
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


def test_findings(traces: Traces, language: Callable[[str], str]) -> Iterator[SurveyFinding]:
    """The names, places and libraries that nearly all tests of a language share."""
    for family, names in traces.of("test file"):
        every = [path for files in names.files.values() for path in files]
        homes = Tally()
        for path in every:
            homes.add(_name_home(path), SourceLine(path, 1))
        start = f"{title_of_files(family, map(language, every))} test files"
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
