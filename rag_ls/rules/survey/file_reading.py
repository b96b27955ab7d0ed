"""Reads what the forms that were found in a file say: the routers and scopes first, then the routes that stand in them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_ls.rules.survey.answer_reading import AnswerReading
from rag_ls.rules.survey.file_facts import FileFacts
from rag_ls.rules.survey.file_parts import FileParts
from rag_ls.rules.survey.middleware_reading import MiddlewareReading
from rag_ls.rules.survey.resource_reading import ResourceReading
from rag_ls.rules.survey.route_reading import RouteReading
from rag_ls.rules.survey.routes import Endpoint
from rag_ls.rules.survey.scope_reading import ScopeReading
from rag_ls.rules.survey.terms import FoundForm

if TYPE_CHECKING:
    from ast_grep_py import SgNode


_CONSTANT = re.compile(r"\{=([A-Z][A-Z\d_]+|\w+\.[\w.]+)\}")
"""The mark of a name that means one value in the whole program."""


class FileReading:
    """The reading of one file: a reading for each kind of fact, and the parts of the file that they share."""

    def __init__(self, path: str, text: str, root: SgNode) -> None:
        self._file = FileParts(path, text, root)
        scopes, middleware, answers = ScopeReading(self._file), MiddlewareReading(self._file), AnswerReading(self._file)
        self._readers: dict[str, Callable[[FoundForm], None]] = {
            "router": scopes.read_router,
            "scope": scopes.read_scope,
            "mount": scopes.read_mount,
            "resource": ResourceReading(self._file).read_resource,
            "route": RouteReading(self._file).read_route,
            "middleware": middleware.read_middleware,
            "answer": answers.read_answer,
            "handler": answers.read_handler,
            "event": answers.read_event,
        }

    def read(self, found: FoundForm) -> None:
        """Take in what a form says; those of the facts that stand first in `FACTS` come first."""
        self._readers[found.form.fact](found)

    def facts(self) -> FileFacts:
        """The facts in the order of the lines; a thing that stands twice on a line counts once."""
        facts = self._file.facts
        every = [_with_names(each) for each in self._file.routes.endpoints()]
        # A path that is made when the program runs is unknown.
        facts.endpoints = [each for each in every if "{=" not in each.route]
        facts.unknown_routes += (each.line for each in every if "{=" in each.route)
        facts.unknown_routes = sorted(set(facts.unknown_routes))
        facts.middleware = sorted(dict.fromkeys(facts.middleware), key=lambda each: each.line)
        facts.answers = sorted(dict.fromkeys(facts.answers), key=lambda each: each.line)
        facts.events = sorted(dict.fromkeys(facts.events), key=lambda each: each.line)
        return facts


def _with_names(endpoint: Endpoint) -> Endpoint:
    """Return an endpoint with the names of the constants of other files in its route."""
    if "{=" not in endpoint.route:
        return endpoint
    return replace(endpoint, route=re.sub("/{2,}", "/", "/" + _CONSTANT.sub(r"{\1}", endpoint.route)))
