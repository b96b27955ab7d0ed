"""Operations that look code up: a chunk with its context, declarations, and tests of a place."""

from __future__ import annotations

from collections.abc import Sequence

from rag_ls.engine.code.lookup import SymbolQuestion
from rag_ls.engine.project_view import ProjectView
from rag_ls.engine.requests import DECLARED_KINDS
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.operations.code_filters import kind_of
from rag_ls.operations.projects import Projects
from rag_ls.operations.records import CodeRecord, SymbolsAnswer, TestsAnswer
from rag_ls.operations.records_of import excerpt_record, symbol_record, test_record
from rag_ls.operations.requests import GetChunk, ListSymbols, RelatedTests
from rag_ls.util.nearest import nearest_text

_DEFAULT_SYMBOLS = 100
_MAX_SYMBOLS = 1000
_DEFAULT_TESTS = 10


class LookupOperations:
    """Look-up operations on the code of a client's projects."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects

    def get_chunk(self, asked: GetChunk) -> CodeRecord:
        """One chunk by its id, as it is now; `context` gives more of its document."""
        context, errors = asked.context or "chunk", list[NotFound]()
        views = self._projects.everywhere()
        for view in views:
            try:
                return excerpt_record(view, view.lookup.around(asked.id, context), context)
            except NotFound as not_here:
                errors.append(not_here)
        told = [error for view, error in zip(views, errors, strict=True) if view.code.fate_of(asked.id.strip())]
        raise (told or errors)[0]

    def list_symbols(self, asked: ListSymbols) -> SymbolsAnswer:
        """The declarations in one or several files, or those of a name in all chosen projects."""
        path = asked.path.strip()
        kind = kind_of("list_symbols", asked.kind, DECLARED_KINDS)
        question = SymbolQuestion(path, asked.path_glob.strip(), asked.query.strip(), kind)
        if not (path or question.path_glob or question.query):
            raise InvalidRequest("list_symbols needs a path, a path_glob or a query (a name, or a part of one)")
        views = [self._projects.holding(path, asked.project)] if path else self._projects.named(asked.project)
        found = [(view, item) for view in views for item in view.lookup.symbols(question)]
        shown = found[: min(asked.k or _DEFAULT_SYMBOLS, _MAX_SYMBOLS)]
        symbols = tuple(symbol_record(view, item, names_project=len(views) > 1) for view, item in shown)
        note = _unread_note(views) or ("" if found or not question.query else _meant(views, question.query))
        return SymbolsAnswer(symbols, len(found), note)

    def related_tests(self, asked: RelatedTests) -> TestsAnswer:
        """The tests for a place, with the evidence for each."""
        path, symbol = asked.path.strip(), asked.symbol.strip()
        if not (path or symbol):
            raise InvalidRequest("related_tests needs a path, with a line or a symbol where one is meant, or a symbol")
        view = self._projects.holding(path, asked.project)
        tests = view.lookup.tests_of(path, asked.line or 0, symbol, asked.k or _DEFAULT_TESTS)
        return TestsAnswer(tuple(test_record(view, test) for test in tests), _unread_note([view]))


def _meant(views: Sequence[ProjectView], name: str) -> str:
    """A note that names the symbols that may be meant; empty if none is like the name."""
    near = nearest_text(symbol for view in views for symbol in view.lookup.nearest_symbols(name))
    return f"no declaration is called {name!r}; {near}search_code takes questions in words" if near else ""


def _unread_note(views: Sequence[ProjectView]) -> str:
    """A note that unread files are missing from the answer; empty where there are none."""
    queued = sum(view.store.queue_lengths()[0] for view in views)
    return f"{queued:,} files are not read yet: what they hold is missing" if queued else ""
