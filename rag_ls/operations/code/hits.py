"""Chunks as answers show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_ls import model
from rag_ls.engine.published import PublishedCode
from rag_ls.engine.session import ProjectSession
from rag_ls.model import Chunk, Hit, StoredChunk
from rag_ls.operations.fields import optional
from rag_ls.operations.stats import Stats
from rag_ls.project import is_guest

Source = ProjectSession | PublishedCode
"""A source that is searched."""


@dataclass(frozen=True, slots=True)
class CodeRecord:
    """A chunk, or more of its document around it."""

    kind: str
    id: str
    path: str
    start_line: int
    end_line: int
    language: str
    symbol: str
    node_type: str
    score: float
    matched_by: tuple[str, ...]
    freshness: str | None
    file: str = optional("")
    """The place where an agent's own tools find the document: absolute, or a URI."""
    scope: str = optional("")
    """The declaration that it is a part of, where its text does not say."""
    why: str = optional("")
    """The evidence for it, in a few words."""
    context: str = optional("")
    text: str | None = optional()
    truncated: bool = optional(False)
    note: str = optional("")
    project: str = optional("")
    """The root, where several projects answer; the name of a published one."""


@dataclass(frozen=True, slots=True)
class CodeAnswer:
    """Chunks, best first."""

    query: str
    results: tuple[CodeRecord, ...]
    stats: Stats


def make_hit(source: Source, hit: Hit) -> CodeRecord:
    """A chunk with its score, its declaration's signature if its text does not show it, and its file, if it is here."""
    assert isinstance(hit.item, StoredChunk)
    chunk = hit.item.chunk
    record = CodeRecord(
        kind="chunk", id=hit.item.id, path=chunk.path, start_line=chunk.start_line, end_line=chunk.end_line,
        language=chunk.language, symbol=chunk.symbol, node_type=chunk.node_type, score=round(hit.score, 4),
        matched_by=hit.matched_by, freshness=hit.freshness.value if hit.freshness else None, scope=_find_scope(chunk),
        why=hit.why, text=chunk.text,
    )  # fmt: skip
    if isinstance(source, PublishedCode):
        return replace(record, project=source.name)
    return replace(record, file=locate_file(source, record.path))


def _find_scope(chunk: Chunk) -> str:
    """The signature of the declaration that a chunk is a part of, where its text does not show it."""
    if chunk.is_declaration or not chunk.symbol:
        return ""
    return "" if chunk.signature in " ".join(chunk.text.split()) else chunk.signature


def locate_file(session: ProjectSession, path: str) -> str:
    """The place of a document for an agent's own tools: an absolute path, or a URI if it is no file."""
    return path if is_guest(path, session.project.root) else str(session.project.root / path)


def pick_best(sources: Sequence[Source], answers: Sequence[model.SearchAnswer], k: int) -> tuple[CodeRecord, ...]:
    """The best `k` hits of the answers of several projects; each then names its project.

    Two projects may hold the same file: its hits in both are different ones.
    """
    hits = [(source, hit) for source, answer in zip(sources, answers, strict=True) for hit in answer.hits]
    best = sorted(hits, key=lambda item: -item[1].score)[:k]
    found = [(source, make_hit(source, hit)) for source, hit in best]
    if len(sources) == 1:
        return tuple(each for _, each in found)
    return tuple(replace(each, project=_name_source(source)) for source, each in found)


def _name_source(source: Source) -> str:
    """A project's root, or the name of one that is published."""
    return source.name if isinstance(source, PublishedCode) else str(source.project.root)
