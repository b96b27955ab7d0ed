"""Reads the facts of a file, as the forms of its frameworks say them: a route below the prefixes that the file itself writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from rag_ls.rules.survey.findings import (
    AnswerPlace,
    Direction,
    Endpoint,
    FileFacts,
    MiddlewareUse,
    SocketEvent,
)
from rag_ls.rules.survey.found_forms import LANGUAGES, FoundForm, find_forms, holder_of, is_at_class, read_keys
from rag_ls.rules.survey.frameworks import FACTS, frameworks_of
from rag_ls.rules.survey.sources import without_rust_tests
from rag_ls.util.records import dataclass

_MAX_BROKEN_SHARE, _MAX_BROKEN_CHARACTERS = 0.3, 200
_PREPARING = ("router", "mount", "scope")
_ROUTES = (
    r"\b{}\b[^\n;]*(?:\bfrom|require\()\s*[\"'](?:[^\"'\n]*/)?"
    r"(?i:routers?|routes?|controllers?|api|endpoints?)(?:/|\.?\w*[\"'])"
)
"""An import of a name from a file, or from a folder, of routes."""
# Events of a connection's own life are no events of the application.
_LIFECYCLE = frozenset(
    "connection connect disconnect disconnecting connect_error connect_timeout error close open ping pong reconnect "
    "reconnect_attempt reconnect_error reconnect_failed reconnecting listening headers upgrade drain finish end data exit request".split()
)
_ASSIGNED = re.compile(r"([\w$]+)\s*(?::[^=\n]{0,80})?:?=\s*(?:(?:await|new)\s+)?$")
_MAX_BEFORE = 200
_GROUP = re.compile(r"\(\?P?<(\w+)>[^()]*\)")
_MAX_CHAIN = 8
Prefix = str | None
"""None for one that is no literal, so that the routes below it are told as they are written."""


def read_facts(path: str, language: str, text: str) -> FileFacts:
    """The facts of a file; none where no framework's marks stand in its text."""
    text = text.removeprefix("\ufeff")
    forms = [
        (framework, form)
        for framework in frameworks_of(language)
        if framework.is_named(path, text)
        for form in framework.forms
        if form.is_in(text, language)
    ]
    if language not in LANGUAGES or all(form.fact in _PREPARING for _, form in forms):
        return FileFacts()
    # Imported here: it takes a while, and most files are not for any framework.
    from ast_grep_py import SgRoot

    if language == "rust":
        text = without_rust_tests(text)
    root = SgRoot(text, language).root()
    broken = sum(len(node.text()) for node in root.find_all(kind="ERROR"))
    # A fragment of a few lines may have no meaning by itself.
    if broken > max(_MAX_BROKEN_CHARACTERS, _MAX_BROKEN_SHARE * len(text)):
        return FileFacts(is_broken=True)
    reading = _Reading(text)
    found = sorted(find_forms(root, path, language, forms), key=lambda each: each.start + len(each.head))
    for fact in FACTS:
        for each in found:
            if each.form.fact == fact and reading.has_receiver(each):
                getattr(reading, f"read_{fact}")(each)
    return reading.finish()


def _endpoints(found: FoundForm, prefix: str, path: str, *, is_mounted: bool) -> Iterator[Endpoint]:
    """The endpoints of a path: one for each method; `GET /items` holds its own."""
    method, space, rest = path.partition(" ")
    has_method = bool(space) and method.isupper()
    route = join_routes(prefix, rest if has_method else path, as_written=found.framework.joins_as_written)
    for each in [method] if has_method else found.methods():
        yield Endpoint(each, route, found.line, is_mounted=is_mounted)


