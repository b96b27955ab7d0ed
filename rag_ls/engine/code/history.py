"""Answers why code is as it is: the commits that changed a declaration. Functions of a client's session."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from rag_ls.engine.code import places
from rag_ls.engine.session import ProjectSession
from rag_ls.history.lines import LineChange, LineHistory
from rag_ls.history.patches import Lines, compare_texts, map_back
from rag_ls.storage import StoredSymbol
from rag_ls.storage.commits import StoredCommit
from rag_ls.util.git import GitSilent, Silence, ask_git
from rag_ls.util.records import dataclass
from rag_ls.util.text import count_of

_MAX_DECLARED = 5_000
_NEW = "it is in no commit yet"


@dataclass(frozen=True, slots=True)
class CodeHistory:
    """The commits that changed some code, the newest first."""

    path: str
    lines: Lines
    symbol: str
    """The declaration; empty for lines outside of any."""
    changes: tuple[tuple[StoredCommit, LineChange], ...] = ()
    line_commit: StoredCommit | None = None
    """The last one that changed the line that was asked for."""
    note: str = ""


def trace_code(session: ProjectSession, path: str, line: int, declared: StoredSymbol | None = None) -> CodeHistory:
    """The history of a declaration, or of the one around a line; of a whole file for line 0. Raises `NotFound`."""
    session.catch_up()
    rows = places.chunks_of(session, path)
    if not rows:
        raise places.not_indexed(session, path)
    found = declared or (_find_declaration(session, path, line) if line else None)
    last = rows[-1].stored.chunk.end_line
    lines = (found.start_line, found.end_line) if found else (line, line) if line else (1, last)
    symbol = found.symbol if found else ""
    history = session.project.history
    if history.problem:
        return CodeHistory(path, lines, symbol)
    head = history.commits.id_of(history.commits.head)
    text = "".join(row.stored.chunk.text for row in rows)
    try:
        former = ask_git(session.project.root, "cat-file", "blob", f"HEAD:./{path}").decode("utf-8", "replace")
    except GitSilent as silent:
        if silent.kind is not Silence.FAILED:
            return CodeHistory(path, lines, symbol, note=str(silent))
        return CodeHistory(path, lines, symbol, note=f"{path}: {_NEW}")
    hunks = compare_texts(former, text) if former != text else []
    committed = map_back(hunks, lines)[1]
    if committed is None:
        return CodeHistory(path, lines, symbol, note=_NEW)
    try:
        traced = LineHistory(session.project.root, history.commits)
        changes = traced.follow(head, path, committed)
        at = map_back(hunks, (line, line))[1] if line else None
        of_line = traced.follow(head, path, at, enough=1) if at and committed != at else []
    except GitSilent as silent:
        return CodeHistory(path, lines, symbol, note=str(silent))
    return _with_commits(session, CodeHistory(path, lines, symbol), changes, of_line)


def summarize_history(session: ProjectSession, path: str, line: int, word: str) -> str:
    """The number of commits that changed the declaration under the cursor, and the last one; empty where none is known yet."""
    settings = session.settings.hover
    if not (settings.enabled and settings.history and session.project.history.commits.head):
        return ""
    _, declared = places.find_under_cursor(session, path, line, word)
    if declared is None:
        return ""
    changes = trace_code(session, declared.path, 0, declared).changes
    if len(changes) < 2:
        # It came with one commit, and none changed it.
        return ""
    count, (last, _) = len(changes), changes[0]
    return f"changed in {count_of(count, 'commit')}, last on {format_date(last)}: {last.subject}"


def format_date(commit: StoredCommit) -> str:
    """The day of a commit, `2026-11-29`, in UTC."""
    return datetime.fromtimestamp(commit.time, UTC).date().isoformat()


def _with_commits(
    session: ProjectSession, found: CodeHistory, changes: Sequence[LineChange], of_line: Sequence[LineChange]
) -> CodeHistory:
    commits = session.project.history.commits.by_id([each.commit_id for each in (*changes, *of_line)])
    known = tuple((commits[each.commit_id], each) for each in changes if each.commit_id in commits)
    line_commit = commits.get(of_line[0].commit_id) if of_line else None
    return CodeHistory(found.path, found.lines, found.symbol, known, line_commit)


def _find_declaration(session: ProjectSession, path: str, line: int) -> StoredSymbol | None:
    """The innermost declaration around a line."""
    document = session.document(path)
    declared = session.store.outlines.of_documents([document.id], _MAX_DECLARED) if document else []
    around = [item for item in declared if item.start_line <= line <= item.end_line]
    return max(around, key=lambda item: (item.start_line, -item.end_line), default=None)
