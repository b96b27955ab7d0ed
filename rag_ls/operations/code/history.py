"""The operation that tells why code is as it is, and finds commits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rag_ls.engine import (
    CodeHistory,
    ProjectSession,
    find_declared,
    find_near,
    find_rules_about,
    format_date,
    places,
    trace_code,
)
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.history import find_commits
from rag_ls.memory import embed_question, memory_of
from rag_ls.operations.code.budget import count_tokens
from rag_ls.operations.code.lookup import choose_declaration
from rag_ls.operations.code.preparation import QuestionScope, read_first
from rag_ls.operations.fields import argument, optional
from rag_ls.operations.operation import Caller, MustWait, Report, Tool, Verb, operation
from rag_ls.rules import RuleHit
from rag_ls.storage import StoredCommit, StoredSymbol
from rag_ls.util.paths import read_lines
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import count_of

_DEFAULT_COMMITS, _MAX_COMMITS = 8, 200
_WAIT_S, _MOMENT_S = 60.0, 0.2
_MAX_BESIDE = 3
_MAX_PATHS = 5
_HASH_CHARACTERS = 10
_MAX_BODY_CHARACTERS, _MAX_SHORT_BODY_CHARACTERS = 1_500, 300
# Lines of a body that give no reason.
_TRAILER = lazy_pattern(r"^[A-Z]\w*(?:-\w+)+: |^git-svn-id: ")


@dataclass(frozen=True, slots=True)
class ExplainHistory:
    place: str = argument(
        "",
        "PATH:LINE, the name of a declaration, or PATH for a whole file",
        aliases=("symbol",),
    )
    query: str = argument("", "instead: a question whose commits are wanted, such as: when did we drop Python 3.8")
    k: int | None = argument(None, "commits at most", least=1, flag="-k")
    project: tuple[str, ...] = argument((), "names or roots of projects, or all")


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """A commit."""

    id: str
    """The beginning of its hash."""
    date: str
    subject: str
    kind: str = "commit"
    body: str = optional("")
    """The rest of its message, without trailers; of a long one the beginning."""
    author: str = optional("")
    introduces: bool = optional(False)
    """Whether the code came with it, as far as is known."""
    path: str = optional("")
    """The file that held the code then, where that is another one now."""
    files: tuple[str, ...] = optional(())
    """The first files that it changed."""
    more_files: int = optional(0)
    score: float | None = optional()
    project: str = optional("")


@dataclass(frozen=True, slots=True)
class HistoryAnswer:
    """The commits that changed some code: the one that brought it, then the others, the newest first. Or those that answer a question."""

    commits: tuple[CommitRecord, ...]
    total: int
    """The number of commits that changed it."""
    path: str = optional("")
    start_line: int = optional(0)
    end_line: int = optional(0)
    symbol: str = optional("")
    line_changed_by: CommitRecord | None = optional()
    """The last one that changed the line that was asked for, where it is not the first of the list's newest."""
    memories: tuple[str, ...] = optional(())
    """Memories about this code."""
    rules: tuple[str, ...] = optional(())
    """The places of rules about this file."""
    note: str = optional("")


@operation(
    tool=Tool(
        "code",
        "Why is code so? Commits that changed a place (PATH:LINE or a name) or answer a query.",
        ("place", "query"),
        ("total",),
        nothing="no commit answers that: try other words",
    ),
    command="ragLs.explainHistory",
    verb=Verb(
        "why", "tell which commits made a place as it is, and why", ("place",), example="rag-ls why src/cart.py:120"
    ),
)
def explain_history(caller: Caller, request: ExplainHistory) -> HistoryAnswer:
    """The commits that changed a declaration, through renames and moves, or that answer a question."""
    count = min(request.k or _DEFAULT_COMMITS, _MAX_COMMITS)
    if request.query.strip():
        sessions = caller.projects.find(request.project)
        read_history(caller, sessions)
        records = search_history(sessions, request.query, count)
        return HistoryAnswer(tuple(records), len(records), note=describe_history(sessions))
    if not request.place.strip():
        raise InvalidRequest("give a place, PATH:LINE or a declaration's name, or a query")
    session, path, line, declared = _find_place(caller, request)
    session.catch_up()
    found = trace_code(session, path, line, declared)
    return _make_answer(session, found, line, count, caller.budget_tokens)


def read_history(caller: Caller, sessions: Sequence[ProjectSession], scope: QuestionScope | None = None) -> None:
    """Have the commits read, and the files that a question is about.

    Raises `MustWait` for a caller that can wait, if there is anything to wait for.
    """
    is_read = wait_for_history(sessions, _MOMENT_S if caller.can_wait and scope is None else 0.0)
    try:
        if scope is not None:
            read_first(caller, sessions, scope, compares=True)
    except MustWait as files:
        wait_for_files = files.wait

        def wait(report: Report) -> None:
            wait_for_files(report)
            wait_for_history(sessions)

        raise MustWait(wait) from files
    if caller.can_wait and not is_read:

        def wait_for_commits(_: Report) -> None:
            wait_for_history(sessions)

        raise MustWait(wait_for_commits)


def wait_for_history(sessions: Iterable[ProjectSession], timeout_s: float = _WAIT_S) -> bool:
    """Have the commits read, and wait for some seconds at most for those of each project; whether all are read."""
    behind = [session.project.history for session in sessions if not session.project.history.is_current]
    for history in behind:
        history.begin_reading()
    return all(history.wait(timeout_s) for history in behind)


