"""Reads the facts of a file, as the forms of its frameworks say them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rag_ls.rules.survey.code_text import read_keys
from rag_ls.rules.survey.file_facts import (
    AnswerPlace,
    Direction,
    Endpoint,
    FileFacts,
    HandlerPlace,
    MiddlewareUse,
    SocketEvent,
)
from rag_ls.rules.survey.found_forms import LANGUAGES, FoundForm, find_forms, holder_of, is_at_class
from rag_ls.rules.survey.frameworks import FACTS, frameworks_of
from rag_ls.rules.survey.prefixes import Prefixes, join_routes, plain_path
from rag_ls.rules.survey.sources import without_rust_tests

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
    return reading.finish(frozenset(form.sort for _, form in forms if form.fact == "handler"))


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

    def finish(self, judged: frozenset[tuple[str, ...]]) -> FileFacts:
        """The facts in the order of the lines; a thing that stands twice on a line counts once."""
        facts = self.facts
        facts.endpoints = sorted(dict.fromkeys(facts.endpoints), key=lambda each: each.line)
        facts.middleware = sorted(dict.fromkeys(facts.middleware), key=lambda each: each.line)
        facts.answers = sorted(dict.fromkeys(facts.answers), key=lambda each: each.line)
        facts.events = sorted(dict.fromkeys(facts.events), key=lambda each: each.line)
        facts.handlers, facts.judged = list(dict.fromkeys(facts.handlers)), judged
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
        self._add_middleware(found.form.says("label") or "route", found.names("through"), found, is_of_route=False)

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
        self._add_middleware(found.form.says("label") or "route", found.names("through"), found, is_of_route=True)

    def read_middleware(self, found: FoundForm) -> None:
        is_in_route = self._is_in_route(found)
        if found.form.says("inside") and not is_in_route:
            return
        label = found.form.says("label")
        is_of_route = bool(found.form.says("level")) or is_in_route
        if label.startswith("Controllers") and not is_at_class(found.node):
            # The routes of a controller may be declared elsewhere, by an interface.
            is_of_route, label = label != "Controllers carry", label.replace("Controllers carry", "Handlers carry")
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

    def _add_middleware(self, label: str, names: Iterable[str], found: FoundForm, *, is_of_route: bool) -> None:
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

    def read_handler(self, found: FoundForm) -> None:
        """The things that a handler has, by the very rule that is checked where all have one."""
        form, wanted = found.form, found.form.says("names")
        if wanted == "keys":
            names: Iterable[str] = read_keys(found.node.text())
        elif wanted.startswith("args"):
            names = found.names()
        else:
            names = (name for name in re.findall(wanted, found.node.text()) if form.is_named(name))
        kept = tuple(name for name in dict.fromkeys(names) if found.node.matches(**form.require_name(name)))
        self.facts.handlers.append(HandlerPlace(form.sort, kept, found.node.range().start.line + 1))

    def _is_in_route(self, found: FoundForm) -> bool:
        return any(start <= found.start < end for start, end in self._routes)
