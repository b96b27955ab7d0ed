"""Finds how files are named."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import takewhile

from rag_ls.languages import find_language
from rag_ls.rules.survey.findings import SourceLine, SurveyFinding, Tally
from rag_ls.rules.survey.sources import COMPONENTS, JAVASCRIPT, TYPED_JAVASCRIPT

TOPIC = "naming"

_STYLES = (
    ("snake_case", re.compile(r"^_?[a-z0-9]+(?:_[a-z0-9]+)+$")),
    ("kebab-case", re.compile(r"^[a-z0-9]+(?:-[a-z0-9]+)+$")),
    ("PascalCase", re.compile(r"^[A-Z][a-zA-Z0-9]*$")),
    ("camelCase", re.compile(r"^[a-z0-9]+[A-Z][a-zA-Z0-9]*$")),
)
_ONE_WORD = re.compile(r"^[a-z0-9]+$")
_MADE = re.compile(
    r"_controller\.[jt]s$|\.(?:component|service|module|directive|pipe|guard|resolver|interceptor|controller|gateway|filter)\.ts$"
)
"""Names that Stimulus asks for, and those that the tools of Angular and NestJS give."""
MIN_NAMED = 6
"""Fewer names show no style of a project."""


def title_of(language: str) -> str:
    """The name of a language as people write it."""
    return find_language(language).title or language


def title_of_files(family: str, languages: Iterable[str]) -> str:
    """The name of a family of languages: JavaScript, where no file is in TypeScript, which is of its family."""
    is_javascript = family in JAVASCRIPT and TYPED_JAVASCRIPT.isdisjoint(languages)
    return "JavaScript" if is_javascript else title_of(family)


def naming_findings(languages: Mapping[str, str]) -> list[SurveyFinding]:
    """The conventions of file names. `languages` has the language of each file of the product."""
    by_language: dict[str, list[str]] = {}
    for path in sorted(languages):
        by_language.setdefault(languages[path], []).append(path)
    found: list[SurveyFinding] = []
    for language, paths in sorted(by_language.items(), key=lambda item: -len(item[1])):
        if not find_language(language).is_named_by_tools:
            found += _style(language, paths)
    return found


def style_of(stem: str) -> str:
    """The way a name joins its words; "" for one word, which fits most styles."""
    if _ONE_WORD.match(stem):
        return ""
    return next((name for name, pattern in _STYLES if pattern.match(stem)), "other")


def _style(language: str, paths: Iterable[str]) -> Iterator[SurveyFinding]:
    """The style of nearly all names that show one, with a rule for the files below the folder that holds them."""
    tally = Tally()
    shown: list[str] = []
    for path in paths:
        stem = posixpath.basename(path).partition(".")[0]
        style = style_of(stem) if "." in posixpath.basename(path) and not _MADE.search(path) else ""
        # `__init__`, `[slug]`: a tool asks for these names.
        if style and style != "other":
            tally.add(style, SourceLine(path, 1))
            shown.append(path)
    main = tally.convention()
    if not main or tally.total < MIN_NAMED or (language in COMPONENTS and main == "PascalCase"):
        return
    what = "a name that shows a style" if main == "PascalCase" else "a name of several words"
    found = tally.finding(TOPIC, f"{title_of(language)} files with {what} are in {main}", main)
    rule = {
        "id": f"{language}-file-names", "file_names": main, "files": _files_glob(_common_folder(shown), shown),
        "message": f"{title_of(language)} files are named in {main}",
    }  # fmt: skip
    yield replace(found, rule=rule)


def _common_folder(paths: Iterable[str]) -> str:
    parts = [posixpath.dirname(path).split("/") for path in paths]
    return "/".join(first for first, *_ in takewhile(lambda same: len(set(same)) == 1, zip(*parts, strict=False)))


def _files_glob(folder: str, paths: Iterable[str]) -> list[str]:
    """All files below a folder with a suffix of some files."""
    suffixes = sorted({posixpath.splitext(path)[1] for path in paths})
    return [f"{folder}/**/*{suffix}" if folder else f"**/*{suffix}" for suffix in suffixes]