def search_history(sessions: Sequence[ProjectSession], query: str, k: int) -> list[CommitRecord]:
    """The commits of some projects that answer a question best, the best first."""
    found = []
    for session in sessions:
        root = str(session.project.root) if len(sessions) > 1 else ""
        model = session.project.model()
        embedding = embed_question(model, query) if model is not None else None
        for hit in find_commits(session.project.history.commits, query, k, embedding):
            record = _make_record(hit.commit, _MAX_SHORT_BODY_CHARACTERS)
            left = len(hit.commit.paths) - _MAX_PATHS
            found.append(
                replace(
                    record, files=hit.commit.paths[:_MAX_PATHS], more_files=max(0, left) + hit.commit.more_paths,
                    score=round(hit.score, 3), project=root,
                )
            )  # fmt: skip
    return sorted(found, key=lambda record: -(record.score or 0.0))[:k]


def describe_history(sessions: Sequence[ProjectSession]) -> str:
    """The parts of the histories that answers lack, in words; empty for none."""
    notes = [
        session.project.history.note
        or ("" if session.project.history.wait(0.0) else "the history is still being read: ask again")
        for session in sessions
    ]
    return "; ".join(dict.fromkeys(filter(None, notes)))


def _find_place(caller: Caller, request: ExplainHistory) -> tuple[ProjectSession, str, int, StoredSymbol | None]:
    """The project, file and line that are meant, or the declaration. Raises `NotFound`."""
    written = request.place.strip()
    place = read_lines(written)
    is_path = bool(place.first) or "/" in written
    sessions = caller.projects.find_candidates(place.path if is_path else "", request.project)
    read_history(caller, sessions, QuestionScope(written, place.path if is_path else ""))
    for session in sessions if not place.first else ():
        path = session.relative(written) if is_path else written
        if session.document(path) is not None:
            return session, path, 0, None
    if is_path:
        session = caller.projects.find_holding(place.path, request.project)
        meant = session.place(written)
        return session, meant.path, meant.first, None
    named = [(session, item) for session in sessions for item in find_declared(session, written)]
    if not named:
        near = places.nearest_symbols(sessions[0], written) if sessions else []
        raise NotFound(
            f"no declaration is called {written!r}" + (f"; nearest: {', '.join(near)}" if near else "; give PATH:LINE")
        )
    session, item = choose_declaration(named, written)
    return session, item.path, 0, item


def _make_answer(
    session: ProjectSession, found: CodeHistory, line: int, count: int, budget_tokens: int
) -> HistoryAnswer:
    newest_first = [
        replace(
            _make_record(commit, _MAX_BODY_CHARACTERS), introduces=change.introduces,
            path=change.path if change.path != found.path else "",
        )
        for commit, change in found.changes
    ]  # fmt: skip
    oldest = [record for record in newest_first[-1:] if record.introduces]
    others = newest_first[: len(newest_first) - len(oldest)]
    shown = _fit_commits([*oldest, *others][:count], budget_tokens)
    left = len(newest_first) - len(shown)
    more = f"{count_of(left, 'more commit')}: k = {len(newest_first)} lists all" if left else ""
    of_line = _make_record(found.line_commit, _MAX_BODY_CHARACTERS) if found.line_commit else None
    return HistoryAnswer(
        tuple(shown), len(newest_first), found.path, *found.lines, found.symbol,
        line_changed_by=None if of_line is None or of_line.id == (newest_first or [of_line])[0].id else of_line,
        memories=_find_memories(session, found, line),
        rules=tuple(_locate_rule(hit) for hit in _find_rules(session, found.path)),
        note="; ".join(filter(None, (found.note, more, describe_history([session])))),
    )  # fmt: skip


def _find_memories(session: ProjectSession, found: CodeHistory, line: int) -> tuple[str, ...]:
    """The memories about the code, each in a line."""
    row = places.chunk_at(session, found.path, line or found.lines[0])
    hits = find_near(session, row, None, found.path, line)
    return tuple(f"{item.id[:8]} {' '.join(item.content.split())}" for item in map(memory_of, hits[:_MAX_BESIDE]))


def _find_rules(session: ProjectSession, path: str) -> list[RuleHit]:
    """The sections of rules that name a file."""
    return [hit for hit in find_rules_about(session, path) if hit.names_file][:_MAX_BESIDE]


def _locate_rule(hit: RuleHit) -> str:
    chunk = hit.row.stored.chunk
    return f"{chunk.path}:{chunk.start_line} {chunk.symbol}".strip()


def _fit_commits(records: Sequence[CommitRecord], budget_tokens: int) -> list[CommitRecord]:
    """The commits, the bodies of the last ones cut where they are more than a budget holds."""
    fitting, used = list[CommitRecord](), 0
    for record in records:
        size = count_tokens(f"{record.subject} {record.body}")
        if budget_tokens and used + size > budget_tokens:
            record = replace(record, body="")
            size = count_tokens(record.subject)
        used += size
        fitting.append(record)
    return fitting


def _make_record(commit: StoredCommit, most: int) -> CommitRecord:
    lines = [line for line in commit.body.splitlines() if not _TRAILER.match(line)]
    body = "\n".join(lines).strip()
    body = body if len(body) <= most else f"{body[:most].rsplit(' ', 1)[0]} …"
    return CommitRecord(
        commit.hash[:_HASH_CHARACTERS], format_date(commit), commit.subject, body=body, author=commit.author
    )
