"""Reads routes of Spring and ASP.NET, which stand in annotations and attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.rules.survey.routes import ANY, QUOTED, Endpoint, first_string, join_routes, strings
from rag_ls.rules.survey.sources import SurveyedFile

_MAPPING = re.compile(r"@(Get|Post|Put|Patch|Delete|Request)Mapping\b")
_PATHS = re.compile(r"\b(?:value|path)\s*=\s*(\{[^}]*\}|\[[^\]]*\]|\"[^\"\n]*\")")
_REQUEST_METHOD = re.compile(r"\bRequestMethod\.([A-Z]+)|\bmethod\s*=\s*\[?\{?\s*([A-Z]+)\b")
_ANNOTATION = re.compile(r"\s*@\w[\w.]*\s*")
_MODIFIER = re.compile(r"\s*(?:public|private|protected|internal|abstract|final|open|static|data|sealed)\b")
_TYPE = re.compile(r"\s*(?:class|interface)\s+\w+")

_ATTRIBUTE = re.compile(r"\b(Route|Http(?:Get|Post|Put|Patch|Delete|Head|Options))\b(\s*\()?")
_CLASS = re.compile(r"\bclass\s+(\w+)")
_METHOD = re.compile(r"\b(?:public|internal)\s+[\w<>\[\]?,. ]+?\s(\w+)\s*\(")
_MINIMAL = re.compile(rf"\b(\w+)\s*\.\s*Map(Get|Post|Put|Patch|Delete)\s*\(\s*{QUOTED}")
_GROUP = re.compile(rf"\b(\w+)\s*=\s*(\w+)\s*\.\s*MapGroup\s*\(\s*{QUOTED}")


def spring_endpoints(source: SurveyedFile) -> Iterator[Endpoint]:
    """Java and Kotlin. Clients of Feign carry the same annotations and are none."""
    if "Mapping" not in source.code or "@FeignClient" in source.code:
        return
    prefixes = [""]
    for match in source.find(_MAPPING):
        end = _after_arguments(source, match.end())
        text = source.code[match.end() : end].strip()[1:-1]
        if match[1] == "Request" and _annotates_type(source, end):
            prefixes = _paths(text)
            continue
        methods = [match[1].upper()]
        if match[1] == "Request":
            methods = [found[1] or found[2] for found in _REQUEST_METHOD.finditer(text)] or [ANY]
        routes = (join_routes(prefix, path) for prefix in prefixes for path in _paths(text))
        yield from (Endpoint(method, route, source.line(match.start())) for route in routes for method in methods)


def _after_arguments(source: SurveyedFile, offset: int) -> int:
    """The offset at which the arguments of an annotation end, if it has any."""
    if source.bare[offset : offset + 40].lstrip().startswith("("):
        return source.closing(source.bare.index("(", offset), 2000) + 1
    return offset


def _annotates_type(source: SurveyedFile, offset: int) -> bool:
    """Whether a class follows, after other annotations and modifiers."""
    while match := _ANNOTATION.match(source.bare, offset) or _MODIFIER.match(source.bare, offset):
        offset = _after_arguments(source, match.end())
    return bool(_TYPE.match(source.bare, offset))


def _paths(text: str) -> list[str]:
    """The paths in the arguments of a mapping; one empty path where it names none."""
    named = _PATHS.search(text)
    if named:
        return strings(named[1]) or [""]
    return strings(text) if text.lstrip().startswith(('"', "{", "[")) else [""]


def aspnet_endpoints(source: SurveyedFile) -> Iterator[Endpoint]:
    if "[Http" in source.code or "[Route" in source.code or ", Http" in source.code:
        yield from _controllers(source)
    groups = {match[1]: (match[2], match[3]) for match in source.find(_GROUP)}
    for match in source.find(_MINIMAL):
        route, name = match[3], match[1]
        for _ in range(len(groups)):
            if name not in groups:
                break
            name, prefix = groups[name]
            route = join_routes(prefix, route)
        yield Endpoint(match[2].upper(), join_routes(route), source.line(match.start()))


def _controllers(source: SurveyedFile) -> Iterator[Endpoint]:
    classes = list(source.find(_CLASS))
    prefixes: dict[str, str] = {}
    on_methods: list[tuple[re.Match[str], str, str]] = []
    for match in source.find(_ATTRIBUTE):
        if source.bare[: match.start()].rstrip()[-1:] not in ("[", ","):
            continue
        route = first_string(source.code[match.end() :]) or "" if match[2] else ""
        following = next((item for item in classes if item.start() > match.start()), None)
        method = _METHOD.search(source.bare, match.end())
        if match[1] == "Route" and following and (method is None or following.start() < method.start()):
            prefixes[following[1]] = route
        elif match[1] != "Route" and method:
            on_methods.append((match, route, method[1]))
    for match, route, name in on_methods:
        holder = next((item[1] for item in reversed(classes) if item.start() < match.start()), "")
        prefix = "" if route.startswith(("/", "~/")) else prefixes.get(holder, "")
        full = join_routes(prefix, route.removeprefix("~"))
        full = full.replace("[controller]", holder.removesuffix("Controller")).replace("[action]", name)
        yield Endpoint(match[1].removeprefix("Http").upper(), full, source.line(match.start()))
