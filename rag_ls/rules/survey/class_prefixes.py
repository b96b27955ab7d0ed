"""Prefixes that controllers have from the classes and interfaces that they derive from, or give to what these declare."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from rag_ls.rules.survey.declarations import ClassAround
from rag_ls.rules.survey.file_facts import FileFacts
from rag_ls.rules.survey.routes import join_routes

_MARK = re.compile(r"\{\^([\w|]*):(\w+)\}/?")
_MAX_DEPTH = 6
_MAX_DERIVED = 8
_OF_FRAMEWORKS = frozenset({"Controller", "ControllerBase", "ApiController"})


def inherited_prefix(around: ClassAround) -> str:
    """The mark of a prefix that other classes say; "" for a class with one of its own, or without relations."""
    bases = [each for each in around.bases if each not in _OF_FRAMEWORKS]
    if around.has_own or not (bases or around.is_abstract):
        return ""
    return f"{{^{'|'.join(bases)}:{around.name}}}"


class ClassPrefixes:
    """The prefixes of a project's controllers, by the names of their classes."""

    def __init__(self, facts: Iterable[FileFacts]) -> None:
        every = [item for each in facts for item in each.class_prefixes.items()]
        of_name = defaultdict[str, set[str]](set)
        self._bases: dict[str, tuple[str, ...]] = {}
        self._derived: dict[str, list[str]] = defaultdict(list)
        for name, (prefix, bases) in every:
            of_name[name].add(prefix)
            self._bases[name] = bases
            for base in bases:
                self._derived[base].append(name)
        # A name that two classes have says nothing.
        self._prefixes = {name: prefixes.pop() for name, prefixes in of_name.items() if len(prefixes) == 1}

    def routes_of(self, route: str) -> list[str]:
        """The route with the prefix that its mark stands for; of an abstract class, one for each that derives from it."""
        found = _MARK.search(route)
        if found is None:
            return [route]
        rest = route[: found.start()] + route[found.end() :]
        prefix = self._find_inherited([each for each in found[1].split("|") if each], _MAX_DEPTH)
        if prefix is not None:
            return [join_routes(prefix.replace("[controller]", found[2].removesuffix("Controller")), rest)]
        derived = [self._prefixes[name] for name in self._derived[found[2]] if name in self._prefixes]
        return (
            [join_routes(each, rest) for each in derived] if 0 < len(derived) <= _MAX_DERIVED else [join_routes(rest)]
        )

    def _find_inherited(self, bases: Sequence[str], depth: int) -> str | None:
        """The first prefix that one of some classes has, or one of those that it derives from."""
        for base in bases if depth else ():
            if base in self._prefixes:
                return self._prefixes[base]
            if (found := self._find_inherited(self._bases.get(base, ()), depth - 1)) is not None:
                return found
        return None
