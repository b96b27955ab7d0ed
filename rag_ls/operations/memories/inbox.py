"""Operations on the inbox: memories that were proposed, kept, edited or dropped; and what an agent's session begins with."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path

from rag_ls.engine import MemoryChange, ProjectSession, resolve_anchor
from rag_ls.errors import InvalidRequest
from rag_ls.memory import (
    DROPPED,
    KEPT,
    NEVER,
    WHY,
    MemoryProposal,
    NewMemory,
    propose_from_comments,
    propose_from_commits,
    propose_from_session,
    read_sentences,
)
from rag_ls.model import AnchorState, Memory, MemoryFilters, MemoryOrder, Scope
from rag_ls.operations.code.budget import count_tokens
from rag_ls.operations.code.history import wait_for_history
from rag_ls.operations.fields import argument, optional
from rag_ls.operations.memories.memory_records import AnchorRecord, make_anchor_record, shorten_memory
from rag_ls.operations.memories.storing import StoredAnswer, make_stored_answer
from rag_ls.operations.operation import WRITES, Caller, Changed, mark_changed, operation
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import quote

_DEFAULT_PAGE = 20
_MAX_PAGE = 1_000
_MAX_ANCHORED = 200
_SCANNED_COMMITS = 2_000
_MAX_PER_SCAN = 50
_CONTEXT_TOKENS = 600
_MAX_SHOWN, _MAX_LINE_CHARACTERS = 8, 240
_RECENT_COMMITS = 5


@dataclass(frozen=True, slots=True)
class ListInbox:
    k: int | None = argument(None, "proposals at most", least=1, flag="-k")
    offset: int | None = argument(None, "how many to pass over", least=0)
    project: str = argument("", "the name or root of a project")


@dataclass(frozen=True, slots=True)
class InboxRecord:
    """A memory that was proposed, or one that should be looked at again."""

    id: str
    content: str
    origin: str
    why: str
    proposed_at: str
    kind: str = "proposal"
    """`proposal`, or `drifted` for a memory whose code has changed."""
    anchor: AnchorRecord | None = optional()


@dataclass(frozen=True, slots=True)
class InboxPage:
    """Proposals, the newest first, after the memories whose code has changed."""

    proposals: tuple[InboxRecord, ...]
    total: int
    next_offset: int | None = optional()


@operation(needs_code=False)
def list_inbox(caller: Caller, request: ListInbox) -> InboxPage:
    """The memories that were proposed and wait, and those that should be confirmed."""
    view = caller.memory_projects.find_one(request.project)
    limit, offset = min(request.k or _DEFAULT_PAGE, _MAX_PAGE), request.offset or 0
    with view.project.memories.open_inbox() as inbox:
        page, total = inbox.list_page(limit, offset)
    drifted = [] if offset else [*_find_drifted(view)]
    following = offset + len(page)
    return InboxPage(
        (*drifted, *map(_make_record, page)), total + len(drifted), next_offset=following if following < total else None
    )


def _find_drifted(view: ProjectSession) -> Iterator[InboxRecord]:
    """The memories of the project whose code has changed since they were stored."""
    for memory in view.memories.of(Scope.PROJECT).find(MemoryFilters(anchored=True), limit=_MAX_ANCHORED):
        now = resolve_anchor(view, memory)
        if now.anchor is not None and now.anchor.state is AnchorState.DRIFTED:
            yield replace(_make_record(now), kind="drifted", origin="", why="its code has changed: does it still hold?")


def _make_record(memory: Memory) -> InboxRecord:
    return InboxRecord(
        memory.id, memory.content, memory.source_uri or "", str(memory.metadata.custom.get(WHY) or ""), memory.created_at,
        anchor=make_anchor_record(memory.anchor),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class KeepProposal:
    id: str = argument(doc="a proposal's id, or its first 4 or more characters")
    content: str | None = argument(None, "another text for it")
    project: str = argument("", "the name or root of a project")


@operation(effects=WRITES, changes=MemoryChange.STORED, needs_code=False)
def keep_proposal(caller: Caller, request: KeepProposal) -> Changed[StoredAnswer]:
    """Make a proposal a memory of the project, as it is or with another text."""
    view = caller.memory_projects.find_one(request.project)
    with view.project.memories.open_inbox() as inbox:
        proposal = inbox.get(request.id)
        custom = {key: value for key, value in proposal.metadata.custom.items() if key != WHY}
        new = NewMemory(
            content=proposal.content if request.content is None else request.content,
            scope=Scope.PROJECT,
            metadata=replace(proposal.metadata, custom=custom),
            memory_type=proposal.memory_type,
            source_uri=proposal.source_uri,
            anchor=proposal.anchor,
        )
        stored = view.memories.store(new, view.project.model())
        inbox.resolve(proposal.id, KEPT)
    return mark_changed(make_stored_answer(stored), view, Scope.PROJECT)


@dataclass(frozen=True, slots=True)
class DropProposals:
    ids: tuple[str, ...] = argument(doc="of proposals")
    never: bool = argument(False, "propose nothing that says nearly the same again")
    project: str = argument("", "the name or root of a project")


@dataclass(frozen=True, slots=True)
class DroppedAnswer:
    """The proposals that were dropped."""

    dropped: tuple[str, ...]


@operation(effects=WRITES, needs_code=False)
def drop_proposals(caller: Caller, request: DropProposals) -> DroppedAnswer:
    """Take proposals out of the inbox; the same text is not proposed again."""
    view = caller.memory_projects.find_one(request.project)
    with view.project.memories.open_inbox() as inbox:
        # Look all of them up first: a wrong id drops nothing.
        found = [inbox.get(each).id for each in request.ids]
        for each in found:
            inbox.resolve(each, NEVER if request.never else DROPPED)
    return DroppedAnswer(tuple(found))


@dataclass(frozen=True, slots=True)
class ProposeMemories:
    transcript: str = argument("", "a transcript of an agent's session; without one, commits and comments are read")
    project: str = argument("", "the name or root of a project")


@operation(effects=WRITES, manages=True)
def propose_memories(caller: Caller, request: ProposeMemories) -> InboxPage:
    """Propose memories of what a session's transcript, or the project's commits and comments say."""
    view = caller.memory_projects.find_one(request.project)
    if request.transcript:
        file = Path(request.transcript)
        try:
            proposals: Iterable[MemoryProposal] = propose_from_session(
                read_sentences(file), f"session {file.stem[:40]}"
            )
        except OSError as error:
            raise InvalidRequest(f"{file} cannot be read: {error.strerror or error}; name a transcript") from error
    else:
        wait_for_history([view])
        commits = propose_from_commits(view.project.history.commits.newest(_SCANNED_COMMITS))
        proposals = (*islice(_propose_from_files(view), _MAX_PER_SCAN), *islice(commits, _MAX_PER_SCAN))
    with view.project.memories.open_inbox() as inbox:
        added = inbox.propose(proposals)
    return InboxPage(tuple(map(_make_record, added)), len(added))


def _propose_from_files(view: ProjectSession) -> Iterator[MemoryProposal]:
    store = view.store
    for document in store.documents().values():
        yield from propose_from_comments(document.path, store.chunks.text_of(document.id))


@dataclass(frozen=True, slots=True)
class OfProject:
    project: str = argument("", "the name or root of a project")


@dataclass(frozen=True, slots=True)
class SessionContext:
    """The text with which an agent's session begins, in at most 600 tokens."""

    text: str


