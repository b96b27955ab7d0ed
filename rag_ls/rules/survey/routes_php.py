"""Reads routes of Laravel, Slim and Symfony."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.rules.survey.brackets import arguments
from rag_ls.rules.survey.resources import actions, resource_routes, singular
from rag_ls.rules.survey.routes import (
    ANY,
    Endpoint,
    Span,
    body_after,
    first_string,
    join_routes,
    methods_of,
    prefix_at,
    strings,
)
from rag_ls.rules.survey.sources import SurveyedFile

_VERB = r"(get|post|put|patch|delete|options|any|match|map|view|redirect|resource|apiResource)"
_ROUTE = re.compile(rf"(?:\bRoute::|\$(?:app|router|group|route|r)->){_VERB}\(")
_CHAINED_ROUTE = re.compile(rf"\bRoute::(?:middleware|prefix|name|domain)\([^;{{]{{0,300}}?\)->{_VERB}\(")
_GROUP = re.compile(r"(?:->|::)group\(")
_PREFIX = re.compile(r"(?:\bprefix\(\s*|[\"']prefix[\"']\s*=>\s*)[\"']([^\"'\n]*)[\"']")
_ATTRIBUTE = re.compile(r"#\[Route\(")
_CLASS = re.compile(r"\s*(?:#\[[^\n]*\]\s*|final\s+|abstract\s+|readonly\s+){0,8}class\s+\w+")
_METHODS = re.compile(r"\bmethods\s*:\s*(\[[^\]]*\]|[\"'][^\"'\n]*[\"'])")
_MAX_LOOK_BACK = 300


def php_endpoints(source: SurveyedFile) -> Iterator[Endpoint]:
    if "#[Route(" in source.code:
        yield from _symfony(source)
    if "Route::" not in source.code and not re.search(r"\$(?:app|router|group|route|r)->", source.code):
        return
    spans = list(_groups(source))
    for pattern in (_ROUTE, _CHAINED_ROUTE):
        for match in source.find(pattern):
            yield from _routes(source, match, spans)


def _routes(source: SurveyedFile, match: re.Match[str], spans: list[Span]) -> Iterator[Endpoint]:
    opening = match.end() - 1
    parts = [text for _, text in arguments(source, opening)]
    several = match[1] in ("match", "map")
    route = first_string(parts[several]) if len(parts) > several + 1 else None
    if route is None:
        return
    chained = _PREFIX.search(match[0])
    prefix = join_routes(prefix_at(spans, match.start()), chained[1] if chained else "")
    line = source.line(match.start())
    if match[1] in ("resource", "apiResource"):
        only, without = (_restriction(source, opening, name) for name in ("only", "except"))
        wanted = actions(only, without, laravel=True)
        wanted -= {"new", "edit"} if match[1] == "apiResource" else set()
        named = _nested_resource(route)
        for method, path in resource_routes(named, wanted, "{" + singular(named.rsplit("/", 1)[-1]) + "}", "create"):
            yield Endpoint(method, join_routes(prefix, path), line)
        return
    method = {"any": ANY, "view": "GET", "redirect": ANY}.get(match[1], match[1].upper())
    methods = methods_of(strings(parts[0])) if several else [method]
    yield from (Endpoint(method, join_routes(prefix, route), line) for method in methods)


def _nested_resource(name: str) -> str:
    """`photos.comments` is `photos/{photo}/comments`."""
    *outer, last = name.split(".")
    return "/".join([*(f"{part}/{{{singular(part)}}}" for part in outer), last])


def _restriction(source: SurveyedFile, opening: int, name: str) -> list[str] | None:
    """The names in `->only([...])` after a call, or in its options: `['only' => [...]]`."""
    after = source.closing(opening) + 1
    end = source.bare.find(";", after, after + 600)
    found = re.search(rf"->{name}\(([^)]*)\)", source.code[after : max(after, end)])
    found = found or re.search(rf"[\"']{name}[\"']\s*=>\s*(\[[^\]]*\]|[\"']\w+[\"'])", source.code[opening:after])
    return strings(found[1]) if found else None


def _groups(source: SurveyedFile) -> Iterator[Span]:
    """The code that a group gives a prefix.

    `Route::prefix('x')->group(function () {...})`, `Route::group(['prefix' => 'x'], ...)`, Slim's `$app->group('/x', ...)`.
    """
    for match in source.find(_GROUP):
        head = source.code[max(0, match.start() - _MAX_LOOK_BACK) : match.start()]
        head = re.split(r"[;{}]", head)[-1]
        first = source.code[match.end() : match.end() + _MAX_LOOK_BACK]
        opening = source.bare.find("{", match.end())
        inside = source.code[match.end() : opening] if opening > 0 else first
        prefix = _PREFIX.search(head) or _PREFIX.search(inside)
        route = prefix[1] if prefix else first_string(first)
        body = body_after(source, match.end(), 1000)
        if route and body and "\n" not in route:
            yield Span(*body, route)


def _symfony(source: SurveyedFile) -> Iterator[Endpoint]:
    prefix = ""
    for match in source.find(_ATTRIBUTE):
        end = source.closing(match.end() - 1, 2000)
        text = source.code[match.end() : end]
        named = re.search(r"\bpath\s*:\s*([\"'][^\"'\n]*[\"'])", text)
        route = first_string(named[1] if named else text) or ""
        if _CLASS.match(source.bare, end + 2):
            prefix = route
            continue
        methods = _METHODS.search(text)
        for method in methods_of(strings(methods[1])) if methods else [ANY]:
            yield Endpoint(method, join_routes(prefix, route), source.line(match.start()))
