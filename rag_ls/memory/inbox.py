"""The inbox: memories that were proposed, and that nobody has kept yet. They are no memories: no question finds them."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from rag_ls.config import Settings
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.memory.memories import MIN_PREFIX_CHARACTERS
from rag_ls.memory.new_memories import check_content, refuse_secrets
from rag_ls.model import Anchor, Memory, MemoryFilters, MemoryMetadata, MemoryType, Scope
from rag_ls.project import make_private_folder
from rag_ls.search import note_terms
from rag_ls.storage import INBOX_FOLDER, MemoryStore, open_memories
from rag_ls.util.records import dataclass
from rag_ls.util.text import content_hash, utc_stamp

KEPT, DROPPED, NEVER, EXPIRED = "kept", "dropped", "never again", "expired"
WHY = "why"
"""The key in `custom` that says why a text is proposed."""
_EXPIRES = timedelta(days=30)
_MAX_WAITING = 20_000
# Two texts that share so many of their words say the same.
_MIN_SHARED_WORDS = 0.7


@dataclass(frozen=True, slots=True)
class MemoryProposal:
    """A text that may be worth remembering."""

    content: str
    origin: str
    """The source: a session, a commit, a comment, a file."""
    why: str = ""
    """The reason why it is proposed, in a few words."""
    memory_type: MemoryType = MemoryType.SEMANTIC
    anchor: Anchor | None = None


class MemoryInbox:
    """The proposals of one project."""

    def __init__(self, store: MemoryStore, memories: MemoryStore, now: datetime) -> None:
        self._store = store
        self._memories = memories
        self._now = utc_stamp(now)
        # A proposal is never changed, so that its last change is its making.
        for each in store.find(MemoryFilters(until=utc_stamp(now - _EXPIRES))):
            store.delete(each.id, reason=EXPIRED)

    def propose(self, proposals: Iterable[MemoryProposal]) -> list[Memory]:
        """Add proposals; returns those that are new.

        Left out are secrets, texts that say nothing, what is remembered or waits already, and what was dropped.
        """
        waiting, gone = self._store.all(), self._store.deleted(-1)[0]
        refused = {each.memory.content_hash for each in gone if each.reason in (KEPT, DROPPED, NEVER)}
        alike = [_words(each.content) for each in (*waiting, *self._memories.all())]
        alike += [_words(each.memory.content) for each in gone if each.reason == NEVER]
        added: list[Memory] = []
        for proposal in proposals:
            memory = self._make_memory(proposal)
            if memory is None or memory.content_hash in refused or len(waiting) + len(added) >= _MAX_WAITING:
                continue
            words = _words(memory.content)
            if any(_share(words, others) >= _MIN_SHARED_WORDS for others in alike):
                continue
            self._store.insert(memory)
            alike.append(words)
            added.append(memory)
        return added

    def count(self) -> int:
        """The number of proposals."""
        return self._store.count()

    def list_page(self, limit: int = -1, offset: int = 0) -> tuple[list[Memory], int]:
        """A page of the proposals, the newest first, and their number."""
        return self._store.find(limit=offset + limit if limit >= 0 else -1)[offset:], self._store.count()

    def get(self, proposal_id: str) -> Memory:
        """A proposal by its id, or at least the first four characters of it. Raises `NotFound`."""
        proposal_id = proposal_id.strip()
        if found := self._store.get(proposal_id):
            return found
        ids = self._store.ids_starting(proposal_id) if len(proposal_id) >= MIN_PREFIX_CHARACTERS else []
        if len(ids) == 1 and (found := self._store.get(ids[0])):
            return found
        problem = f"{len(ids)} proposals have ids that begin with" if ids else "no proposal has the id"
        raise NotFound(f"{problem} {proposal_id[:40]!r}; `rag-ls inbox` shows them")

    def resolve(self, proposal_id: str, outcome: str) -> None:
        """Take a proposal out, for the reason `outcome`: `KEPT`, `DROPPED` or `NEVER`."""
        self._store.delete(proposal_id, reason=outcome)

    def _make_memory(self, proposal: MemoryProposal) -> Memory | None:
        metadata = MemoryMetadata(
            source_file=proposal.anchor.path if proposal.anchor else None,
            custom={WHY: proposal.why} if proposal.why else {},
        )
        try:
            content = check_content(proposal.content)
            refuse_secrets(content, metadata, proposal.origin)
        except InvalidRequest:
            return None
        return Memory(
            id=str(uuid.uuid4()), content=content, scope=Scope.PROJECT, metadata=metadata, memory_type=proposal.memory_type,
            created_at=self._now, updated_at=self._now, version=1, content_hash=content_hash(content),
            source_uri=proposal.origin, anchor=proposal.anchor,
        )  # fmt: skip


@contextmanager
def open_inbox(folder: Path, memories: MemoryStore, settings: Settings, now: datetime) -> Iterator[MemoryInbox]:
    """The inbox beside the memories in a folder, as long as it is used. Raises `StoreUnavailable`, and `OSError`."""
    make_private_folder(folder / INBOX_FOLDER)
    store = open_memories(folder / INBOX_FOLDER, Scope.PROJECT, settings)
    try:
        yield MemoryInbox(store, memories, now)
    finally:
        store.close()


def _words(text: str) -> frozenset[str]:
    return frozenset(note_terms(text))


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the words of two texts that both have."""
    return len(one & other) / max(1, len(one | other))