class _Reading:
    """The facts of one file as far as they are read, and the prefixes of its routes."""

    def __init__(self, text: str) -> None:
        self.facts = FileFacts()
        self._text, self._prefixes = text, Prefixes(text)
        self._routes = list[tuple[int, int]]()

    def finish(self) -> FileFacts:
        """The facts in the order of the lines; a thing that stands twice on a line counts once."""
        facts = self.facts
        for each in cast(list[list[Endpoint]], [facts.endpoints, facts.middleware, facts.answers, facts.events]):
            each[:] = sorted(dict.fromkeys(each), key=lambda fact: fact.line)
        return facts

    def has_receiver(self, found: FoundForm) -> bool:
        """Whether a form has what it requires, is called on what it says, and stands at a class or none, as it says."""
        values = found.form.values
        if len(found.args) < int(found.form.says("least") or 0) or (
            "requires" in values and not found.texts("requires")
        ):
            return False
        if found.texts("lacks") or ((of := found.form.says("of")) and is_at_class(found.node) != (of == "class")):
            return False
        on = found.form.receiver
        if on == "routers":
            return bool(found.framework.routers.search(found.on)) or self._prefixes.has_name(found.on)
        return not on or bool(re.search(on, found.on))

    def read_router(self, found: FoundForm) -> None:
        self._prefixes.add_router(found)

    def read_mount(self, found: FoundForm) -> None:
        self._prefixes.add_mount(found)

    def read_scope(self, found: FoundForm) -> None:
        around = holder_of(found.node).range() if found.form.annotation else found.node.range()
        # The calls before the arguments of one in a chain are not in them.
        self._prefixes.add_scope(
            found, around.start.index + len(found.head) * (not found.form.annotation), around.end.index
        )
        self._add_middleware(found.form.says("label") or "Groups of routes take", found.names("through"), found)

    def read_route(self, found: FoundForm) -> None:
        paths = found.strings("path")
        if paths is None or (not paths and found.form.says("required")):
            return
        paths = [plain_path(each) for each in paths] or [""]
        if not all(map(found.framework.paths.match, paths)) or any("(?" in each for each in paths):
            return
        prefix, is_whole = self._prefixes.of_route(found)
        if found.form.says("anywhere") and not (prefix or any(paths)):
            # A convention that is set elsewhere makes the path.
            return
        around = (holder_of(found.node) if found.form.annotation else found.node).range()
        self._routes.append((around.start.index, around.end.index))
        for path in paths:
            before = "" if found.form.says("absolute") and path.startswith("/") else prefix
            is_mounted = not is_whole or bool(found.form.says("inherits") and not before)
            self.facts.endpoints += _endpoints(found, before, path, is_mounted=is_mounted)
        self._add_middleware(found.form.says("label"), found.names("through"), found, is_of_route=True)

    def read_middleware(self, found: FoundForm) -> None:
        is_in_route = self._is_in_route(found)
        if found.form.says("inside") and not is_in_route:
            return
        label, is_of_route = found.form.says("label"), is_in_route or bool(found.form.says("level"))
        if label.startswith("Controllers") and not is_at_class(found.node):
            is_of_route, label = True, label.replace("Controllers", "Handlers")
        names = found.names()
        if "below" in found.form.values:
            names = [name for name in names if not self._may_be_router(found, name)]
        self._add_middleware(label, names, found, is_of_route=is_of_route)

    def _may_be_router(self, found: FoundForm, name: str) -> bool:
        """Whether a name may be a router's: it is one of the file, the last after a path, or imported from a file of routes."""
        begin = name.partition(".")[0]
        is_last = len(found.args) > 1 and found.args[-1] == name == begin and found.strings("below") != []
        is_imported = re.search(_ROUTES.format(re.escape(begin)), self._text)
        return is_last or self._prefixes.has_name(begin) or bool(is_imported)

    def _add_middleware(self, label: str, names: Iterable[str], found: FoundForm, *, is_of_route: bool = False) -> None:
        label = "Routes take" if is_of_route and " " not in label else label
        self.facts.middleware += (MiddlewareUse(name, label, found.line, is_of_route) for name in names)

    def read_answer(self, found: FoundForm) -> None:
        if found.form.says("inside") and not self._is_in_route(found):
            return
        for sent in found.texts("sent")[:1]:
            self.facts.answers.append(AnswerPlace(found.line, read_keys(sent)))

    def read_event(self, found: FoundForm) -> None:
        prefix, _ = self._prefixes.of_route(found)
        direction: Direction = "handled" if found.form.says("direction") == "handled" else "emitted"
        for name in found.strings("name") or ():
            # A websocket is at a path, below that of its router.
            shown = join_routes(prefix, name, as_written=True) if name.startswith("/") and prefix else name
            if shown and shown not in _LIFECYCLE:
                self.facts.events.append(SocketEvent(shown, found.line, direction))

    def _is_in_route(self, found: FoundForm) -> bool:
        return any(start <= found.start < end for start, end in self._routes)


@dataclass(frozen=True, slots=True)
class _Router:
    """Something that routes are put on, under the name of its variable."""

    function: int
    """The start of the function of Go that it is made in: another one may have a parameter of its name."""
    base: str
    """The name of what it is made of; "" for none."""
    prefix: Prefix
    is_application: bool


