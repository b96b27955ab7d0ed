"""Reads the sections of rule documents from their chunks: a long section is cut into several windows."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

from rag_ls.model import Chunk
from rag_ls.rules.key_rules import KeyRule, key_rules
from rag_ls.rules.relevance import SectionTerms, read_terms
from rag_ls.rules.scopes import without_head
from rag_ls.storage import ChunkRow
from rag_ls.util.records import dataclass, replace

_TAG = re.compile(r"<[^<>]*>")
IMPORTING = ("agents.md", "claude.md", "gemini.md")
"""The documents of which the tools read what a word such as `@docs/style.md` names."""
_REFERENCE = re.compile(r"(?:[-*+] )?@[\w./~-]+")
_IMPORT = re.compile(r"(?<![\w@/.`])@((?:\.{1,2}/)*[\w-][\w./-]*\.(?:md|mdx|mdc|markdown))\b")
_CODE = r"^[ \t>]*(?P<fence>`{3,}|~{3,})[^`\n]*\n.*?(?:^[ \t>]*(?P=fence)|\Z)|`[^`\n]++`"
# A comment that begins a line ends with its mark or with the document; one within a line does not pass an empty line.
_COMMENT = re.compile(
    rf"(?P<code>{_CODE})|(?P<before>^[^\w\n`<]*)<!--.*?(?P<end>-->|\Z)"
    r"|<!--(?:(?!\n[ \t]*\n).)*?(?:(?P<inline>-->|\Z)|(?=\n[ \t]*\n))",
    re.DOTALL | re.MULTILINE,
)
# Of no width, or that turn the order of what follows; the joiners of Persian and of emoji are none of them. The regional
# flags of emoji end in tags, and a letter has one selector of its variant: more of them hide a text.
_UNSEEN = re.compile(
    "(?P<flag>\U0001f3f4[\U000e0061-\U000e007a]{3,5}\U000e007f)|[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
    "|(?<=[\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)


@dataclass(frozen=True, slots=True)
class Window:
    """A window of a rule document with what was read of it, once for a question."""

    row: ChunkRow
    terms: SectionTerms
    key_rules: tuple[KeyRule, ...]
    """With their lines in the document."""


def read_window(row: ChunkRow) -> Window:
    """Read a window, after the line that opens the fence in which it begins."""
    chunk = row.stored.chunk
    text = chunk.overlap + chunk.text
    first_line = chunk.start_line - chunk.overlap.count("\n")
    return Window(row, read_terms(text), key_rules(text, is_yaml=chunk.language == "yaml", first_line=first_line))


def says_something(text: str) -> bool:
    """Whether a section holds more than headings, comments, marks, and names of documents to read in its place."""
    lines = (_TAG.sub("", line).strip() for line in text.splitlines())
    return any(
        line and not line.startswith("#") and any(map(str.isalnum, line)) and not _REFERENCE.fullmatch(line)
        for line in lines
    )


def find_imports(path: str, text: str) -> list[str]:
    """The documents that a document of rules imports, as `@docs/style.md`, by their paths in the project."""
    named = _IMPORT.findall(_COMMENT.sub("", text)) if "@" in text else ()
    found = dict.fromkeys(posixpath.normpath(posixpath.join(posixpath.dirname(path), each)) for each in named)
    return [each for each in found if not each.startswith("../")]


def read_visible(rows: Iterable[ChunkRow]) -> Iterator[ChunkRow]:
    """The windows of documents as people see them: without front matter, comments of HTML and unseen characters.

    A comment may go on in the next window. It becomes empty lines, so that what follows keeps its place in the document.
    """
    is_open, next_window = False, (0, 0)
    for row in sorted(rows, key=lambda row: (row.document_id, row.stored.chunk.ordinal)):
        chunk = row.stored.chunk
        if chunk.language == "yaml":
            yield row
            continue
        head, window = _cut_head(chunk), (row.document_id, chunk.ordinal)
        visible, is_open = _drop_hidden(head, is_open=is_open and window == next_window)
        next_window = (row.document_id, chunk.ordinal + 1)
        yield row if visible is chunk else replace(row, stored=replace(row.stored, chunk=visible))


def _drop_hidden(chunk: Chunk, *, is_open: bool) -> tuple[Chunk, bool]:
    """A window without what is hidden, and whether a comment goes on after it; its overlap may open a fence."""
    before = "<!--" if is_open else chunk.overlap
    given = before + chunk.text
    if "<!--" not in given and given.isascii():
        return chunk, False
    ends = [match["end"] if match["inline"] is None else match["inline"] for match in _COMMENT.finditer(given)]
    overlap = _show(before)
    text = _show(given).removeprefix(overlap)
    return replace(chunk, text=text, overlap=overlap), ends[-1:] == [""]


def _show(text: str) -> str:
    return _UNSEEN.sub(lambda match: match["flag"] or "", _COMMENT.sub(_show_match, text))


def _show_match(match: re.Match[str]) -> str:
    """Code, and `<!--` in a paragraph without an end, are seen; of a comment, its empty lines."""
    if match["code"] is not None or (match["end"] is None and match["inline"] is None):
        return match[0]
    return (match["before"] or "") + "\n" * match[0].count("\n")


def _cut_head(chunk: Chunk) -> Chunk:
    """A window without the front matter of its document."""
    text = without_head(chunk.text)
    if chunk.ordinal or len(text) == len(chunk.text):
        return chunk
    head = chunk.text[: len(chunk.text) - len(text)]
    return replace(
        chunk, text=text, start_line=chunk.start_line + head.count("\n"),
        start_byte=chunk.start_byte + len(head.encode("utf-8", "surrogatepass")),
    )  # fmt: skip


def section_of(chunk: Chunk) -> tuple[str, str, int]:
    """The section that a window is of: a heading's, or a rule of YAML. Other text has none: each window is for itself."""
    section = find_rule_key(chunk) if chunk.language == "yaml" else chunk.symbol
    return chunk.path, section, -1 if section else chunk.ordinal


def find_rule_key(chunk: Chunk) -> str:
    """`rules.ID` of a rule of YAML, one of whose keys the chunk holds; empty for other chunks."""
    rules, _, rest = chunk.symbol.partition(".")
    is_rule = chunk.language == "yaml" and rules == "rules" and rest
    return f"{rules}.{rest.partition('.')[0]}" if is_rule else ""
