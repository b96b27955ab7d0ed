"""Endpoints, and how prefixes and routes are joined."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rag_ls.util.records import dataclass

ANY = "ANY"
_VERBS = "get|post|put|patch|delete|head|options|connect|trace|query|mutation|subscription|rpc"
_VERB = re.compile(rf"(?:{_VERBS})", re.IGNORECASE)
_ESCAPED = re.compile(r"\\([/.\-_])")
_GROUP = re.compile(r"\(\?P?<(\w+)>")
_PROCEDURES = frozenset({"QUERY", "MUTATION", "SUBSCRIPTION"})
_OTHER_NAMES = {"del": "DELETE", "view": "GET"}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A route that the code answers."""

    method: str
    """In upper case; "ANY" where the framework says none."""
    route: str
    """With a slash at its start, and the prefixes that stand in the same file."""
    line: int
    """1-based."""
    is_mounted: bool = False
    """Whether another file may put it below a prefix: it is told as it is written."""


@dataclass(frozen=True, slots=True)
class RouteScope:
    """A part of a file in which routes have prefixes. Offsets are lines and columns."""

    start: tuple[int, int]
    end: tuple[int, int]
    paths: tuple[str, ...]
    use: str = ""
    """"member" or "collection": which of the paths of the resource around it the scope takes."""
    member: str = ""
    collection: str = ""
    replaced: tuple[tuple[str, str], ...] = ()
    """Placeholders of routes in it, with what they stand for."""


def join_routes(*parts: str) -> str:
    """A route from its prefixes and its own part."""
    inner = "/".join(part.strip("/") for part in parts if part.strip("/"))
    last = parts[-1] if parts else ""
    return f"/{inner}/" if inner and last.endswith("/") and last != "/" else f"/{inner}"


def route_for(method: str, route: str) -> str:
    """A route as callers write it: procedures of nested routers have dots between their names."""
    return "/" + route.strip("/").replace("/", ".") if method in _PROCEDURES else route


def method_of(word: str) -> str:
    """The HTTP method in a name: `GetMapping`, `MethodPost`, `del`."""
    found = _VERB.search(word)
    return _OTHER_NAMES.get(word) or (found[0].upper() if found else ANY)


def routes_at(
    scopes: Sequence[RouteScope],
    part: str,
    prefix: str,
    path: str,
    as_written: bool,
    replaced: Sequence[tuple[str, str]],
) -> Iterator[str]:
    """The full routes of a path in the scopes around it, the outermost first. `part` is the part of a resource that it is for."""
    outers = [""]
    for index, scope in enumerate(scopes):
        use = scopes[index + 1].use if index + 1 < len(scopes) else part
        variant = {"member": scope.member, "collection": scope.collection}.get(use, "")
        paths = (variant,) if variant else scope.paths
        outers = [join_routes(outer, plain_path(each)) for outer in outers for each in paths]
    path = plain_path(path)
    if path.startswith("~/"):
        outers, path = [""], path[1:]
    for outer in outers:
        whole = join_routes(outer, prefix)
        route = "/" + (whole.rstrip("/") + path).lstrip("/") if as_written else join_routes(whole, path)
        for placeholder, name in (*(pair for scope in scopes for pair in scope.replaced), *replaced):
            route = route.replace(placeholder, name)
        yield route


def plain_path(path: str) -> str:
    """A route without what a framework adds for itself: `(.:format)`, the groups of a regular expression."""
    path = re.sub(r"\(\\?\.:?\w+\)\??", "", path)
    if path.startswith("^") or path.endswith("$"):
        # A pattern may be made of another one.
        path = _ESCAPED.sub(r"\1", _name_groups(path.lstrip("^").removesuffix("$")))
    return path


def _name_groups(pattern: str) -> str:
    """A regular expression with its named groups as parameters: `<id>` for `(?P<id>(\\d+|new))`."""
    parts, at = list[str](), 0
    for found in _GROUP.finditer(pattern):
        if found.start() < at:
            continue
        depth, end = 1, found.end()
        while depth and end < len(pattern):
            depth += {"(": 1, ")": -1}.get(pattern[end], 0)
            end += 2 if pattern[end] == "\\" else 1
        parts += pattern[at : found.start()], f"<{found[1]}>"
        at = end
    return "".join((*parts, pattern[at:]))
