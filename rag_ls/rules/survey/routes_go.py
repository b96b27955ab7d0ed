"""Reads routes of Gin, Echo, chi, Fiber, gorilla/mux and net/http."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.rules.survey.routes import ANY, Endpoint, Span, body_after, join_routes, prefix_at, strings
from rag_ls.rules.survey.sources import SurveyedFile

_STRING = r"[\"`]([^\"`\n]*)[\"`]"
# A file without such a call has no routes; this is cheap to see.
_ANY_CALL = re.compile(
    r"\.(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|Any|Get|Post|Put|Patch|Delete|Head|Options|All|HandleFunc|Handle)\(\s*[\"`]"
)
_UPPER = re.compile(rf"\b(\w+)\.(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|Any)\(\s*{_STRING}\s*,")
_CAPITAL = re.compile(r"\b(\w+)\.(Get|Post|Put|Patch|Delete|Head|Options|All)\(\s*[\"`](/[^\"`\n]*)[\"`]\s*,")
_HANDLE = re.compile(rf"\b(\w+)\.(?:HandleFunc|Handle)\(\s*{_STRING}\s*,")
_WITH_METHOD = re.compile(r"^(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|CONNECT|TRACE)\s+(\S+)$")
_METHODS = re.compile(r"\s*\.Methods\(([^)]*)\)")
_METHOD_CONSTANT = re.compile(r"\bhttp\.Method(\w+)")
_GROUP = re.compile(rf"\b(\w+)\s*:?=\s*(\w+)\.(?:Group|PathPrefix)\(\s*{_STRING}")
_NESTED = re.compile(rf"\b\w+\.(?:Route|Group)\(\s*{_STRING}\s*,\s*func\(")
_FRAMEWORKS = ("go-chi/chi", "gofiber/fiber", "go-fiber", "kataras/iris", "labstack/echo", "gin-gonic")


def go_endpoints(source: SurveyedFile) -> Iterator[Endpoint]:
    if not _ANY_CALL.search(source.code):
        return
    groups = {match[1]: (match[2], match[3]) for match in source.find(_GROUP)}
    spans = list(_spans(source))

    def full(match: re.Match[str], route: str) -> str:
        return join_routes(prefix_at(spans, match.start()), _group_prefix(groups, match[1]), route)

    for match in source.find(_UPPER):
        if not match[3] or match[3].startswith(("/", ":", "*")):
            method = ANY if match[2] == "Any" else match[2]
            yield Endpoint(method, full(match, match[3]), source.line(match.start()))
    # The client of net/http has methods of these names as well.
    if any(framework in source.code for framework in _FRAMEWORKS):
        for match in source.find(_CAPITAL):
            method = ANY if match[2] == "All" else match[2].upper()
            yield Endpoint(method, full(match, match[3]), source.line(match.start()))
    for match in source.find(_HANDLE):
        with_method = _WITH_METHOD.match(match[2])
        route = with_method[2] if with_method else match[2]
        if route.startswith("/"):
            methods = [with_method[1]] if with_method else _following_methods(source, match)
            yield from (Endpoint(method, full(match, route), source.line(match.start())) for method in methods)


def _spans(source: SurveyedFile) -> Iterator[Span]:
    """`r.Route("/x", func(r chi.Router) {...})`"""
    for match in source.find(_NESTED):
        if body := body_after(source, match.end()):
            yield Span(*body, match[1])


def _group_prefix(groups: dict[str, tuple[str, str]], name: str) -> str:
    """The prefixes of a group and of the groups that it was made from."""
    parts: list[str] = []
    while name in groups and len(parts) < len(groups):
        # `r = r.Group("/x")` names itself.
        outer, prefix = groups[name]
        parts.insert(0, prefix)
        if outer == name:
            break
        name = outer
    return join_routes(*parts) if parts else ""


def _following_methods(source: SurveyedFile, match: re.Match[str]) -> list[str]:
    """gorilla/mux: `.Methods("GET", http.MethodPost)` after the call."""
    opening = source.bare.index("(", match.start())
    found = _METHODS.match(source.code, source.closing(opening) + 1)
    if found is None:
        return [ANY]
    named = [name.upper() for name in _METHOD_CONSTANT.findall(found[1])]
    return strings(found[1]) + named or [ANY]
