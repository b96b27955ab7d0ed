"""Operations that look code up: a chunk with its context, declarations, and tests of a place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rag_ls.chunking import stem_of
from rag_ls.engine import (
    CONTEXTS,
    DECLARED_KINDS,
    Excerpt,
    ProjectSession,
    RelatedTest,
    SymbolQuestion,
    count_secret_lines,
    explain_no_document,
    find_declared,
    find_symbols,
    find_tests,
    nearest_symbols,
    path_in,
    read_around,
)
from rag_ls.errors import InvalidRequest, NotFound, PathOutsideProject, RagLsError
from rag_ls.operations.code.budget import cut_line, fit_lines
from rag_ls.operations.code.filters import read_kind
from rag_ls.operations.code.hits import CodeRecord, locate_file, make_hit
from rag_ls.operations.code.preparation import QuestionScope, read_first
from rag_ls.operations.fields import argument, join_notes, make_record, optional
from rag_ls.operations.operation import Caller, Tool, operation
from rag_ls.storage import StoredSymbol
from rag_ls.util.records import dataclass, replace
from rag_ls.util.secret_texts import describe_secret_lines
from rag_ls.util.text import count_of, nearest_text

# Limits of an excerpt: agents' clients refuse answers of more than 25,000 tokens, and warn of 10,000.
MAX_LINES = 2000
AGENTS_EXCERPT_TOKENS = 8000
_DEFAULT_SYMBOLS = 100
_MAX_SYMBOLS = 1000
_DEFAULT_TESTS = 10
_MAX_NAMESAKES = 8
# Files that declare what others define.
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".pyi", ".d.ts", ".mli", ".fsi")


@dataclass(frozen=True, slots=True)
class GetChunk:
    id: str = argument(
        doc="a hit's id as searches give it, PATH:LINE, PATH:FROM-TO for these lines, or the name of a declaration",
        agents="a hit's id, PATH:LINE, PATH:FROM-TO or a name",
    )
    context: str = argument("", "how much of its document around it", choices=CONTEXTS)


@operation(
    tool=Tool(
        "code",
        "Read a hit, a declaration or lines of a file, unsaved text included.",
        ("id", "context"),
    ),
    command="ragLs.getChunk",
    shared_verb="show",
)
def get_chunk(caller: Caller, request: GetChunk) -> CodeRecord:
    """A hit by its id, or lines of a file, as they are now; the hit alone or with what is around it."""
    errors = list[RagLsError]()
    path = path_in(request.id)
    is_absolute = Path(path).is_absolute()
    sessions = [caller.projects.find_holding(path)] if is_absolute else caller.projects.all_and_named()
    if path:
        read_first(caller, sessions, QuestionScope(path=path), compares=True)
    for session in sessions:
        try:
            return _read_excerpt(caller, session, request.id, request.context or "chunk")
        except (NotFound, PathOutsideProject) as not_here:
            errors.append(not_here)
    if not path and (named := [(session, item) for session in sessions for item in find_declared(session, request.id)]):
        return _read_named(caller, named, request)
    raise errors[0]


def _read_excerpt(caller: Caller, session: ProjectSession, chunk_id: str, context: str) -> CodeRecord:
    """Raises `NotFound`, `PathOutsideProject`."""
    excerpt = read_around(session, chunk_id, context)
    record = make_excerpt(session, excerpt, context, AGENTS_EXCERPT_TOKENS if caller.budget_tokens else 0)
    refused = session.indexing.inbox.describe_refused(record.path)
    elsewhere = caller.projects.note_elsewhere([session])
    document = session.document(record.path)
    blank = Counter({record.path: document.secret_lines} if document and document.secret_lines else {})
    return replace(record, note=join_notes(record.note, describe_secret_lines(blank), refused, elsewhere))


def _read_named(caller: Caller, named: Sequence[tuple[ProjectSession, StoredSymbol]], request: GetChunk) -> CodeRecord:
    """The declaration of a name, whole, and where else it is declared. Raises `NotFound` where several places have it."""
    session, first = meant = choose_declaration(named, request.id.strip())
    record = _read_excerpt(caller, session, f"{first.path}:{first.start_line}", request.context or "declaration")
    others = ", ".join(f"{item.path}:{item.start_line}" for item in (each[1] for each in named if each != meant))
    return replace(record, note=join_notes(record.note, f"declared in {others} too" if others else ""))


def choose_declaration(
    named: Sequence[tuple[ProjectSession, StoredSymbol]], name: str
) -> tuple[ProjectSession, StoredSymbol]:
    """The only declaration of a name, without those of headers and stubs that another file defines.

    Raises `NotFound` where several places have it.
    """
    defined = {item.symbol for _, item in named if not item.path.endswith(_HEADERS)}
    meant = [
        (session, item) for session, item in named if not (item.path.endswith(_HEADERS) and item.symbol in defined)
    ]
    if len(meant) > 1:
        places = ", ".join(f"{item.symbol} is {item.path}:{item.start_line}" for _, item in meant[:_MAX_NAMESAKES])
        more = f" and {len(meant) - _MAX_NAMESAKES} more" if len(meant) > _MAX_NAMESAKES else ""
        raise NotFound(f"{len(meant)} declarations are called {name!r}: {places}{more}; give PATH:LINE")
    return meant[0]


def make_excerpt(session: ProjectSession, excerpt: Excerpt, context: str, budget_tokens: int = 0) -> CodeRecord:
    """A chunk with its context, as many lines around the chunk as an answer holds; its note names the lines that are left."""
    record = make_hit(session, excerpt.hit)
    lines, first = excerpt.lines, excerpt.start_line
    start, end = fit_lines(lines, record.start_line - first, MAX_LINES, budget_tokens)
    text = "".join(lines[start:end])
    if budget_tokens and end - start == 1:
        text = cut_line(text, budget_tokens)
    shown = replace(
        record,
        start_line=first + start,
        end_line=first + max(end - 1, start),
        text=text,
        truncated=end - start < len(lines),
        note=_name_left(record.path, (first, first + start), (first + end, first + len(lines)), excerpt.goes_on_to),
    )
    return shown if context == "chunk" else replace(shown, scope="", context=context)


def _name_left(path: str, before: tuple[int, int], after: tuple[int, int], goes_on_to: int) -> str:
    """The lines that an excerpt leaves out, before it and after it (half-open), and how to have them; empty if there are none."""
    ends = max(after[1], goes_on_to + 1) if goes_on_to else after[1]
    left = [f"{start}-{end - 1}" for start, end in (before, (after[0], ends)) if start < end]
    if not left:
        return ""
    ids = " or ".join(f"{path}:{lines}" for lines in left)
    return f"lines {' and '.join(left)} are left out: get_chunk with id = {ids} has them"


@dataclass(frozen=True, slots=True)
class ListSymbols:
    path: str = argument("", "a file", is_path=True)
    path_glob: str = argument("", "files that match", metavar="GLOB", is_glob=True)
    query: str = argument("", "a name, or a part of one")
    kind: str = argument("", "only this kind of declaration")
    k: int | None = argument(None, "symbols at most", least=1, flag="-k")
    project: tuple[str, ...] = argument((), "names or roots of projects, or all")


@dataclass(frozen=True, slots=True)
class SymbolRecord:
    """A declaration."""

    path: str
    symbol: str
    kind: str
    start_line: int
    end_line: int
    signature: str
    exported: bool
    project: str = optional("")


@dataclass(frozen=True, slots=True)
class SymbolsAnswer:
    """Declarations."""

    symbols: tuple[SymbolRecord, ...]
    total: int
    note: str = optional("")


@operation(
    tool=Tool(
        "code",
        "What does a file declare (path)? Where is a name declared (query)?",
        ("path", "query", "kind"),
        nothing="no declaration matches: give a part of the name as query, or ask search_code in words",
    ),
    command="ragLs.listSymbols",
)
def list_symbols(caller: Caller, request: ListSymbols) -> SymbolsAnswer:
    """Outline of a file, or declarations by name."""
    path = request.path.strip()
    kind = read_kind("list_symbols", request.kind, DECLARED_KINDS)
    question = SymbolQuestion(path, request.path_glob.strip(), request.query.strip(), kind)
    if not (path or question.path_glob or question.query):
        raise InvalidRequest("list_symbols needs a path, a path_glob or a query (a name, or a part of one)")
    wanted = request.project or caller.projects.find_roots_below(question.path_glob)
    sessions = caller.projects.find_candidates(path, wanted)
    read_first(caller, sessions, QuestionScope(question.query, path, question.path_glob))
    if path:
        sessions = [caller.projects.find_holding(path, request.project)]
    found = [(session, item) for session in sessions for item in find_symbols(session, question)]
    shown = found[: min(request.k or _DEFAULT_SYMBOLS, _MAX_SYMBOLS)]
    symbols = tuple(make_symbol_record(session, item, names_project=len(sessions) > 1) for session, item in shown)
    note = join_notes(caller.projects.note_elsewhere(sessions), note_unread(sessions))
    if not (found or note):
        unmatched = [explain_no_document(session, question) for session in sessions]
        note = unmatched[0] if all(unmatched) else _name_nearest(sessions, question.query) if question.query else ""
    return SymbolsAnswer(symbols, len(found), join_notes(note, note_refused(sessions)))


def make_symbol_record(session: ProjectSession, item: StoredSymbol, *, names_project: bool) -> SymbolRecord:
    return make_record(SymbolRecord, item, project=str(session.project.root) if names_project else "")


def _name_nearest(sessions: Sequence[ProjectSession], name: str) -> str:
    """A note that names the symbols that may be meant; empty if none is like the name."""
    near = nearest_text(symbol for session in sessions for symbol in nearest_symbols(session, name))
    return f"no declaration is called {name!r}; {near}search_code takes questions in words" if near else ""


@dataclass(frozen=True, slots=True)
class RelatedTests:
    path: str = argument("", "a file", is_path=True)
    line: int | None = argument(None, "a line of it, from 1", least=1)
    symbol: str = argument("", "a symbol")
    k: int | None = argument(None, "tests at most", least=1, flag="-k")
    project: tuple[str, ...] = argument((), "names or roots of projects, or all")


@dataclass(frozen=True, slots=True)
class TestRecord:
    """A document of tests, at the place in it that is nearest."""

    path: str
    file: str
    score: float
    why: tuple[str, ...]
    id: str = optional("")
    symbol: str | None = optional()
    start_line: int | None = optional()
    end_line: int | None = optional()
    mentioned_in: tuple[str, ...] = optional(())


@dataclass(frozen=True, slots=True)
class TestsAnswer:
    """Tests, those that most speaks for first."""

    tests: tuple[TestRecord, ...]
    note: str = optional("")


@operation(
    tool=Tool(
        "code",
        "Which tests cover a file, line or symbol, and why.",
        ("path", "line", "symbol"),
        nothing="no test is known for it: ask search_code with kind = test",
    ),
    command="ragLs.relatedTests",
)
def related_tests(caller: Caller, request: RelatedTests) -> TestsAnswer:
    """The tests for a file, line or symbol, and what speaks for each."""
    path, symbol = request.path.strip(), request.symbol.strip()
    if not (path or symbol):
        raise InvalidRequest("related_tests needs a path, with a line or a symbol where one is meant, or a symbol")
    # Tests are named after the file.
    scope = QuestionScope(f"{request.symbol} tests {stem_of(path)}", path)
    read_first(caller, caller.projects.find_candidates(path, request.project), scope)
    session = caller.projects.find_holding(path, request.project)
    tests = find_tests(session, path, request.line or 0, symbol, request.k or _DEFAULT_TESTS)
    note = join_notes(caller.projects.note_elsewhere([session]), note_unread([session]), note_refused([session]))
    return TestsAnswer(tuple(make_test_record(session, test) for test in tests), note)


def make_test_record(session: ProjectSession, test: RelatedTest) -> TestRecord:
    record = TestRecord(test.path, locate_file(session, test.path), test.score, test.why, mentioned_in=test.mentions)
    if test.chunk is None:
        return record
    chunk = test.chunk.chunk
    return replace(record, id=test.chunk.id, symbol=chunk.symbol, start_line=chunk.start_line, end_line=chunk.end_line)


def note_unread(sessions: Sequence[ProjectSession]) -> str:
    """A note that unread files, and lines with secrets, are missing from the answer; empty where there are none."""
    queued = count_unread(sessions)
    files = count_of(queued, "file is", "files are")
    unread = f"{files} not read yet, and this answer has none of their contents" if queued else ""
    return join_notes(unread, note_secrets(sessions))


def count_unread(sessions: Sequence[ProjectSession]) -> int:
    """The number of files that are not read yet."""
    return sum(session.store.queue.count() for session in sessions)


def note_secrets(sessions: Sequence[ProjectSession]) -> str:
    """A note of the lines that are left out of the index because they look like secrets; empty where there are none."""
    return describe_secret_lines(sum((count_secret_lines(session.store) for session in sessions), Counter()))


def note_refused(sessions: Sequence[ProjectSession]) -> str:
    """A note of the files whose saved text answers, since the editor's is not indexed; empty where there are none."""
    return join_notes(*(session.indexing.inbox.describe_refused() for session in sessions))
