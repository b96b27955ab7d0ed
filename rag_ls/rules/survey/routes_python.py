"""Reads routes of FastAPI, Flask, Starlette and Django."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.rules.survey.routes import ANY, Endpoint, join_routes, methods_of, strings
from rag_ls.rules.survey.sources import SurveyedFile

_STRING = r"""r?(?:"([^"\n]*)"|'([^'\n]*)')"""
_DECORATOR = re.compile(
    rf"^[ \t]*@([\w.]+)\.(get|post|put|patch|delete|head|options|route|api_route)\(\s*(?:(?:path|rule)\s*=\s*)?{_STRING}",
    re.MULTILINE,
)
_ROUTER = re.compile(
    r"^[ \t]*(\w+)(?:\s*:[^=\n]{1,60})?\s*=\s*(?:\w+\.)?(?:APIRouter|Blueprint|APIBlueprint|Router)\(", re.MULTILINE
)
_PREFIX = re.compile(rf"\b(?:url_)?prefix\s*=\s*{_STRING}")
_INCLUDE = re.compile(r"\.(?:include_router|register_blueprint)\(\s*(\w+)\s*,")
_METHODS = re.compile(r"\bmethods\s*=\s*[\[({]([^\])}]*)[\])}]")
_ROUTE_OBJECT = re.compile(rf"(?<![\w.@])Route\(\s*{_STRING}\s*,")
_DJANGO = re.compile(rf"(?<![\w.])(path|re_path|url)\(\s*{_STRING}\s*,\s*(include\b)?")
_REGISTER = re.compile(rf"\b\w*[rR]outer\w*\.register\(\s*{_STRING}\s*,")


def python_endpoints(source: SurveyedFile) -> Iterator[Endpoint]:
    if "@" in source.code:
        yield from _find_decorated(source)
    if "starlette" in source.code:
        for match in source.find(_ROUTE_OBJECT):
            call = _call(source, match)
            yield from _each(call, "GET", join_routes(_string(match, 1)), source.place(match).line)
    if "urlpatterns" in source.code or "Router()" in source.code:
        yield from _django(source)


def _find_decorated(source: SurveyedFile) -> Iterator[Endpoint]:
    prefixes = _prefixes(source)
    for match in source.find(_DECORATOR):
        route = _string(match, 3)
        # `@patch.get("name")` and others of the kind have no path.
        if route and not route.startswith("/"):
            continue
        full = _concatenate_route(prefixes.get(match[1], ""), route)
        line = source.place(match).line
        if match[2] in ("route", "api_route"):
            yield from _each(_call(source, match), "GET", full, line)
        else:
            yield Endpoint(match[2].upper(), full, line)


def _concatenate_route(prefix: str, route: str) -> str:
    """FastAPI and Flask add a route to its prefix as it is: `/users` and `/` are `/users/`."""
    return "/" + (prefix.rstrip("/") + route).lstrip("/")


def _each(call: str, default: str, route: str, line: int) -> Iterator[Endpoint]:
    """An endpoint for each of the methods that a call names."""
    found = _METHODS.search(call)
    for method in methods_of(strings(found[1])) if found else [default]:
        yield Endpoint(method, route, line)


def _prefixes(source: SurveyedFile) -> dict[str, str]:
    prefixes: dict[str, str] = {}
    for match in source.find(_ROUTER):
        own = _PREFIX.search(source.code[match.end() : source.closing(match.end() - 1, 2000)])
        prefixes[match[1]] = _string(own, 1) if own else ""
    for match in source.find(_INCLUDE):
        outer = _PREFIX.search(_call(source, match))
        if outer and match[1] in prefixes:
            prefixes[match[1]] = join_routes(_string(outer, 1), prefixes[match[1]])
    return prefixes


def _django(source: SurveyedFile) -> Iterator[Endpoint]:
    if "django" not in source.code and "rest_framework" not in source.code:
        return
    for match in source.find(_DJANGO):
        # What `include` names holds the endpoints; a consumer is a WebSocket's.
        if match[4] is None and "as_asgi" not in _call(source, match):
            yield Endpoint(ANY, _django_route(_string(match, 2), match[1]), source.place(match).line)
    for match in source.find(_REGISTER):
        yield Endpoint(ANY, join_routes(_string(match, 1)), source.place(match).line)


def _django_route(pattern: str, function: str) -> str:
    """A regular expression without its anchors; a named group keeps its name alone."""
    if function != "path":
        pattern = re.sub(r"\(\?P<(\w+)>[^()]*\)", r"<\1>", pattern.removeprefix("^").removesuffix("$"))
    return join_routes(pattern)


def _call(source: SurveyedFile, match: re.Match[str]) -> str:
    """The text of the call that a match opens."""
    opening = source.bare.index("(", match.start())
    return source.code[opening : source.closing(opening, 2000)]


def _string(match: re.Match[str], group: int) -> str:
    return match[group] if match[group] is not None else match[group + 1] or ""
