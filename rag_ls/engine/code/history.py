"""Answers why code is as it is: the commits that changed a declaration. Functions of a client's session."""

from __future__ import annotations

from datetime import UTC, datetime

from rag_ls.engine.code import places
from rag_ls.engine.session import ProjectSession
from rag_ls.history import LineChange, LineHistory, Lines, compare_texts, map_back
from rag_ls.storage import StoredCommit, StoredSymbol
from rag_ls.util.git import GitSilent, Silence, ask_git
from rag_ls.util.records import dataclass
from rag_ls.util.text import count_of

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
    rows = places.chunks_of(session, path)
    if not rows:
        raise places.not_indexed(session, path)
    found = declared or (places.find_under_cursor(session, path, line, "")[1] if line else None)
    last = rows[-1].stored.chunk.end_line
    lines = (found.start_line, found.end_line) if found else (line, line) if line else (1, last)
    symbol = found.symbol if found else ""
    history = session.project.history
    head = history.commits.head
    if history.problem or not head:
        return CodeHistory(path, lines, symbol)
    text = "".join(row.stored.chunk.text for row in rows)
    try:
        former = ask_git(session.project.root, "cat-file", "blob", f"{head}:./{path}").decode("utf-8", "replace")
    except GitSilent as silent:
        if silent.kind is not Silence.FAILED:
            return CodeHistory(path, lines, symbol, note=str(silent))
        return CodeHistory(path, lines, symbol, note=f"{path}: {_NEW}")
    hunks = compare_texts(former, text) if former != text else []
    committed = map_back(hunks, lines)[1]
    if committed is None:
        return CodeHistory(path, lines, symbol, note=_NEW)
    try:
        number = history.commits.id_of(head)
        traced = LineHistory(session.project.root, history.commits)
        changes = traced.follow(number, path, committed)
        at = map_back(hunks, (line, line))[1] if line else None
        of_line = traced.follow(number, path, at, enough=1) if at and committed != at else []
    except GitSilent as silent:
        return CodeHistory(path, lines, symbol, note=str(silent))
    commits = history.commits.by_id([each.commit_id for each in (*changes, *of_line)])
    known = tuple((commits[each.commit_id], each) for each in changes if each.commit_id in commits)
    line_commit = commits.get(of_line[0].commit_id) if of_line else None
    return CodeHistory(path, lines, symbol, known, line_commit)


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
