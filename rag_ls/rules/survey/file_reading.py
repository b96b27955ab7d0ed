"""Reads what the forms that were found in a file say: the routers and scopes first, then the routes that stand in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rag_ls.rules.survey.answer_reading import AnswerReading
from rag_ls.rules.survey.file_facts import FileFacts, HandedRouter, RouterMount
from rag_ls.rules.survey.file_parts import FileParts
from rag_ls.rules.survey.handed_routers import find_handed
from rag_ls.rules.survey.mapped_routers import find_mapped
from rag_ls.rules.survey.middleware_reading import MiddlewareReading
from rag_ls.rules.survey.nested_routers import find_extending_calls
from rag_ls.rules.survey.resource_reading import ResourceReading
from rag_ls.rules.survey.route_reading import RouteReading
from rag_ls.rules.survey.scope_reading import ScopeReading
from rag_ls.rules.survey.terms import FoundForm

if TYPE_CHECKING:
    from ast_grep_py import SgNode


class FileReading:
    """The reading of one file: a reading for each kind of fact, and the parts of the file that they share."""

    def __init__(self, path: str, text: str, root: SgNode) -> None:
        self._file = FileParts(path, text, root)
        scopes, middleware, answers = ScopeReading(self._file), MiddlewareReading(self._file), AnswerReading(self._file)
        self._readers: dict[str, Callable[[FoundForm], None]] = {
            "alias": middleware.read_alias,
            "router": scopes.read_router,
            "scope": scopes.read_scope,
            "mount": scopes.read_mount,
            "prefix": scopes.read_prefix,
            "resource": ResourceReading(self._file).read_resource,
            "route": RouteReading(self._file).read_route,
            "middleware": middleware.read_middleware,
            "lift": middleware.read_lift,
            "answer": answers.read_answer,
            "handler": answers.read_handler,
            "event": answers.read_event,
        }

    def read(self, found: FoundForm) -> None:
        """Take in what a form says; those of the facts that stand first in `FACTS` come first."""
        self._readers[found.form.fact](found)

    def facts(self) -> FileFacts:
        """The facts in the order of the lines; a thing that stands twice on a line counts once."""
        facts, routers = self._file.facts, self._file.routers
        facts.mounts = routers.mounts()
        names = self._file.routes.router_names() | {*facts.before}
        facts.borrowed = routers.find_borrowed(names - {""})
        facts.handed += (each.handed for each in self._file.nested)
        facts.takers |= {name[1:]: ("",) for name in self._file.units if name}
        facts.endpoints = self._file.routes.endpoints()
        facts.unknown_routes = sorted(set(facts.unknown_routes))
        facts.middleware = sorted(dict.fromkeys(facts.middleware), key=lambda each: each.line)
        facts.answers = sorted(dict.fromkeys(facts.answers), key=lambda each: each.line)
        facts.events = sorted(dict.fromkeys(facts.events), key=lambda each: each.line)
        return facts

    def find_handed(self) -> Iterator[HandedRouter]:
        """The routers that the file gives to functions."""
        file = self._file
        if file.path.endswith(".kt"):
            yield from find_extending_calls(file.root, file.scopes)
        elif file.path.endswith(".cs"):
            yield from find_mapped(file.root, file.routers)
        else:
            yield from find_handed(file.root, file.routers, file.scopes, file.used)

    def find_shared(self) -> dict[str, RouterMount]:
        """The routers in variables that other files of a package may use."""
        return self._file.routers.find_shared()
