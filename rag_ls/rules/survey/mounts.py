"""Follows the prefixes and the middleware that files put before the routers of others."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from rag_ls.rules.survey.class_prefixes import ClassPrefixes
from rag_ls.rules.survey.file_facts import FileFacts, FilesPrefix, RouterMount
from rag_ls.rules.survey.handed_routers import HandedRouters
from rag_ls.rules.survey.routes import Endpoint, join_routes, without_prefix
from rag_ls.rules.survey.terms import ALIAS

_MAX_DEPTH = 6
_MAX_PLACES = 8
"""A router that is mounted at more places has no prefix that a list can show."""
_INDEXES = ("__init__", "index")
_HOOKS = re.compile(r"(^|/)\.?autohooks\.\w+$")
_TYPED = r"@(?:Resource|Location)\(\s*\"([^\"]*)\"\s*\)\s*(?:@\S+\s*)*(?:data\s+)?(?:class|object)\s+{}\b"
_WRITTEN = r"\b{}\b(?:\s*:\s*[\w.&' ]+)?\s*(?::|(=))\s*[\"'`](/?[^\"'`\n]*)[\"'`](?(1)(?![ \t]*[,)]))"
"""A text that is given to a name, but not as the argument of a call."""
_NAMED = re.compile(r"[A-Z][A-Z\d_]+|\w+\.[\w.]+")
"""A name that means one value in the whole program."""
_VERSION = re.compile(r"\d[\w.-]*")
_CONSTANT = re.compile(r"\{=([\w.]+)\}")

_Place = tuple[str, str]
"""A file, and the name of a router in it; "" for any."""
_Way = tuple[str, tuple[str, ...], bool]
"""A prefix, the middleware, and whether the prefix stands instead of the router's own."""
_NO_WAY: _Way = ("", (), False)
_CONFIG_FILE = re.compile(r"(?:^|/)(?:\w*(?:config|settings)\w*|defaults?|constants)(?:/\w+)?\.py$")


