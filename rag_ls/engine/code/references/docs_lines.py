"""Finds the lines of docs that name a declaration."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from rag_ls.engine.code.references.answers import Reference, ReferenceKind
from rag_ls.engine.code.references.code_files import CodeFiles, split_owner
from rag_ls.engine.code.references.places import Places
from rag_ls.languages import Role, role_of
from rag_ls.model import Use, UseKind
from rag_ls.storage import StoredSymbol

_MAX_DOCS = 50


class DocsLines:
    """The lines of the docs that one client sees. For one question."""

    def __init__(self, files: CodeFiles, places: Places) -> None:
        self._files = files
        self._places = places

    def find(self, name: str, declared: Sequence[StoredSymbol]) -> list[Reference]:
        """The first lines of docs that hold a name, but for those that name another type before it."""
        return list(islice(self._find_all(name, declared), _MAX_DOCS))

    def holding(self, name: str) -> list[int]:
        """The docs that may hold a name, by id."""
        return list(filter(self.is_docs, self._files.holding(name)))

    def _find_all(self, name: str, declared: Sequence[StoredSymbol]) -> Iterator[Reference]:
        word = re.compile(rf"(?<!\w)(?:(\w+)(?:::|\.|#|->))?{re.escape(name)}(?!\w)")
        owners = {split_owner(split_owner(item.symbol)[0])[1] for item in declared}
        for source in self._files.load(self.holding(name)):
            for number, line in enumerate(self._files.lines(source), 1):
                matches = (each for each in word.finditer(line) if not self._is_of_other(each[1] or "", owners))
                if match := next(matches, None):
                    column = len(line[: match.end() - len(name)].encode("utf-8", "surrogatepass"))
                    use = Use(name, UseKind.MENTION, number, column)
                    yield replace(self._places.at_use(source, use, None), kind=ReferenceKind.DOCS)

    def _is_of_other(self, owner: str, owners: Collection[str]) -> bool:
        """Whether a name before a member is that of a type of the project that is none of some owners."""
        if not owner or not any(owners) or owner in owners:
            return False
        return any(item.kind in ("type", "module") for item in self._files.named(owner))

    def is_docs(self, number: int) -> bool:
        return role_of(self._files.language_of(number)) is Role.DOCS
