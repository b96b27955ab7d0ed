"""Reads a file and cuts it into chunks that can be stored. The result depends on the file and the settings alone.

Single files are cut in this process, many files in separate ones (`cutters`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

from rag_ls.chunking import Budget, Cut, approximate_token_offsets, cut, cut_rules, embedding_text, recognise, rule_kind
from rag_ls.indexing.files import Rejected, Source, file_state, read_source
from rag_ls.model import Outline
from rag_ls.storage import DISK, DocumentRecord, FileState, NewChunk, columns_of

# Raise this when chunks or outlines change: documents cut by another version are then cut again.
CHUNKER_VERSION = 3

# Kinds of the frames between `cutters` and its processes.
JOBS = b"j"
OUTCOMES = b"o"


@dataclass(frozen=True, slots=True)
class Cutting:
    """How documents are cut; `fingerprint` changes when their chunks would.

    Tokens are counted approximately: a model's own tokenizer takes longer than all the rest of cutting.
    """

    budget: Budget
    by_lines: bool = False
    """Windows of lines, whatever the language."""
    languages: tuple[str, ...] = ()
    """The languages to index; empty for all."""

    @property
    def fingerprint(self) -> str:
        """Everything that chunks depend on besides the documents."""
        return f"{CHUNKER_VERSION}:{self.budget}:{self.by_lines}:{','.join(self.languages)}"

    def refuses(self, language: str) -> str:
        """Why documents in a language are not indexed; empty where they are."""
        wanted = not self.languages or language in self.languages
        return "" if wanted else "language not enabled"


@dataclass(frozen=True, slots=True)
class CutFile:
    """A document with its chunks and outline, ready to be stored."""

    record: DocumentRecord
    chunks: list[NewChunk]
    outline: Outline


@dataclass(frozen=True, slots=True)
class Job:
    """A file to read and cut."""

    path: str
    known: DocumentRecord | None = None
    """The indexed document, if any: a file with the same text is not cut again."""


Outcome = CutFile | DocumentRecord | Rejected
"""The result for a file: cut chunks; an unchanged document with its new state; or a rejection."""


def read_and_cut(root: Path, job: Job, cutting: Cutting, limit: int) -> Outcome:
    """Read one of a project's files of at most `limit` bytes, and cut it if it is new."""
    source = read_source(root, job.path, limit=limit)
    if isinstance(source, Rejected):
        return source
    language = recognise(job.path, source.text) or "text"
    if refusal := cutting.refuses(language):
        return Rejected(refusal, source.state)
    if job.known is not None and job.known.sha256 == source.sha256:
        return DocumentRecord(job.path, job.known.language, source.sha256, source.state)
    return cut_source(job.path, source, language, cutting)


def failed(root: Path, path: str, reason: str) -> Rejected:
    """The rejection of a file that could not be cut, with its present state."""
    state = file_state(root / path)
    return Rejected(f"failed: {reason}", state or FileState(0, 0, 0, 0), gone=state is None)


def cut_source(path: str, source: Source, language: str, cutting: Cutting, session: str = DISK) -> CutFile:
    """Cut a text, from disk or of an editing session."""
    found = _cut(path, source.text, language, cutting)
    chunks = [
        NewChunk(
            chunk,
            hashlib.sha256(embedding_text(chunk).encode("utf-8", "surrogatepass")).digest(),
            columns_of(path, chunk.symbol, chunk.signature, chunk.doc, chunk.text),
        )
        for chunk in found.chunks
    ]
    return CutFile(DocumentRecord(path, language, source.sha256, source.state, session), chunks, found.outline)


def _cut(path: str, text: str, language: str, cutting: Cutting) -> Cut:
    if not cutting.by_lines:
        by_syntax = cut_rules if rule_kind(path) else cut
        return by_syntax(text, path, language=language, budget=cutting.budget, token_offsets=approximate_token_offsets)
    found = cut(text, path, language=None, budget=cutting.budget, token_offsets=approximate_token_offsets)
    return Cut([replace(chunk, language=language) for chunk in found.chunks], found.outline)
