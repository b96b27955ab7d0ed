"""Finds the texts in quotes that mean a declaration."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rag_ls.engine.code.references.answers import Reference
from rag_ls.engine.code.references.code_files import CodeFile
from rag_ls.engine.code.references.name_patterns import compile_for
from rag_ls.engine.code.references.names import Names
from rag_ls.engine.code.references.places import Places
from rag_ls.engine.code.references.wanted import Wanted
from rag_ls.model import Use, UseKind


class Quoted:
    """The texts in quotes of the documents that one client sees. For one question."""

    def __init__(self, names: Names, places: Places) -> None:
        self._names = names
        self._files = names.files
        self._places = places

    def quoted_in(self, source: CodeFile, name: str, wanted: Wanted) -> Iterable[Reference]:
        """The texts in quotes that mean a declaration: types that are declared later, lists of exports."""
        are_types = any(item.kind == "type" for item in wanted.declared)
        rule = source.rule
        patterns = [compile_for(each, name) for each in (*rule.listed, *(rule.quoted if are_types else ()))]
        meaning = self._names.bare(source, name) if patterns and wanted else None
        target = wanted.find(meaning.declarations) if meaning else None
        if target is None:
            return
        for number, line in enumerate(self._files.lines(source), 1):
            if name in line and (match := next(filter(None, (each.search(line) for each in patterns)), None)):
                column = len(line[: line.index(name, match.start())].encode("utf-8", "surrogatepass"))
                yield self._places.at_use(source, Use(name, UseKind.MENTION, number, column), target)

    def registered_in(self, source: CodeFile, name: str, wanted: Wanted) -> Iterable[Reference]:
        """The texts in quotes that name a type by its application: `ForeignKey("shop.Cart")`."""
        types = [item for item in wanted.declared if item.kind == "type"]
        for pattern in [compile_for(each, name) for each in source.rule.registered] if types else ():
            for number, line in enumerate(self._files.lines(source), 1):
                match = pattern.search(line) if name in line else None
                if match is None:
                    continue
                home = re.compile(rf"(?:^|/){match[1]}{source.rule.registered_in}")
                target = next((item for item in types if home.search(item.path)), None)
                column = len(line[: line.index(name, match.end(1))].encode("utf-8", "surrogatepass"))
                if target is not None:
                    yield self._places.at_use(source, Use(name, UseKind.MENTION, number, column), target)