@operation(needs_code=False)
def session_context(caller: Caller, request: OfProject) -> SessionContext:
    """The memories about the latest commits' files and those that are used most, and these commits."""
    view = caller.memory_projects.find_one(request.project)
    commits = view.project.history.commits.newest(_RECENT_COMMITS)
    chosen = _choose_memories(view, {path for each in commits for path in each.paths})
    memories = [f"- {quote(shorten_memory(each).content, _MAX_LINE_CHARACTERS)}" for each in chosen]
    history = [f"- {each.hash[:10]} {quote(each.subject, _MAX_LINE_CHARACTERS)}" for each in commits]
    with view.project.memories.open_inbox() as inbox:
        waiting = inbox.count()
    parts = (
        ("Memories of this project (search_memory finds more):", memories),
        ("Latest commits (explain_history tells why code is so):", history),
        ("", [f"{waiting} proposed memories wait: `rag-ls inbox`."] if waiting else []),
    )
    return SessionContext(_fit_parts(parts))


def _choose_memories(view: ProjectSession, paths: Collection[str]) -> list[Memory]:
    """The memories about these files, then those that are used most."""
    store = view.memories.of(Scope.PROJECT)
    used = store.find(MemoryFilters(branch=view.branch), MemoryOrder.USES, _MAX_ANCHORED)
    about = [each for each in used if each.anchor is not None and each.anchor.path in paths]
    chosen = {each.id: each for each in (*about[: _MAX_SHOWN // 2], *used)}
    return list(chosen.values())[:_MAX_SHOWN]


def _fit_parts(parts: Iterable[tuple[str, list[str]]]) -> str:
    """The headed lines that fit the budget."""
    kept, room = list[str](), _CONTEXT_TOKENS
    for head, lines in parts:
        for number, line in enumerate(lines):
            piece = f"{head}\n{line}" if head and not number else line
            room -= count_tokens(piece)
            if room >= 0:
                kept.append(piece)
    return "\n".join(kept)
