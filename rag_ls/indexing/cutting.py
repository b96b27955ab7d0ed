"""Reads a file and cuts it into chunks that can be stored. The result depends on the file and the settings alone.

This runs in processes that may die (`cutters`).
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rag_ls.chunking import Budget, Cut, approximate_token_offsets, cut, cut_rules, embedding_text, recognise, rule_kind
from rag_ls.errors import StoreError
from rag_ls.indexing.files import FAILED, FileRules, Rejected, Source, file_state, read_source
from rag_ls.languages import holds_language
from rag_ls.model import Outline
from rag_ls.storage.records import DISK, DocumentRecord, FileState, NewChunk
from rag_ls.storage.terms import columns_of
from rag_ls.util.paths import compose
from rag_ls.util.records import dataclass, replace

# Raise this when chunks or outlines change: documents cut by another version are then cut again.
CHUNKER_VERSION = 21


@dataclass(frozen=True, slots=True)
class Cutting:
    """The settings by which documents are cut; `fingerprint` changes when their chunks would.

    Tokens are counted approximately: a model's own tokenizer takes longer than all the rest of cutting.
    """

    budget: Budget
    by_lines: bool = False
    """Windows of lines, whatever the language."""
    languages: tuple[str, ...] = ()
    """The languages to index; empty for all."""
    rules: FileRules = FileRules()

    @property
    def fingerprint(self) -> str:
        """Everything that chunks depend on besides the documents."""
        return f"{CHUNKER_VERSION}:{self.budget}:{self.by_lines}:{','.join(self.languages)}:{self.rules}"

    def language_of(self, path: str, text: str) -> str | None:
        """The language of a document: as the user's rules name it, else as its name and text say."""
        return self.rules.language_of(path) or recognise(path, text)

    def refuses(self, path: str, language: str) -> str:
        """The reason why a document in a language is not indexed; empty where it is."""
        wanted = not self.languages or any(holds_language(each, language, path) for each in self.languages)
        return "" if wanted else "language not enabled"


@dataclass(frozen=True, slots=True)
class CutFile:
    """A document with its chunks and outline, ready to be stored."""

    record: DocumentRecord
    chunks: list[NewChunk]
    outline: Outline
    uses: bytes = b""
    """The uses of names in it, packed (`chunking.read_uses`)."""
    ended: str = ""
    """The reason why it was cut by lines although its language has a grammar: what parsing it did to a process."""


@dataclass(frozen=True, slots=True)
class Job:
    """A file to read and cut."""

    path: str
    known: DocumentRecord | None = None
    """The indexed document, if any: a file with the same text is not cut again."""
    ended: str = ""
    """The harm that parsing the file has just done to a process: it is now cut by lines."""


Ended = Mapping[str, str]
"""The texts, by their SHA-256, that must not be parsed, and what parsing each did to its process."""


@dataclass(frozen=True, slots=True)
class Tree:
    """The settings by which the files of a project are read and cut."""

    root: Path
    max_file_bytes: int
    cutting: Cutting
    ended: Ended


Outcome = CutFile | DocumentRecord | Rejected
"""The result for a file: cut chunks; an unchanged document with its new state; or a rejection."""


def cut_batch(tree: Tree, jobs: Sequence[Job]) -> list[Outcome]:
    """Read and cut some files; one that cannot be cut does not fail the others."""
    outcomes: list[Outcome] = []
    for job in jobs:
        try:
            outcomes.append(read_and_cut(tree, job))
        except StoreError:
            # The failure says nothing about the file.
            raise
        except Exception as error:
            print(f"{job.path} cannot be indexed: {error!r}", file=sys.stderr)
            outcomes.append(failed(tree.root, job.path, type(error).__name__))
    return outcomes


def read_and_cut(tree: Tree, job: Job) -> Outcome:
    """Read one of a project's files, and cut it if it is new."""
    source = read_source(tree.root, job.path, limit=tree.max_file_bytes, rules=tree.cutting.rules)
    if isinstance(source, Rejected):
        return source
    language = tree.cutting.language_of(job.path, source.text) or "text"
    if refusal := tree.cutting.refuses(job.path, language):
        return Rejected(refusal, source.state)
    if job.known is not None and job.known.sha256 == source.sha256:
        return DocumentRecord(job.path, job.known.language, source.sha256, source.state)
    ended = {source.sha256: job.ended} if job.ended else tree.ended
    return cut_source(job.path, source, language, tree.cutting, ended)


def failed(root: Path, path: str, reason: str) -> Rejected:
    """The rejection of a file that could not be cut, with its present state."""
    looked_ns = time.time_ns()
    state = file_state(root / path)
    return Rejected(f"{FAILED}: {reason}", state or FileState(0, 0, 0, looked_ns), gone=state is None)


def cut_source(
    path: str, source: Source, language: str, cutting: Cutting, ended: Ended, session: str = DISK
) -> CutFile:
    """Cut a text, from disk or of an editing session."""
    reason = ended.get(source.sha256, "")
    found = _cut(path, source.text, language, replace(cutting, by_lines=True) if reason else cutting)
    found = found if source.text.isascii() else _with_composed_names(found)
    chunks = [
        NewChunk(
            chunk,
            hashlib.sha256(embedding_text(chunk).encode("utf-8", "surrogatepass")).digest(),
            columns_of(path, chunk.symbol, chunk.signature, chunk.doc, chunk.text),
        )
        for chunk in found.chunks
    ]
    record = DocumentRecord(path, language, source.sha256, source.state, session, secret_lines=source.secret_lines)
    return CutFile(record, chunks, found.outline, found.uses, reason)


def _with_composed_names(found: Cut) -> Cut:
    """The same with names of declarations composed, so that they are found however somebody types them."""
    symbols = tuple(replace(symbol, name=compose(symbol.name)) for symbol in found.outline.symbols)
    chunks = [replace(chunk, symbol=compose(chunk.symbol)) for chunk in found.chunks]
    return replace(found, chunks=chunks, outline=replace(found.outline, symbols=symbols))


def _cut(path: str, text: str, language: str, cutting: Cutting) -> Cut:
    if not cutting.by_lines:
        by_syntax = cut_rules if rule_kind(path) else cut
        return by_syntax(text, path, language=language, budget=cutting.budget, token_offsets=approximate_token_offsets)
    found = cut(text, path, language=None, budget=cutting.budget, token_offsets=approximate_token_offsets)
    return Cut([replace(chunk, language=language) for chunk in found.chunks], found.outline)
