"""Reads the sections of rule documents from their chunks: a long section is cut into several windows."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from rag_ls.model import Chunk
from rag_ls.rules.key_rules import KeyRule, key_rules, paragraphs_in
from rag_ls.rules.relevance import SectionTerms, read_terms
from rag_ls.rules.scopes import without_head
from rag_ls.rules.work import StatedWork, read_stated_work
from rag_ls.storage import ChunkRow

_TAG = re.compile(r"<[^<>]*>")
# Claude Code reads the document that such a line names.
_REFERENCE = re.compile(r"(?:[-*+] )?@[\w./~-]+")


@dataclass(frozen=True, slots=True)
class Window:
    """A window of a rule document with what was read of it, once for a question."""

    row: ChunkRow
    terms: SectionTerms
    work: StatedWork
    """The kinds of work that it speaks of."""
    key_rules: tuple[KeyRule, ...]
    """With their lines in the document."""


def read_window(row: ChunkRow) -> Window:
    """Read a window, after the line that opens the fence in which it begins."""
    chunk = row.stored.chunk
    text = chunk.overlap + chunk.text
    paragraphs = "\n".join(each.text for each in paragraphs_in(text))
    first_line = chunk.start_line - chunk.overlap.count("\n")
    return Window(
        row=row, terms=read_terms(text), work=read_stated_work(chunk.symbol.rsplit(" > ", 1)[-1], paragraphs),
        key_rules=key_rules(text, is_yaml=chunk.language == "yaml", first_line=first_line),
    )  # fmt: skip


def says_something(text: str) -> bool:
    """Whether a section holds more than headings, comments, marks, and names of documents to read in its place."""
    lines = (_TAG.sub("", line).strip() for line in text.splitlines())
    return any(
        line and not line.startswith("#") and any(map(str.isalnum, line)) and not _REFERENCE.fullmatch(line)
        for line in lines
    )


def cut_head(row: ChunkRow) -> ChunkRow:
    """A row without the front matter of its document."""
    chunk = row.stored.chunk
    text = without_head(chunk.text)
    if chunk.ordinal or len(text) == len(chunk.text):
        return row
    head = chunk.text[: len(chunk.text) - len(text)]
    body = replace(
        chunk, text=text, start_line=chunk.start_line + head.count("\n"),
        start_byte=chunk.start_byte + len(head.encode("utf-8", "surrogatepass")),
    )  # fmt: skip
    return replace(row, stored=replace(row.stored, chunk=body))


def section_of(chunk: Chunk) -> tuple[str, str, int]:
    """The section that a window is of: a heading's, or a rule of YAML. Other text has none: each window is for itself."""
    section = find_rule_key(chunk) if chunk.language == "yaml" else chunk.symbol
    return chunk.path, section, -1 if section else chunk.ordinal


def find_rule_key(chunk: Chunk) -> str:
    """`rules.ID` of a rule of YAML, one of whose keys the chunk holds; empty for other chunks."""
    rules, _, rest = chunk.symbol.partition(".")
    is_rule = chunk.language == "yaml" and rules == "rules" and rest
    return f"{rules}.{rest.partition('.')[0]}" if is_rule else ""