class RouterMounts:
    """The mounts of a project's routers. Not safe from several threads."""

    def __init__(
        self,
        facts: Mapping[str, FileFacts],
        edges: Iterable[tuple[str, str, int]],
        read: Callable[[str], str],
        prefixes: Iterable[tuple[str, FilesPrefix]] = (),
    ) -> None:
        """`read` gives the text of a file, for constants that another one uses; `prefixes` are those of files without code."""
        self._facts = facts
        self._read = read
        self._aliases = {name: names for each in facts.values() for name, names in each.aliases.items()}
        self._imports: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for importing, target, line in edges:
            if target != importing:
                self._imports[importing].append((target, line))
        self._at: dict[_Place, list[tuple[str, RouterMount]]] = defaultdict(list)
        self._beside: dict[str, list[str]] = defaultdict(list)
        for path in facts:
            self._beside[posixpath.dirname(path)].append(path)
        # These are asked for at each of thousands of routes.
        self._ways: dict[_Place, list[_Way]] = {}
        self._values: dict[tuple[str, str], str | None] = {}
        self._config_files = list(filter(_CONFIG_FILE.search, facts))
        self._declared: dict[tuple[str, str], frozenset[str]] = {}
        self._class_prefixes = ClassPrefixes(facts.values())
        self._prefixes = [*prefixes, *((path, prefix) for path, each in facts.items() for prefix in each.prefixes)]
        self._marking: dict[str, set[str]] = defaultdict(set)
        """The files that give a prefix to the files with a mark, by the mark."""
        for path, prefix in self._prefixes:
            self._marking[prefix.mark].add(path)
        self._mounted: dict[str, set[str]] = defaultdict(set)
        folders = {path: {posixpath.dirname(target) for target, _ in found} for path, found in self._imports.items()}
        handed_routers = HandedRouters(facts, folders)
        self._share_routers()
        for path, each in facts.items():
            for handed in each.handed:
                if handed.is_shared and (path, handed.own) not in self._at:
                    continue
                for place in handed_routers.find_places(path, handed):
                    below = RouterMount(handed.prefix, "", 0, own=handed.own, through=handed.through)
                    self._at[place].append((path, below))
            for mount in each.mounts:
                for place, below in self._find_places(path, mount):
                    if (path, below) not in self._at[place]:
                        self._at[place].append((path, below))

    def _share_routers(self) -> None:
        """Put the routers that files have from one another below what the file says that makes them."""
        borrowed = [
            (path, target, name)
            for path, each in self._facts.items()
            for name, line in each.borrowed.items()
            for target, at in self._imports[path]
            if at == line and target in self._facts and name in self._facts[target].shared
        ]
        before: dict[_Place, tuple[str, ...]] = defaultdict(tuple)
        for path, target, name in borrowed:
            before[target, name] += self._facts[path].before.get(name, ())
        for path, target, name in borrowed:
            mount = self._facts[target].shared[name]
            through = (*mount.through, *before[target, name])
            self._at[path, name].append((target, replace(mount, through=through)))
        for path, each in self._facts.items() if any(path.endswith(".go") for path in self._facts) else ():
            for name, mount in each.shared.items():
                beside = self._beside[posixpath.dirname(path)]
                if name[:1].isupper() or any(re.search(rf"(?m)^var\s+{name}\b", self._read(one)) for one in beside):
                    for other in beside:
                        if other != path and name not in self._facts[other].shared:
                            self._at[other, name].append((path, mount))

    def endpoints(self, path: str) -> Iterator[Endpoint | int]:
        """The endpoints of a file, once for each place where their router is mounted; the line of one whose route is unknown."""
        every = self._facts[path].endpoints
        prefixes = list(self._prefixes_of(path)) if every else []
        for endpoint, route in (
            (each, route) for each in every for route in self._class_prefixes.routes_of(each.route)
        ):
            if endpoint.is_named and (path, endpoint.router) not in self._at:
                continue
            own = replace(endpoint, route=self._fill(path, route))
            own = replace(own, middleware=self._without_routers(path, own.middleware))
            if "{=" in own.route:
                yield endpoint.line
                continue
            own = replace(own, base=self._fill(path, own.base))
            for prefix, through, replaces in self._ways_to((path, endpoint.router), _MAX_DEPTH):
                below = (own.without_base() if replaces else own).below(prefix, through)
                given = [each for each in prefixes if each.is_for(path, below.route)]
                yield self._unalias(_put_below(below, given))

    def _prefixes_of(self, path: str) -> Iterator[FilesPrefix]:
        """The prefixes and versions that applications give the routes of a file; some may leave routes out."""
        text = self._read(path) if self._prefixes else ""
        for at, each in self._prefixes:
            # Of several applications, the one around a file is meant.
            is_alone = self._marking[each.mark] == {at}
            is_near = each.ending or each.folder or is_alone or path.startswith(posixpath.dirname(at) + "/")
            if is_near and each.mark in text:
                yield replace(each, prefix=self._fill(at, each.prefix).replace("{=", "{"))

    def _unalias(self, endpoint: Endpoint) -> Endpoint:
        """The endpoint with the middleware that aliases stand for; other types are no middleware."""
        names = list[str]()
        for name in endpoint.middleware:
            names += self._aliases.get(name[1:].rpartition(".")[2], ()) if name.startswith(ALIAS) else [name]
        return replace(endpoint, middleware=tuple(dict.fromkeys(names)))

    def _ways_to(self, place: _Place, depth: int) -> Sequence[_Way]:
        """The prefixes below which a router's routes are, each with the middleware before them."""
        if place not in self._ways and depth:
            # Where routers mount each other, the way ends.
            self._ways[place] = [_NO_WAY]
            mounts = self._at.get(place) or self._at.get((place[0], ""), [])
            found = [
                (
                    join_routes(prefix, self._prefix_of(path, mount, replaces)),
                    self._before(path, mount, through),
                    mount.replaces,
                )
                for path, mount in mounts
                for prefix, through, replaces in self._ways_to((path, mount.own), depth - 1)
            ]
            self._ways[place] = list(dict.fromkeys(found)) if 0 < len(found) <= _MAX_PLACES else [_NO_WAY]
        return self._ways.get(place, [_NO_WAY])

    def _find_places(self, path: str, mount: RouterMount) -> Iterator[tuple[_Place, RouterMount]]:
        """The routers that a mount means, each with its mount."""
        if mount.folder:
            folder = posixpath.normpath(posixpath.join(posixpath.dirname(path), mount.folder)) + "/"
            for other in self._facts:
                if other.startswith(folder) and other != path and not _HOOKS.search(other):
                    inner = posixpath.dirname(other.removeprefix(folder))
                    yield (other, ""), replace(mount, prefix=join_routes(mount.prefix, inner))
        elif mount.module:
            end = "/" + mount.module.replace(".", "/")
            found = [each for each in self._facts if f"/{each}".endswith((f"{end}.py", f"{end}/__init__.py"))]
            yield from (((each, ""), mount) for each in found[:1])
        elif target := self._target_of(path, mount):
            yield target, mount

    def _target_of(self, path: str, mount: RouterMount) -> _Place | None:
        """The file that a mounted name is of, and the router in it; None where that does not show."""
        on_line = {target for target, line in self._imports[path] if line == mount.line}
        named = {target for target in on_line if _stem(target) == mount.name}
        others = {target for target in on_line if _stem(target) not in mount.beside}
        target = self._declaring((named or others).pop(), mount.name) if len(named or others) == 1 else ""
        if not target:
            return None
        router = next(filter(None, (self._router_of(target, name) for name in (mount.member, mount.name))), "")
        if router or not mount.member:
            self._mounted[path].add(f"{mount.name}.{mount.member}".rstrip(".") or _stem(target))
        return target, router

    def _router_of(self, path: str, name: str) -> str:
        """The router that a file hands out under a name: its own, or that of `{ api: apiRouter }`; "" where that does not show."""
        facts = self._facts[path]
        known = {each.router for each in facts.endpoints} | {each.own for each in facts.mounts}
        known |= {*facts.shared} if not facts.endpoints else set()
        if not name or name in known:
            return name
        handed = re.findall(rf"\b{name}\s*:[ \t]*(\w+)|\b(\w+)\s+as\s+{name}\b", self._read(path))
        return next((inner for pair in handed for inner in pair if inner in known), "")

    def _prefix_of(self, path: str, mount: RouterMount, replaces: bool) -> str:
        """The prefix that a file puts before what it mounts, perhaps without that of its own router."""
        prefix = without_prefix(mount.prefix, mount.base) if replaces else mount.prefix
        return self._fill(path, prefix).replace("{=", "{")

    def _before(self, path: str, mount: RouterMount, through: tuple[str, ...]) -> tuple[str, ...]:
        """The middleware before what a file mounts; `through` are those before the file's own routes."""
        return (*(() if mount.apart else through), *self._without_routers(path, mount.through))

    def _without_routers(self, path: str, names: tuple[str, ...]) -> tuple[str, ...]:
        """The names of a file's middleware, without the routers that it puts among them."""
        return tuple(name for name in names if not self.is_router(path, name))

    def is_router(self, path: str, name: str) -> bool:
        """Whether a file puts a router of another one before requests under a name: it is no middleware."""
        return name in self._mounted.get(path, ())

    def _declaring(self, path: str, name: str) -> str:
        """The file that declares the routes, or makes the router, that another one only hands on."""
        for _ in range(_MAX_DEPTH):
            facts = self._facts.get(path)
            if facts is not None and (facts.endpoints or facts.mounts or name in facts.shared):
                return path
            known = {target for target, _ in self._imports[path] if target in self._facts}
            if len(known) != 1 or _stem(path) == posixpath.basename(path).partition(".")[0]:
                return ""
            path = known.pop()
        return ""

    def _fill(self, path: str, route: str) -> str:
        """A route with the values of the constants in it; the name of one that is made when the program runs."""

        def value(found: re.Match[str]) -> str:
            known = self._value_of(path, found[1])
            return known if known is not None else ("{" + found[1] + "}" if _NAMED.fullmatch(found[1]) else found[0])

        return re.sub("/{2,}", "/", "/" + _CONSTANT.sub(value, route)) if "{=" in route else route

    def _value_of(self, path: str, name: str) -> str | None:
        """The one text that a name of other files stands for in a file; None where that does not show."""
        if (path, name) not in self._values:
            is_seen = name[:1].isupper() or path.endswith(".kt")
            beside = self._beside[posixpath.dirname(path)] if is_seen else []
            files = [*(target for target, _ in self._imports[path]), *beside]
            values = set[str]().union(*(self._values_in(file, name.rpartition(".")[2]) for file in files))
            if not values and name.startswith("config."):
                values = set[str]().union(
                    *(self._values_in(file, name.rpartition(".")[2]) for file in self._config_files)
                )
            self._values[path, name] = values.pop() if len(values) == 1 else None
        return self._values[path, name]

    def _values_in(self, path: str, name: str) -> frozenset[str]:
        """The texts that a file gives a name."""
        if (path, name) not in self._declared:
            text = self._read(path)
            found = [
                *(each[2] for each in re.finditer(_WRITTEN.format(name), text)), *re.findall(_TYPED.format(name), text)
            ] if name in text else []  # fmt: skip
            self._declared[path, name] = frozenset(found)
        return self._declared[path, name]


def _stem(path: str) -> str:
    folder, name = posixpath.split(path)
    stem = name.partition(".")[0]
    return posixpath.basename(folder) if stem in _INDEXES else stem


def _put_below(endpoint: Endpoint, given: Sequence[FilesPrefix]) -> Endpoint:
    """The endpoint below the prefix and the version that an application gives the routes of its file."""
    versioned = next((each.version for each in given if each.version), "")
    # A constant (`VERSION_NEUTRAL`) stands for none.
    version = endpoint.version or versioned
    part = f"v{version}" if versioned and _VERSION.fullmatch(version) else ""
    found = next((each for each in given if not each.version), None)
    return endpoint.below(join_routes(found.prefix, part), found.through) if found else endpoint.below(part)
