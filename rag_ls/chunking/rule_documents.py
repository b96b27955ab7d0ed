"""Recognises the documents that hold a project's rules, and cuts them by heading and by key, each rule on its own."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

from rag_ls.chunking.chunker import Cut, cut
from rag_ls.chunking.document import Budget, Document, TokenOffsets, windows
from rag_ls.model import Chunk
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass, replace

RULE_TOKENS = 300
"""The most tokens of a section of rules that is kept whole."""
# If a key of a YAML file has more tokens, its section is cut at the inner keys and list items.
_LARGE_KEY_TOKENS = 80

SURVEY_MARKS = ("rag-ls counted ", "rag-ls wrote this file from the code")
"""Words near the beginning of a document that set-up wrote."""
_CONSTRAINTS = frozenset(
    {
        "architecture.yml", "architecture.yaml", "constraints.md", "claude.md", "agents.md", "gemini.md", "contributing.md",
        ".cursorrules", ".windsurfrules",
    }
)  # fmt: skip
# Folders with the rules of other tools, and with decisions, in this project or in a package of it.
_TOOLS = (
    r"(?i)(?:^|/)(?:\.(?:cursor|claude|windsurf|roo|continue|amazonq)/rules/.+\.mdc?|\.clinerules/.+\.md|\.kiro/steering/.+\.md"
    r"|\.junie/guidelines\.md|\.github/(?:copilot-instructions|instructions/.+\.instructions)\.md)$"
)
_DECISION = r"(?i)(?:^|/)(?:docs?/(?:architecture/)?(?:adrs?|decisions)|adrs?)/(?:.+/)?[^/]+\.(?:md|markdown)$"
# In small letters below the root, they are documentation: of agents, of a model, of a database's constraints.
_CAPITALS = frozenset({"agents.md", "claude.md", "gemini.md", "constraints.md"})
_PATTERN = r"(?i)(?:^|/)docs/patterns/(?:.+/)?[^/]+\.(?:md|markdown)$"
_ITEM_NAME = r"(?m)^\s*(?:-\s+)?(?:id|name|rule|title)\s*:\s*[\"']?([^\"'#\n]{1,80}?)[\"']?\s*(?:#.*)?$"
_KEY = r"^\s*+(?:-\s++)?[\"']?([\w./ -]{1,80}?)[\"']?\s*:(?:\s|$)"
_MAX_DEPTH = 6
_BEGINS = lazy_pattern(r"^[ \t]*(?:[-*+]|\d+[.)]|#{1,6})[ \t]")
_FENCE = lazy_pattern(r"^[ \t]*(?:>[ \t]*)?(`{3,}|~{3,})(.*)$")


class RuleKind(StrEnum):
    """The kinds of rule documents."""

    CONSTRAINT = "constraint"
    """A rule for the project, or for a folder: `ARCHITECTURE.yml`, `AGENTS.md`, `CONTRIBUTING.md`, `docs/adr/*.md`, `.cursor/rules`."""
    PATTERN = "pattern"
    """The way something is done here: `docs/patterns/*.md`."""


def rule_kind(path: str) -> RuleKind | None:
    """The kind of rules that a document holds, by its path; None for any other document."""
    folder, _, name = path.rpartition("/")
    is_named = name.lower() in _CONSTRAINTS and not (folder and name in _CAPITALS)
    if is_named or re.search(_TOOLS, path) or re.search(_DECISION, path):
        return RuleKind.CONSTRAINT
    return RuleKind.PATTERN if re.search(_PATTERN, path) else None


def is_surveyed(path: str, beginning: str) -> bool:
    """Whether a document of rules, by its path and its first lines, is what `rag-ls rules setup` wrote from the code."""
    return rule_kind(path) is not None and any(mark in beginning for mark in SURVEY_MARKS)


def cut_rules(text: str, path: str, *, language: str, budget: Budget, token_offsets: TokenOffsets) -> Cut:
    """As `cut`, for a document of rules: each section or key is a chunk of its own, however small."""
    found = cut(text, path, language=language, budget=budget, token_offsets=token_offsets)
    if not text.strip():
        return found
    document = Document.of(text, token_offsets)
    if language == "yaml":
        sections = _keys(document)
    else:
        starts = [(symbol.start_line, symbol.name, symbol.signature) for symbol in found.outline.symbols]
        sections = _sections(document, starts)
    size = Budget(min(RULE_TOKENS, budget.max_tokens), 0, 0)
    fences = () if language == "yaml" else tuple(_find_fences(document))
    chunks: list[Chunk] = []
    for section in sections:
        for start, end, opening in _windows(document, section, (size, budget), fences):
            described = {"symbol": section.name, "node_type": "section", "signature": section.signature}
            chunk = document.chunk(start, end, start, path=path, language=language, ordinal=len(chunks), **described)
            chunks.append(replace(chunk, overlap=opening))
    return Cut(chunks, found.outline)


def find_fenced_lines(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The ranges of lines (half-open) that are code between fences, the fences included; the last may lack its end."""
    start, mark = -1, ""
    for number, line in enumerate(lines):
        fence = _FENCE.match(line)
        if fence is None:
            continue
        if start < 0:
            # Three backticks on both sides are code within a line.
            if "`" not in fence[2]:
                start, mark = number, fence[1]
        elif fence[1].startswith(mark) and not fence[2].strip():
            yield start, number + 1
            start = -1
    if start >= 0:
        yield start, len(lines)


@dataclass(frozen=True, slots=True)
class _Section:
    start: int
    end: int
    """Half-open, in bytes."""
    name: str
    signature: str


