"""Finds how files are named, and where files of a kind lie."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from rag_ls.languages import find_language
from rag_ls.rules.survey.findings import MIN_COUNT, MIN_SHARE, SourceLine, SurveyFinding, Tally
from rag_ls.rules.survey.sources import JAVASCRIPT

TOPIC = "naming"

_STYLES = (
    ("snake_case", re.compile(r"^_?[a-z0-9]+(?:_[a-z0-9]+)+$")),
    ("kebab-case", re.compile(r"^[a-z0-9]+(?:-[a-z0-9]+)+$")),
    ("PascalCase", re.compile(r"^[A-Z][a-zA-Z0-9]*$")),
    ("camelCase", re.compile(r"^[a-z0-9]+[A-Z][a-zA-Z0-9]*$")),
)
_ONE_WORD = re.compile(r"^[a-z0-9]+$")
_LAST_WORD = re.compile(r"(?:[a-z0-9])([A-Z][a-z]{3,})$|_([a-z]{3,})$")
# Words for what a file does; a name that ends in a thing of the domain shows no kind.
_ROLES = frozenset(
    "controller service repository repo model view serializer helper job mailer policy handler middleware request response resource "
    "provider factory entity dto mapper config configuration util utils module guard filter interceptor schema store hook component page "
    "screen worker task command query event listener observer exception error validator presenter decorator form router route routes api "
    "client endpoint specification context adapter gateway strategy builder channel plugin directive pipe mutation datafetcher".split()
)
_MAX_EXCEPTIONS = 2
_MAX_KINDS = 12


def title_of(language: str) -> str:
    """The name of a language as people write it."""
    return find_language(language).title or language


def naming_findings(languages: Mapping[str, str]) -> list[SurveyFinding]:
    """`languages` has the language of each file of the product."""
    by_language: dict[str, list[str]] = {}
    for path in sorted(languages):
        by_language.setdefault(languages[path], []).append(path)
    found: list[SurveyFinding] = []
    for language, paths in sorted(by_language.items(), key=lambda item: -len(item[1])):
        if not find_language(language).is_named_by_tools:
            found += _style(language, paths)
        found += _kinds(language, paths)
    return found


def style_of(stem: str) -> str:
    """The way a name joins its words; "" for one word, which fits most styles."""
    if _ONE_WORD.match(stem):
        return ""
    return next((name for name, pattern in _STYLES if pattern.match(stem)), "other")


def _style(language: str, paths: Iterable[str]) -> Iterator[SurveyFinding]:
    tally = Tally()
    named: dict[str, list[str]] = {}
    for path in paths:
        stem = posixpath.basename(path).partition(".")[0]
        style = style_of(stem) if "." in posixpath.basename(path) else ""
        # `__init__`, `[slug]`: names that a tool asks for.
        if style and style != "other":
            tally.add(style, SourceLine(path, 1))
            named.setdefault(style, []).append(path)
    main = tally.convention()
    what = f"{title_of(language)} files with a name of several words are in"
    if main == "PascalCase":
        what = f"{title_of(language)} files with a name that shows a style are in"
    if main:
        others = [path for style, list_ in named.items() if style != main for path in list_]
        but = ", ".join(f"`{path}`" for path in others[:_MAX_EXCEPTIONS])
        yield tally.finding(TOPIC, f"{what} {main}" + (f"; exceptions are {but}" if but else ""), main)
        return
    for style in tally.most_common():
        yield tally.finding(TOPIC, f"{what} {style}", style)


def _kinds(language: str, paths: list[str]) -> Iterator[SurveyFinding]:
    """Files of a kind, by the last part of their names: `users.service.ts`, `UserController.php`, `users_controller.rb`."""
    kinds: dict[str, list[str]] = {}
    for path in paths:
        if kind := _kind(language, posixpath.basename(path)):
            kinds.setdefault(kind, []).append(path)
    shown = sorted(
        (kind for kind in kinds if len(kinds[kind]) >= MIN_COUNT), key=lambda kind: (-len(kinds[kind]), kind)
    )
    for kind in shown[:_MAX_KINDS]:
        members = kinds[kind]
        folder = _folder_of_most(members, paths)
        inside = [path for path in members if f"/{folder}/" in f"/{path}"]
        if folder:
            claim = f"Files named `{kind}` lie in `{folder}/`"
            yield SurveyFinding(TOPIC, claim, len(inside), len(members), _places(inside))
        elif kind.startswith("*."):
            yield SurveyFinding(TOPIC, f"Files are named `{kind}`", len(members), len(paths), _places(members))


def _kind(language: str, name: str) -> str:
    stem, dot, suffix = name.partition(".")
    if language in JAVASCRIPT and suffix.count(".") == 1:
        return f"*.{suffix}"
    last = _LAST_WORD.search(stem)
    if last is None or not dot or (last[1] or last[2]).lower() not in _ROLES:
        return ""
    return f"*{last[1]}.{suffix}" if last[1] else f"*_{last[2]}.{suffix}"


def _folder_of_most(members: list[str], paths: list[str]) -> str:
    """The lowest folder that holds nearly all of the members, unless it holds most of the other files as well."""
    counts: Counter[str] = Counter()
    for path in members:
        folder = posixpath.dirname(path)
        while folder:
            counts[folder] += 1
            folder = posixpath.dirname(folder)
    holding = [folder for folder, count in counts.items() if count >= MIN_SHARE * len(members) and count >= MIN_COUNT]
    folder = max(holding, key=lambda name: (name.count("/"), name), default="")
    inside = sum(path.startswith(folder + "/") for path in paths)
    return folder if folder and inside < MIN_SHARE * len(paths) and len(members) >= inside / 2 else ""


def _places(paths: list[str]) -> tuple[SourceLine, ...]:
    return tuple(SourceLine(path, 1) for path in paths[:2])
