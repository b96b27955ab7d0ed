"""The filters of Rails' controllers, and those that stand before a route (Rails Guides, "Action Controller Overview", "Filters").

A controller has the filters of the class that it derives from and of the modules that it includes; `skip_before_action` lifts them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_ls.rules.survey import literals, nodes
from rag_ls.rules.survey.nodes import Call
from rag_ls.rules.survey.routes import Endpoint, RouteScope

if TYPE_CHECKING:
    from ast_grep_py import SgNode

UNKNOWN = "?"
"""The handler of a route that names none, or makes it when the program runs."""
_CLASS = re.compile(r"\bclass\s+[\w:]*Controller\b|_action\b")
_ADDS = re.compile(r"(?:prepend_|append_)?before_action")
_LIFTS = re.compile(r"(?:skip|allow|without)_\w+")
_LIFTED = re.compile(r"\bskip_before_action\s*\(?\s*:(\w+)")
_PREPARES = re.compile(r"(?:set|load|find|fetch|get|assign|build|prepare)_")
_MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class ControllerFilter:
    """A call in a controller that puts filters before its actions, or lifts them."""

    names: tuple[str, ...]
    """Those of the filters; none where a class method of the project lifts some."""
    called: str
    """The method that is called: `before_action`, `skip_before_action`, `allow_unauthenticated_access`."""
    only: frozenset[str] | None
    without: frozenset[str]
    is_conditional: bool

    def is_for(self, action: str) -> bool:
        """Whether it is about an action."""
        return action not in self.without and (self.only is None or action in self.only)


@dataclass(frozen=True, slots=True)
class Controller:
    """A class, or a module that classes include, as far as filters matter."""

    name: str
    """With the modules around it: `Admin::UsersController`."""
    bases: tuple[str, ...]
    """The class that it derives from and the modules that it includes, as they are written."""
    filters: tuple[ControllerFilter, ...]
    lifting: tuple[tuple[str, str], ...]
    """Its methods that lift a filter for the class that calls them, each with the filter."""


def may_be_controller(text: str) -> bool:
    """Whether a Ruby file may declare a controller, or what controllers include."""
    return _CLASS.search(text) is not None


def find_controllers(root: SgNode) -> Iterator[Controller]:
    """The classes and modules of a Ruby file."""
    for node in root.find_all(any=[{"kind": "class"}, {"kind": "module"}]):
        outer = [each for each in node.ancestors() if each.kind() in ("class", "module")]
        name = "::".join(_name_of(each) for each in (*reversed(outer), node))
        base = node.field("superclass")
        calls = list(_calls_in(node))
        bases = [base.text().lstrip("< \n")] if base else []
        bases += [each.text() for call in calls if call.name == "include" for each in call.arguments]
        methods = node.find_all(kind="method", has={"regex": _LIFTED.pattern, "stopBy": "end"})
        lifting = ((_name_of(each), lifted[1]) for each in methods if (lifted := _LIFTED.search(each.text())))
        filters = (_read_filter(each) for each in calls if _ADDS.fullmatch(each.name) or _LIFTS.fullmatch(each.name))
        yield Controller(name, tuple(bases), tuple(filters), tuple(lifting))


def _name_of(node: SgNode) -> str:
    name = node.field("name")
    return name.text() if name else ""


def _calls_in(node: SgNode) -> Iterator[Call]:
    """The calls that stand in the body of a class, or in what a module does where it is included."""
    for body in (child for child in nodes.children_of(node) if child.kind() == "body_statement"):
        for child in nodes.children_of(body):
            call = nodes.read_call(child) if child.kind() == "call" else None
            if call is not None and call.name == "included":
                yield from (inner for block in nodes.blocks_of(child) for inner in _calls_in(block))
            elif call is not None:
                yield call
            elif child.kind() == "identifier":
                yield Call(child, child.text(), None, (), nodes.start_of(child))


def _read_filter(call: Call) -> ControllerFilter:
    def listed(key: str) -> frozenset[str] | None:
        option = literals.option_of(call.arguments, key)
        return frozenset(literals.strings_of(option)) if option is not None else None

    given = [each for each in call.arguments if literals.pair_of(each) is None]
    names = tuple(name for each in given for name in literals.strings_of(each))
    is_conditional = any(literals.option_of(call.arguments, key) is not None for key in ("if", "unless"))
    return ControllerFilter(names, call.name, listed("only"), listed("except") or frozenset(), is_conditional)


def controller_of(call: Call, name: str, around: Sequence[RouteScope]) -> str:
    """The controller of a resource, `admin/users`: its option, or the plural of its name, in the modules around it."""
    option = literals.option_of(call.arguments, "controller")
    own = next(iter(literals.strings_of(option)), "") if option is not None else ""
    module = literals.option_of(call.arguments, "module")
    inner = literals.strings_of(module)[:1] if module is not None else []
    return _in_modules(own or (_plural(name) if call.name == "resource" else name), around, inner)


def handler_of(call: Call, path: str, around: Sequence[RouteScope]) -> str:
    """The controller and the action of a route, `admin/users#show`; `UNKNOWN` where that does not show."""
    pairs = [pair for pair in map(literals.pair_of, call.arguments) if pair]
    texts = {key: literals.strings_of(value)[:1] for key, value in pairs}
    target = [*texts.get("to", ()), *(text for each in texts.values() for text in each if "#" in text)][:1]
    holder = next((each.controller for each in reversed(around) if each.controller), "")
    action = next(iter(texts.get("action", ())), "")
    if target and "#" in target[0]:
        return _in_modules(target[0], around)
    if controller := texts.get("controller"):
        return f"{_in_modules(controller[0], around)}#{action}" if action else UNKNOWN
    if "to" in texts and not target:
        # A redirect, or an application of Rack.
        return UNKNOWN
    if holder:
        return f"{holder}#{action or (target[0] if target else path.strip('/').rpartition('/')[2].replace('-', '_'))}"
    parts = path.strip("/").split("/")
    is_plain = len(parts) > 1 and all(re.fullmatch(r"[a-z]\w*", part) for part in parts)
    return _in_modules(f"{'/'.join(parts[:-1])}#{parts[-1]}", around) if is_plain else UNKNOWN


def _in_modules(name: str, around: Sequence[RouteScope], inner: Sequence[str] = ()) -> str:
    if name.startswith("/"):
        return name[1:]
    return "/".join([*(each.module for each in around if each.module), *inner, name])


def _plural(name: str) -> str:
    if re.search(r"[^aeiou]y$", name):
        return name[:-1] + "ies"
    if name.endswith(("ss", "x", "ch", "sh")):
        return name + "es"
    return name if name.endswith("s") else name + "s"


class Controllers:
    """The controllers of a project."""

    def __init__(self, every: Iterable[Controller]) -> None:
        self._named: dict[str, list[Controller]] = defaultdict(list)
        self._routed: dict[str, str] = {}
        self._lifting: dict[str, str] = {}
        for each in every:
            self._named[each.name].append(each)
            self._lifting.update(each.lifting)
            if each.name.endswith("Controller"):
                self._routed[_route_key(each.name.removesuffix("Controller"))] = each.name

    def knows(self, endpoint: Endpoint) -> bool:
        """Whether all that stands before a route is known: its framework has no controllers, or its own is one of the project."""
        return not endpoint.handler or self._name_of(endpoint) != ""

    def put_before(self, endpoint: Endpoint) -> Endpoint:
        """The endpoint behind the filters of its controller."""
        action = endpoint.handler.rpartition("#")[2]
        before = dict[str, None]()
        for each in self._filters_of(self._name_of(endpoint), _MAX_DEPTH, set()):
            if _ADDS.fullmatch(each.called):
                for name in each.names:
                    # One that is declared again takes the place of the former, with its own conditions.
                    before.pop(name, None)
                    if each.is_for(action) and not each.is_conditional and not _PREPARES.match(name):
                        before[name] = None
                continue
            if not each.is_for(action):
                continue
            for name in each.names if each.called == "skip_before_action" else [self._lifting.get(each.called, "")]:
                before.pop(name, None)
        return endpoint.behind(list(before)) if before else endpoint

    def _name_of(self, endpoint: Endpoint) -> str:
        return self._routed.get(_route_key(endpoint.handler.rpartition("#")[0]), "") if endpoint.handler else ""

    def _filters_of(self, name: str, depth: int, seen: set[str]) -> Iterator[ControllerFilter]:
        """The filters of a class: first those that it inherits."""
        if name in seen or not depth:
            return
        seen.add(name)
        for part in self._named.get(name, ()):
            for base in part.bases:
                yield from self._filters_of(self._resolve(base, name), depth - 1, seen)
            yield from part.filters

    def _resolve(self, base: str, name: str) -> str:
        """The full name of a class or module that one names: it may stand in any module around it."""
        if base.startswith("::"):
            return base[2:]
        around = name.split("::")
        candidates = ("::".join([*around[:at], base]) for at in range(len(around) - 1, -1, -1))
        return next((each for each in candidates if each in self._named), base)


def _route_key(name: str) -> str:
    """One key for `Admin::UserNotes`, `admin/user_notes` and `API::Keys`, whose acronym is a project's own matter."""
    return name.replace("::", "/").replace("_", "").lower()
