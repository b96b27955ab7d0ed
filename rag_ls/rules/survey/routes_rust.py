"""Reads routes of axum, Actix Web and Rocket."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.rules.survey.brackets import arguments
from rag_ls.rules.survey.routes import ANY, Endpoint, Span, body_after, first_string, join_routes, prefix_at
from rag_ls.rules.survey.sources import SurveyedFile

_ROUTE = re.compile(r"\.\s*route\s*\(\s*(?=\")")
_NEST = re.compile(r"\.\s*nest\s*\(\s*(?=\")")
_METHOD = re.compile(r"\b(get|post|put|patch|delete|head|options|any)\s*(?:::<[^<>]*>\s*)?\(")
_ATTRIBUTE = re.compile(
    r"^[ \t]*#\[(?:\w+::)?(get|post|put|patch|delete|head|options)\(\s*\"([^\"\n]*)\"", re.MULTILINE
)
_CALLED = re.compile(r"^\s*(\w+)\s*\(")


def rust_endpoints(source: SurveyedFile) -> Iterator[Endpoint]:
    for match in source.find(_ATTRIBUTE):
        yield Endpoint(match[1].upper(), join_routes(match[2]), source.place(match).line)
    spans = list(_find_nests(source))
    for match in source.find(_ROUTE):
        parts = arguments(source, source.bare.index("(", match.start()))
        route = first_string(parts[0][1]) if len(parts) > 1 else None
        if route is None or not route.startswith("/"):
            continue
        start, handlers = parts[1]
        bare = source.bare[start : start + len(handlers)]
        full = join_routes(prefix_at(spans, match.start()), route)
        methods = [ANY if name == "any" else name.upper() for name in _outer_methods(bare)]
        yield from (Endpoint(method, full, source.line(match.end())) for method in methods or [ANY])


def _outer_methods(text: str) -> Iterator[str]:
    """The methods that are not inside a handler: `get(a).post(b)`."""
    depth, last = 0, 0
    for match in _METHOD.finditer(text):
        between = text[last : match.start()]
        depth += sum(between.count(mark) for mark in "([{") - sum(between.count(mark) for mark in ")]}")
        last = match.start()
        if depth == 0:
            yield match[1]


def _find_nests(source: SurveyedFile) -> Iterator[Span]:
    """The code that gets a prefix: by `.nest("/x", Router::new()...)`, or by `.nest("/x", routes())` if this file has the function."""
    for match in source.find(_NEST):
        opening = source.bare.index("(", match.start())
        parts = arguments(source, opening, 20_000)
        prefix = first_string(parts[0][1]) if len(parts) > 1 else None
        if prefix is None:
            continue
        called = _CALLED.match(parts[1][1])
        function = re.search(rf"\bfn\s+{called[1]}\b", source.bare) if called else None
        if function is None:
            yield Span(opening, source.closing(opening), prefix)
        elif body := body_after(source, function.end()):
            yield Span(*body, prefix)
