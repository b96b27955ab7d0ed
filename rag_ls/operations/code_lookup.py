"""Operations that look closer at code: a chunk with what is around it, what is declared, which tests there are."""

from __future__ import annotations

from collections.abc import Sequence

from rag_ls.engine.code.lookup import CONTEXTS, SymbolQuestion
from rag_ls.engine.code.related_tests import RelatedTest
from rag_ls.engine.project_view import ProjectView
from rag_ls.engine.requests import DECLARED_KINDS
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.operations.answers import Json
from rag_ls.operations.arguments import Arguments
from rag_ls.operations.code_hits import code_json, file_of, kind_of
from rag_ls.operations.projects import Projects
from rag_ls.storage import StoredSymbol

_SYMBOLS = 100
_MOST_SYMBOLS = 1000
_TESTS = 10


class LookupOperations:
    """Operations on what is known of the code of a client's projects."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects

    def get_chunk(self, arguments: object) -> Json:
        """One chunk by its id, as it is now; `context` gives more of its document."""
        args = Arguments("get_chunk", arguments, ("id", "context"))
        chunk_id = args.text("id", required=True)
        context = args.choice("context", CONTEXTS) or "chunk"
        errors: list[NotFound] = []
        projects = self._projects.everywhere()
        for view in projects:
            try:
                return _chunk(view, chunk_id, context)
            except NotFound as not_here:
                errors.append(not_here)
        told = [error for view, error in zip(projects, errors, strict=True) if view.code.fate_of(chunk_id.strip())]
        raise (told or errors)[0]

    def list_symbols(self, arguments: object) -> Json:
        """What a file or several declare, or the declarations of a name over the projects."""
        args = Arguments("list_symbols", arguments, ("path", "path_glob", "query", "kind", "k", "project"))
        path = args.text("path").strip()
        question = SymbolQuestion(
            path, args.text("path_glob").strip(), args.text("query").strip(), kind_of(args, DECLARED_KINDS)
        )
        if not (path or question.path_glob or question.query):
            raise InvalidRequest("list_symbols needs a path, a path_glob or a query (a name, or a part of one)")
        count = args.integer("k", least=1) or _SYMBOLS
        wanted = args.strings("project")
        projects = [self._projects.holding(path, wanted)] if path else self._projects.named(wanted)
        found = [(view, item) for view in projects for item in view.look.symbols(question)]
        shown = found[: min(count, _MOST_SYMBOLS)]
        many = len(projects) > 1
        answer: Json = {"symbols": [_symbol_json(view, item, many) for view, item in shown], "total": len(found)}
        return _noted(answer, projects)

    def related_tests(self, arguments: object) -> Json:
        """The tests for a place, and what speaks for each."""
        args = Arguments("related_tests", arguments, ("path", "line", "symbol", "k", "project"))
        path, symbol = args.text("path").strip(), args.text("symbol").strip()
        if not (path or symbol):
            raise InvalidRequest("related_tests needs a path, with a line or a symbol where one is meant, or a symbol")
        line = args.integer("line", least=1) or 0
        view = self._projects.holding(path, args.strings("project"))
        tests = view.look.tests_of(path, line, symbol, args.integer("k", least=1) or _TESTS)
        return _noted({"tests": [_test_json(view, test) for test in tests]}, [view])


def _noted(answer: Json, projects: Sequence[ProjectView]) -> Json:
    """The answer, with a note where files that are not read yet may hold more."""
    queued = sum(view.store.queue_lengths()[0] for view in projects)
    return {**answer, "note": f"{queued:,} files are not read yet: what they hold is missing"} if queued else answer


def _chunk(view: ProjectView, chunk_id: str, context: str) -> Json:
    excerpt = view.look.around(chunk_id, context)
    record = code_json(view, excerpt.hit)
    if context == "chunk":
        return record
    record.pop("scope", None)
    record |= {
        "context": context, "start_line": excerpt.start_line, "end_line": excerpt.end_line, "text": excerpt.text,
    }  # fmt: skip
    return {**record, "note": excerpt.note} if excerpt.note else record


def _symbol_json(view: ProjectView, item: StoredSymbol, names_project: bool) -> Json:
    record: Json = {
        "path": item.path,
        "symbol": item.symbol,
        "kind": item.kind,
        "start_line": item.start_line,
        "end_line": item.end_line,
        "signature": item.signature,
        "exported": item.exported,
    }
    return {**record, "project": str(view.project.root)} if names_project else record


def _test_json(view: ProjectView, test: RelatedTest) -> Json:
    record: Json = {"path": test.path, "file": file_of(view, test.path), "score": test.score, "why": list(test.why)}
    if test.chunk is not None:
        chunk = test.chunk.chunk
        record |= {
            "id": test.chunk.id,
            "symbol": chunk.symbol,
            "start_line": chunk.start_line,
            "end_line": chunk.end_line,
        }
    return {**record, "mentioned_in": list(test.mentions)} if test.mentions else record