class Prefixes:
    """The routers, mounts and scopes of one file."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._routers: dict[str, list[_Router]] = {}
        self._mounts: dict[str, list[tuple[str, Prefix, bool]]] = {}
        self._scopes = list[tuple[int, int, Prefix, bool]]()

    def has_name(self, name: str) -> bool:
        """Whether the file makes a router of a name."""
        return name in self._routers

    def add_router(self, found: FoundForm) -> None:
        """Take in a router, and what it was made of."""
        assigned = _ASSIGNED.search(self._text[max(0, found.start - _MAX_BEFORE) : found.start])
        name = next(iter(found.texts("name")), assigned[1] if assigned else "")
        base = "" if found.form.says("apart") else found.on
        router = _Router(self._function_at(found), base, _prefix_of(found), bool(found.form.says("application")))
        if name:
            self._routers.setdefault(name, []).append(router)

    def add_mount(self, found: FoundForm) -> None:
        """Take in a mount of routers of this file."""
        for given in found.texts("router"):
            name = re.match(r"(?:this\.|self\.)?(\w+)", given)
            if name is not None:
                is_instead = bool(found.form.says("replaces"))
                self._mounts.setdefault(name[1], []).append((found.on, _prefix_of(found), is_instead))

    def add_scope(self, found: FoundForm, start: int, end: int) -> None:
        """Take in a part of the file in which routes have a prefix."""
        self._scopes.append((start, end, _prefix_of(found), found.form.annotation is not None))

    def of_route(self, found: FoundForm) -> tuple[str, bool]:
        """The prefix of a route, and whether it is all that stands before it."""
        around = sorted((each for each in self._scopes if each[0] < found.start < each[1]), key=lambda each: each[:2])
        # A class has no prefix of the one around it.
        classes = [each for each in around if each[3]]
        around = [each for each in around if not each[3] or each == classes[-1]]
        own = found.strings("prefix") if "prefix" in found.form.values else []
        chain, is_application = self._chain_of(found.on, self._function_at(found), ())
        parts = [*(prefix for _, _, prefix, _ in around), *chain, *([None] if own is None else own)]
        is_known = None not in parts
        if not is_known:
            parts = parts[len(parts) - parts[::-1].index(None) :]
        is_whole = is_application or not found.framework.is_mounted(found.form)
        return join_routes(*filter(None, parts)) if any(parts) else "", is_known and is_whole

    def _chain_of(self, name: str, function: int, seen: Sequence[str]) -> tuple[list[Prefix], bool]:
        """The prefixes of a router, of what it is made of and where it is mounted, and whether that begins with the application."""
        made = [each for each in self._routers.get(name, ()) if each.function == function]
        mounts = self._mounts.get(name, ())
        if not made or name in seen or len(seen) > _MAX_CHAIN:
            return [], False
        if len({(each.base, each.prefix) for each in made}) > 1 or len(mounts) > 1:
            return [None, made[0].prefix if len(made) == 1 else ""], False
        own = made[0].prefix
        for base, prefix, is_instead in mounts:
            before, is_application = self._chain_of(base, function, (*seen, name))
            return [*before, *([prefix] if is_instead and prefix != "" else [prefix, own])], is_application
        before, is_application = self._chain_of(made[0].base, function, (*seen, name))
        return [*before, own], made[0].is_application or is_application

    def _function_at(self, found: FoundForm) -> int:
        return self._text.rfind("\nfunc ", 0, found.start)


def _prefix_of(found: FoundForm) -> Prefix:
    written = found.strings("path")
    return None if written is None or len(written) > 1 else plain_path(written[0]) if written else ""


def join_routes(*parts: str, as_written: bool = False) -> str:
    """A route from its prefixes and its own part; a slash at the end stays where it is written after a word, or `as_written`."""
    *before, last = parts
    prefix = "".join(f"/{part.strip('/')}" for part in before if part.strip("/"))
    if as_written:
        return prefix + last if prefix or last.startswith("/") else f"/{last}"
    return prefix or "/" if last in ("", "/") else f"{prefix}/{last.lstrip('/')}"


def plain_path(path: str) -> str:
    """A route without what a framework adds for itself: `(.:format)`, the groups of a regular expression."""
    path = re.sub(r"\(\\?\.:?\w+\)\??", "", path)
    return (
        _GROUP.sub(r"<\1>", path.lstrip("^").removesuffix("$")) if path.startswith("^") or path.endswith("$") else path
    )
