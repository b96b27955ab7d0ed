"""The prefixes that a file itself puts before its routes: of routers, of where it mounts them, and of scopes around them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_ls.rules.survey.found_forms import FoundForm
from rag_ls.util.records import dataclass, replace

_ASSIGNED = re.compile(r"([\w$]+)\s*(?::[^=\n]{0,80})?:?=\s*(?:(?:await|new)\s+)?$")
_MAX_BEFORE = 200
_GROUP = re.compile(r"\(\?P?<(\w+)>[^()]*\)")
_MAX_CHAIN = 8
Prefix = str | None
"""None for one that is no literal, so that the routes below it are told as they are written."""


@dataclass(frozen=True, slots=True)
class _Router:
    """Something that routes are put on, under the name of its variable."""

    start: int
    end: int
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
        """Take in a router, and what it was made of; of two calls of a chain the prefixes are joined."""
        assigned = _ASSIGNED.search(self._text[max(0, found.start - _MAX_BEFORE) : found.start])
        name = next(iter(found.texts("name")), assigned[1] if assigned else "")
        base = "" if found.form.says("apart") else found.on
        router = _Router(
            found.start, found.end, self._function_at(found), base, _prefix_of(found), is_application=bool(found.form.says("application"))
        )  # fmt: skip
        known = self._routers.setdefault(name, []) if name else []
        same = next((each for each in known if each.start == router.start), None)
        if same is not None and same.end == router.end:
            return
        if same is not None:
            joined = (
                None if None in (same.prefix, router.prefix) else join_routes(router.prefix or "", same.prefix or "")
            )
            is_application = same.is_application or router.is_application
            known[known.index(same)] = replace(
                router, prefix=joined, base=same.base or base, is_application=is_application
            )
        elif name:
            known.append(router)

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
