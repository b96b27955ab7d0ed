"""The parts of a file as far as they are read: the routers, the scopes, the routes and the facts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag_ls.rules.survey.file_facts import FileFacts, MiddlewareUse
from rag_ls.rules.survey.file_routers import FileRouters
from rag_ls.rules.survey.nodes import Offset
from rag_ls.rules.survey.placed_routes import PlacedRoutes
from rag_ls.rules.survey.routes import RouteScope
from rag_ls.rules.survey.terms import FormTerms, FoundForm

if TYPE_CHECKING:
    from ast_grep_py import SgNode


class FileParts:
    """The parts of one file that the readings of its forms share."""

    def __init__(self, path: str, text: str, root: SgNode) -> None:
        self.path = path
        self.root = root
        self.terms = FormTerms(path, text)
        self.routers = FileRouters(self.terms)
        self.scopes: list[RouteScope] = []
        self.routes = PlacedRoutes()
        self.facts = FileFacts()

    def is_on(self, found: FoundForm) -> bool:
        """Whether a form has the things that it requires, and is called on what it says."""
        values = found.form.values
        if any(self.terms.value(term, found) for term in values.get("lacks", ())) or not all(
            self.terms.value(term, found) for term in values.get("requires", ())
        ):
            return False
        on = found.form.receiver
        if not on:
            return True
        name = self.routers.name_called_on(found.call)
        if on == "routers":
            return bool(found.framework.routers.search(name)) or self.routers.has(name)
        return isinstance(on, re.Pattern) and bool(on.search(name))

    def scopes_around(self, place: Offset, end: Offset = (0, 0)) -> list[RouteScope]:
        """The scopes that a place is in, the outermost first; not the one that a declaration from there to its end is itself."""
        around = [
            scope for scope in self.scopes
            if scope.start <= place < scope.end and not (scope.start == place and end in ((0, 0), scope.end))
        ]  # fmt: skip
        return sorted(around, key=lambda scope: (scope.start, [-each for each in scope.end]))

    def note(self, found: FoundForm, names: Sequence[str], line: int, *, is_of_route: bool) -> None:
        """Take in places that put middleware before handlers."""
        label = found.form.says("label") or "route"
        self.facts.middleware += [MiddlewareUse(name, label, line, is_of_route) for name in names]


def is_of(node: SgNode, of: str) -> bool:
    """Whether a declaration is a class, or none, as a form says."""
    text = node.kind() + " ".join(
        child.kind() for child in node.children()[:8] if "definition" in child.kind() or "declaration" in child.kind()
    )
    is_type = any(word in text for word in ("class", "interface", "object_declaration", "record", "annotation_type"))
    return is_type == (of == "class")
