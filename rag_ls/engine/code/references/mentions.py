"""Finds the texts that mean a declaration: lines of docs, texts in quotes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

from rag_ls.engine.code.references.answers import Reference, ReferenceKind
from rag_ls.engine.code.references.code_files import CodeFile, split_owner
from rag_ls.engine.code.references.declarations import HOLDERS
from rag_ls.engine.code.references.name_patterns import compile_for
from rag_ls.engine.code.references.names import Names
from rag_ls.engine.code.references.reference_making import ReferenceMaker
from rag_ls.engine.code.references.targets import Targets
from rag_ls.languages import Role, role_of
from rag_ls.model import Use, UseKind
from rag_ls.storage import StoredSymbol
from rag_ls.util.records import replace

_MAX_DOCS = 50


class Mentions:
    """The texts of the documents that one client sees. For one question."""

    def __init__(self, names: Names, maker: ReferenceMaker) -> None:
        self._names = names
        self._files = names.files
        self._maker = maker

    def is_docs(self, number: int) -> bool:
        """Whether a document is one of docs."""
        return role_of(self._files.language_of(number)) is Role.DOCS

    def docs_holding(self, name: str) -> list[int]:
        """The docs that may hold a name, by id."""
        return list(filter(self.is_docs, self._files.holding(name)))

    def in_docs(self, name: str, declared: Sequence[StoredSymbol]) -> list[Reference]:
        """The first lines of docs that hold a name, but for those that name another type before it."""
        return list(islice(self._in_docs(name, declared), _MAX_DOCS))

    def _in_docs(self, name: str, declared: Sequence[StoredSymbol]) -> Iterator[Reference]:
        word = re.compile(rf"(?<!\w)(?:(\w+)(?:::|\.|#|->))?{re.escape(name)}(?!\w)")
        owners = {split_owner(split_owner(item.symbol)[0])[1] for item in declared}
        for source in self._files.load(self.docs_holding(name)):
            for number, line in enumerate(self._files.lines(source), 1):
                matches = (each for each in word.finditer(line) if not self._is_of_other(each[1] or "", owners))
                if match := next(matches, None):
                    reference = self._at(source, name, number, match.end() - len(name), None)
                    yield replace(reference, kind=ReferenceKind.DOCS)

    def _is_of_other(self, owner: str, owners: Collection[str]) -> bool:
        """Whether a name before a member is that of a type of the project that is none of some owners."""
        if not owner or not any(owners) or owner in owners:
            return False
        return any(item.kind in HOLDERS for item in self._files.named(owner))

    def in_quotes(self, source: CodeFile, name: str, targets: Targets) -> Iterable[Reference]:
        """The texts in quotes that mean a declaration: types that are declared later, lists of exports; those of another are left out."""
        rule, are_types = source.rule, any(item.kind == "type" for item in targets.declared)
        patterns = [compile_for(each, name) for each in (*rule.listed, *(rule.quoted if are_types else ()))]
        meaning = self._names.bare(source, name) if patterns and targets else None
        target = targets.find(meaning.declarations) if meaning else None
        if target is None:
            # A text may name the module, too: `ForeignKey("shop.Cart")`.
            patterns = [compile_for(each, name) for each in rule.qualified] if are_types else []
        for number, line in enumerate(self._files.lines(source), 1) if patterns else ():
            if name in line and (match := next(filter(None, (each.search(line) for each in patterns)), None)):
                yield self._at(source, name, number, line.index(name, match.start()), target)

    def _at(self, source: CodeFile, name: str, number: int, offset: int, target: StoredSymbol | None) -> Reference:
        line = self._files.lines(source)[number - 1]
        column = len(line[:offset].encode("utf-8", "surrogatepass"))
        return self._maker.at_use(source, Use(name, UseKind.MENTION, number, column), target)
