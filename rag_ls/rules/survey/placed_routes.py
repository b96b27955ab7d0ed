"""The routes of a file, with the places at which they stand."""

from __future__ import annotations

from rag_ls.rules.survey.nodes import Offset
from rag_ls.rules.survey.routes import Endpoint


class PlacedRoutes:
    """The routes of one file: where each stands, and within which classes."""

    def __init__(self) -> None:
        self._routes: list[tuple[Offset, Offset, list[Endpoint]]] = []
        self._types_at: dict[Offset, tuple[Offset, ...]] = {}
        """The starts of the classes that an annotated route is in, by its own start; the innermost first."""

    def spans(self) -> list[tuple[Offset, Offset]]:
        """Return the start and the end of each route."""
        return [(start, end) for start, end, _ in self._routes]

    def add(self, start: Offset, end: Offset, endpoints: list[Endpoint]) -> None:
        self._routes.append((start, end, endpoints))

    def set_types(self, start: Offset, types: tuple[Offset, ...]) -> None:
        self._types_at[start] = types

    def are_around(self, place: Offset) -> bool:
        """Whether a place is in a route."""
        return any(start <= place < end for start, end, _ in self._routes)

    def is_nested(self, route: Offset, holder: Offset) -> bool:
        """Whether a route is in a class within the one that begins at an offset: what stands at the outer one is not its."""
        return sum(start >= holder for start in self._types_at.get(route, ())) > 1

    def endpoints(self) -> list[Endpoint]:
        """All in the order of the lines; one that stands twice on a line counts once."""
        every = (each for _, _, found in sorted(self._routes, key=lambda route: route[0]) for each in found)
        by_route = {(each.method, each.route, each.line): each for each in every}
        return sorted(by_route.values(), key=lambda each: each.line)
