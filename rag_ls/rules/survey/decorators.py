"""Finds the decorators, annotations and attributes of the project's own that are in use."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator

from rag_ls.languages import family_of, find_language
from rag_ls.languages.patterns import compile_lines
from rag_ls.rules.survey.findings import SurveyFinding, list_names
from rag_ls.rules.survey.imports import ImportNames
from rag_ls.rules.survey.naming import title_of
from rag_ls.rules.survey.sources import SurveyedFile
from rag_ls.rules.survey.traces import Trace, Traces

TOPIC = "decorators"
FindDeclared = Callable[[Collection[str], str], Collection[str]]
"""Finds which of some names the project's code declares, in a family of languages."""
_MAX_NAMES, _MAX_SHOWN = 40, 6

_PROPERTY = re.compile(r"\.(?:setter|getter|deleter|register|fixture|mark)\b")
_ROUTE = re.compile(
    r"\.(?:get|post|put|patch|delete|head|options|route|websocket|api_route|on|event)$"
    r"|^(?:Get|Post|Put|Patch|Delete|All|Head|Options|Request)(?:Mapping)?$|^Http(?:Get|Post|Put|Delete|Patch)$"
)


# Imports of names from a module, in Python and JavaScript.
_IMPORTED = re.compile(
    r"""^[ \t]*from[ \t]+([\w.]+)[ \t]+import\b[ \t]*(\([^)]*\)|[^\n]*)|^[ \t]*import\s*\{([^}]*)\}\s*from\s*["']([^"'\n]+)""",
    re.M,
)


def decorator_traces(source: SurveyedFile, names: ImportNames) -> Iterator[Trace]:
    """The decorators of a file, without those of the language and of routes, and those that it imports from a package."""
    syntax = find_language(source.language).decorators
    if syntax is None or not any(mark in source.code for mark in "@[#"):
        return
    foreign = {
        name
        for match in source.find(_IMPORTED, "import")
        if not names.are_own(match[1] or match[4])
        for name in re.findall(r"\w+", match[2] or match[3] or "")
    }
    for match in source.find(compile_lines(syntax.pattern)):
        name = match[1].rstrip(".")
        if (
            name not in foreign
            and name not in syntax.ordinary
            and not _PROPERTY.search(name)
            and not _ROUTE.search(name)
        ):
            shown = f"{syntax.start}{name}{syntax.end}"
            yield Trace("decorator", family_of(source.language), shown, source.place(match).line)


def decorator_findings(
    traces: Traces, declared: FindDeclared, modules: Iterable[tuple[str, str, int]], said: Collection[str] = ()
) -> Iterator[SurveyFinding]:
    """The decorators that the project itself declares, one finding for a family: those of a framework are in use in any project
    of it.

    `modules` are the imports of what is not the project's. A project that has a `Builder` may still use the one of a package.
    `said` are the decorators that other findings are about.
    """
    foreign = {(path, re.split(r"[.\\:/]", module)[-1]) for path, module, _ in modules}
    for family, tally in traces.of("decorator"):
        syntax = find_language(family).decorators
        suffix = syntax.suffix if syntax is not None else ""
        words = {name: re.findall(r"\w+", name) for name in tally.most_common()[:_MAX_NAMES]}
        own = {
            name: f"{first.removesuffix(suffix)}{suffix}"
            # `@register.filter` is not the project's own, even if the project declares a `filter`.
            for name, (first, *inner) in words.items()
            if not inner and not any((path, first) in foreign for path in tally.files[name])
        }
        known = declared(frozenset(own.values()), family) if own else ()
        shown = [name for name, each in own.items() if each in known and name not in said][:_MAX_SHOWN]
        if shown:
            counts = {name: tally.count(name) for name in shown} if shown[1:] else None
            claim = f"{title_of(family)} code uses the project's own {list_names(shown, counts=counts)}"
            yield tally.sum_of(shown, TOPIC, claim)
