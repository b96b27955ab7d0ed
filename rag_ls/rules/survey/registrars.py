"""Functions of a project by which it registers routes, and their calls: routes whose paths are unknown, not missing."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rag_ls.rules.survey import declarations, nodes
from rag_ls.rules.survey.file_facts import FileFacts, Registrar

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_PATH_PARAMETER = re.compile(r"(?i)(path|pattern|route|endpoint|ur[il])$")
_HANDLER = r"Handler|Route\w*Func|\bfunc\(\w*\s*http\.ResponseWriter"
_TEXT = re.compile(r"[\"'`]([^\"'`\s]*)[\"'`]")
_METHOD = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE)\b|\bMethod(Get|Post|Put|Patch|Delete)\b")


def find_registrars(root: SgNode, language: str) -> Iterator[Registrar]:
    """The functions of a Go file that take the path of a route and its handler."""
    if language != "go":
        return
    taking: Any = {"field": "parameters", "regex": _HANDLER}
    kinds = ("function_declaration", "method_declaration")
    for node in root.find_all(any=[{"kind": kind, "has": taking} for kind in kinds]):
        for at, name in enumerate(parameters_of(node)):
            if _PATH_PARAMETER.search(name):
                yield Registrar(declarations.declared_name(node), at)
                break


def registrars_around(call: SgNode, line: int, paths: Collection[str]) -> list[Registrar]:
    """The function around a route, if one of its parameters is the route's path."""
    function = declarations.function_around(call)
    if function is None:
        return []
    loops = dict(re.findall(r"\bfor\s+(\w+)\s+in\s+(\w+)", function.text()))
    paths = {*paths, *(loops[path] for path in paths if path in loops)}
    name = declarations.declared_name(function) if function.field("name") else declarations.assigned_name(function)
    return [Registrar(name, at, line) for at, each in enumerate(parameters_of(function)) if name and each in paths]


def parameters_of(function: SgNode) -> list[str]:
    """The names of a function's parameters, without Python's receiver."""
    parameters = function.field("parameters")
    names = list[str]()
    for each in nodes.children_of(parameters) if parameters else ():
        several = [child.text() for child in nodes.children_of(each) if child.kind() == "identifier"]
        names += several if each.kind() == "parameter_declaration" else re.findall(r"\w+", each.text())[:1]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def find_callers(
    facts: Mapping[str, FileFacts], languages: Mapping[str, str], edges: Iterable[tuple[str, str, int]]
) -> dict[str, frozenset[Registrar]]:
    """The registrars that each file may call: its own and those of files that it imports, in Go of their folders."""
    own = defaultdict[str, frozenset[Registrar]](frozenset)
    for path, each in facts.items():
        own[_unit_of(path, languages[path])] |= frozenset(each.registrars)
    found = defaultdict[str, frozenset[Registrar]](frozenset)
    if any(own.values()):
        beside = ((path, path, 0) for path in languages)
        for path, target, _ in (*beside, *edges):
            if path in languages and languages.get(target) == languages[path]:
                found[path] |= own[_unit_of(target, languages[target])]
    return {path: registrars for path, registrars in found.items() if registrars}


def _unit_of(path: str, language: str) -> str:
    """The place whose declarations are seen together: a file, in Go its folder."""
    return posixpath.dirname(path) + "/" if language == "go" else path


def find_registrations(text: str, language: str, registrars: Collection[Registrar]) -> Iterator[int]:
    """The lines that call registrars with a route."""
    named = [each for each in registrars if f"{each.name}(" in text]
    if not named:
        return
    # Imported here: it takes a while, and most projects have no registrars.
    from ast_grep_py import SgRoot

    rule: Any = nodes.call_rule(language, "|".join(dict.fromkeys(re.escape(each.name) for each in named)))
    for node in SgRoot(text, language).root().find_all(any=[rule]):
        call = nodes.read_call(node)
        if call and any(each.name == call.name and _is_route(call.arguments, each.path_at) for each in named):
            yield call.line


def _is_route(arguments: Sequence[SgNode], path_at: int) -> bool:
    """Whether a path is written out among the arguments of a call: it begins with a slash, or a method stands beside it."""
    if len(arguments) < 2 or path_at >= len(arguments) or not (written := _TEXT.search(arguments[path_at].text())):
        return False
    beside = " ".join(each.text() for at, each in enumerate(arguments) if at != path_at)
    return written[1].startswith("/") or bool(_METHOD.search(beside))
