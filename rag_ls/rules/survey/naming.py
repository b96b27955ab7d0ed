"""Finds how files are named, and where files of a kind lie."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import takewhile

from rag_ls.languages import find_language
from rag_ls.rules.survey.findings import MIN_COUNT, MIN_SHARE, SourceLine, SurveyFinding, Tally, lowest_folder
from rag_ls.rules.survey.sources import COMPONENTS, JAVASCRIPT, TYPED_JAVASCRIPT

TOPIC = "naming"

_STYLES = (
    ("snake_case", re.compile(r"^_?[a-z0-9]+(?:_[a-z0-9]+)+$")),
    ("kebab-case", re.compile(r"^[a-z0-9]+(?:-[a-z0-9]+)+$")),
    ("PascalCase", re.compile(r"^[A-Z][a-zA-Z0-9]*$")),
    ("camelCase", re.compile(r"^[a-z0-9]+[A-Z][a-zA-Z0-9]*$")),
)
_ONE_WORD = re.compile(r"^[a-z0-9]+$")
_LAST_WORD = re.compile(r"(?:[a-z0-9])([A-Z][a-z]{3,})$|_([a-z]{3,})$")
# Last words of file names that tell a file's task. Other last words are things of the domain, and show no kind of file.
_ROLES = frozenset(
    "controller service repository repo model view serializer helper job mailer policy handler middleware request response resource "
    "provider factory entity dto mapper config configuration util utils module guard filter interceptor schema store hook component page "
    "screen worker task command query event listener observer exception error validator presenter decorator form router route routes api "
    "client endpoint specification context adapter gateway strategy builder channel plugin directive pipe mutation datafetcher".split()
)
# Folders in which the generators of Rails, Laravel, Phoenix, Django and Angular put files.
_GENERATED_FOLDERS = re.compile(
    r"(?:[\w.-]+/)*(?:Controllers|app/(?:controllers|models|helpers|jobs|mailers|policies|channels|views)"
    r"|app/(?:Http/\w+|Console/Commands|Exceptions|Providers|Policies|Jobs|Events|Listeners|Mail|Models|Rules|Observers|Casts|Notifications)"
    r"|database/(?:factories|seeders|seeds|migrations)|config|src/app|src/(?:Controller|Command|Repository|Entity|Form|EventSubscriber|EventListener|Twig|DataFixtures)|management/commands"
    r"|lib/\w+_web/(?:controllers|views|live|components|channels|plugs))"
)
_MADE = re.compile(
    r"_controller\.[jt]s$|\.(?:component|service|module|directive|pipe|guard|resolver|interceptor|controller|gateway|filter)\.ts$"
)
"""Names that Stimulus asks for, and those that the tools of Angular and NestJS give."""
_MAX_KINDS = 2
"""Of the kinds of a language: the largest show how the project does it, and more say the same."""
_MIN_OF_A_KIND = 6
"""Fewer files that lie together may be one feature."""
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
    """The conventions of file names and their folders. `languages` has the language of each file of the product."""
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
        # `*.module.ts` is the name of `user.router.module.ts`, too.
        members = [path for path in paths if path.endswith(kind.removeprefix("*"))]
        folder = _folder_of_most(members, paths)
        inside = [path for path in members if f"/{folder}/" in f"/{path}"]
        if len(inside) >= _MIN_OF_A_KIND and folder and not _GENERATED_FOLDERS.fullmatch(folder):
            claim = f"Files named `{kind}` lie in `{folder}/`"
            name = re.sub(r"\W+", "-", kind).strip("-")
            rule = {"id": f"{name}-files", "place": f"{folder}/**", "files": f"**/{kind}", "message": claim}
            outside = tuple(path for path in members if path not in inside)
            yield SurveyFinding(
                topic=TOPIC, claim=claim, count=len(inside), total=len(members), examples=_places(inside),
                exceptions=outside, rule=rule,
            )  # fmt: skip


def _kind(language: str, name: str) -> str:
    stem, dot, suffix = name.partition(".")
    if language in JAVASCRIPT and suffix.count(".") == 1 and not suffix.startswith(("dev.", "prod.", "bundle.")):
        return f"*.{suffix}"
    last = _LAST_WORD.search(stem)
    if last is None or not dot or (last[1] or last[2]).lower() not in _ROLES:
        return ""
    return f"*{last[1]}.{suffix}" if last[1] else f"*_{last[2]}.{suffix}"


def _folder_of_most(members: list[str], paths: list[str]) -> str:
    """The lowest folder that holds nearly all of the members, unless it holds most of the other files as well."""
    folder = lowest_folder(members, MIN_COUNT)
    inside = sum(path.startswith(folder + "/") for path in paths)
    return folder if folder and inside < MIN_SHARE * len(paths) and len(members) >= inside / 2 else ""


def _places(paths: list[str]) -> tuple[SourceLine, ...]:
    return tuple(SourceLine(path, 1) for path in paths[:2])