@dataclass(frozen=True, slots=True)
class _Fence:
    """Code between fences, half-open, in bytes, and the line that opens it."""

    introduction: int
    """The start of the item or paragraph directly before it, or its own."""
    start: int
    end: int
    opening: str


def _find_fences(document: Document) -> Iterator[_Fence]:
    lines = [document.text(start, end) for start, end in _line_ranges(document)]
    for first, last in find_fenced_lines([line.rstrip("\r\n") for line in lines]):
        before = first
        while before > 0 and lines[before - 1].strip() and not _BEGINS.match(lines[before]):
            before -= 1
        introduction = int(document.lines[before])
        yield _Fence(introduction, int(document.lines[first]), _offset(document, last), lines[first])


def _windows(
    document: Document, section: _Section, sizes: tuple[Budget, Budget], fences: Sequence[_Fence]
) -> Iterator[tuple[int, int, str]]:
    """The windows of a section, by the budget of a window and that of code between fences, which is kept whole.

    Where it is longer, the line that opens it comes along with each window that begins within it, or its code would be read as
    prose.
    """
    size, whole = sizes
    start, opening = section.start, ""
    while start < section.end:
        _, end = next(windows(document, start, section.end, size, prose=True))
        around = next((fence for fence in fences if fence.start < end < fence.end), None) if end < section.end else None
        if around and around.start > start:
            end = around.introduction if around.introduction > start else around.start
            around = None
        elif around and around.start == start and document.size(start, around.end) <= whole.max_tokens:
            end, around = around.end, None
        yield start, end, opening
        start, opening = end, around.opening if around else ""


def _sections(document: Document, starts: list[tuple[int, str, str]]) -> Iterator[_Section]:
    """The text between headings. A heading with nothing below it belongs to the section that follows."""
    begin, name, signature = 0, "", ""
    for line, title, heading in starts:
        offset = int(document.lines[line - 1])
        body = document.text(begin, offset)
        if begin < offset and body.strip() and not _is_bare(body, signature):
            yield _Section(begin, offset, name, signature)
            begin = offset
        name, signature = title, heading
    yield _Section(begin, len(document.data), name, signature)


def _is_bare(body: str, heading: str) -> bool:
    """Whether a section holds its heading alone."""
    return bool(heading) and len([line for line in body.splitlines() if line.strip()]) == 1


def _keys(document: Document) -> Iterator[_Section]:
    """The keys of a YAML text, found by indentation: a text that does not parse is cut all the same."""
    lines = [document.text(int(start), int(end)) for start, end in _line_ranges(document)]
    for first, last, name in _blocks(document, lines, 0, len(lines), ""):
        start = int(document.lines[first])
        end = int(document.lines[last]) if last < len(lines) else len(document.data)
        yield _Section(start, end, name, "")


def _line_ranges(document: Document) -> Iterator[tuple[int, int]]:
    starts = [*document.lines.tolist(), len(document.data)]
    yield from itertools.pairwise(starts)


def _blocks(
    document: Document, lines: list[str], first: int, last: int, owner: str, depth: int = 0
) -> Iterator[tuple[int, int, str]]:
    """Ranges of lines (half-open) with their qualified keys; they partition `first`..`last`."""
    items = _items(lines, first, last)
    if not items:
        yield first, last, owner
        return
    edges = [first, *items[1:], last] if depth == 0 else [*([first] if items[0] > first else []), *items, last]
    for start, end in itertools.pairwise(edges):
        if start not in items and depth > 0:
            yield start, end, owner
            continue
        name = _name(lines, start, end, owner)
        head = next((at for at in range(start, end) if _is_content(lines[at])), start)
        large = document.size(int(document.lines[start]), _offset(document, end)) > _LARGE_KEY_TOKENS
        if large and depth < _MAX_DEPTH and head + 1 < end:
            inner = list(_blocks(document, lines, head + 1, end, name, depth + 1))
            # The key itself goes with the first entry below it.
            (_, inner_end, inner_name), *rest = inner
            yield start, inner_end, inner_name
            yield from rest
        else:
            yield start, end, name


def _offset(document: Document, line: int) -> int:
    return int(document.lines[line]) if line < len(document.lines) else len(document.data)


def _items(lines: list[str], first: int, last: int) -> list[int]:
    """The lines at which the outermost keys or list items of a range begin, comments directly before them included."""
    indents = {at: len(lines[at]) - len(lines[at].lstrip()) for at in range(first, last) if _is_content(lines[at])}
    if not indents:
        return []
    least = min(indents.values())
    starts = [at for at, indent in indents.items() if indent == least and _begins_item(lines[at])]
    return [_with_comments(lines, first, at) for at in starts]


def _begins_item(line: str) -> bool:
    return line.lstrip().startswith(("- ", "-\n")) or re.match(_KEY, line) is not None


def _with_comments(lines: list[str], first: int, at: int) -> int:
    while at > first and lines[at - 1].lstrip().startswith("#"):
        at -= 1
    return at


def _is_content(line: str) -> bool:
    stripped = line.strip()
    return bool(stripped) and not stripped.startswith("#") and stripped != "---"


def _name(lines: list[str], start: int, end: int, owner: str) -> str:
    head = next((lines[at] for at in range(start, end) if _is_content(lines[at])), "")
    if head.lstrip().startswith("-"):
        named = re.search(_ITEM_NAME, "".join(lines[start:end]))
        own = named[1].strip() if named else ""
    else:
        key = re.match(_KEY, head)
        own = key[1].strip() if key else ""
    return ".".join(filter(None, (owner, own)))
