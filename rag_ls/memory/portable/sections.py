"""A Markdown text cut along its headings, and long sections along their list items and paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

# About as many characters as an embedding model reads at once; a section up to this length stays whole.
MAX_SHORT_CHARACTERS = 800
_MIN_PIECE_CHARACTERS = 80
_MAX_SECTION_CHARACTERS = 50_000
_HEADING = lazy_pattern(r" {0,3}(#{1,6})\s++(.*)$")
_FENCE = lazy_pattern(r"\s*(`{3,}|~{3,})")
_ITEM = lazy_pattern(r" ?(?:[-*+]|\d{1,9}[.)])\s+\S")
# The characters of lines that only divide.
_RULES = "-*_ \n"


@dataclass(frozen=True, slots=True)
class Block:
    """A list item with its nested lines, or a paragraph; either with the code that follows it."""

    text: str
    is_item: bool
    apart: bool
    """Whether a blank line is before it."""


@dataclass(frozen=True, slots=True)
class Section:
    """The text below one heading, up to the next one."""

    path: tuple[str, ...]
    """The headings above it, outermost first, then its own."""
    blocks: tuple[Block, ...]


def sections(text: str) -> list[Section]:
    """The non-empty sections of a text; text before the first heading has an empty path."""
    found, path, lines, fence = list[Section](), list[tuple[int, str]](), list[str](), ""
    for line in re.split(r"\r\n|\r|\n", text):
        fence = _fence_after(line, fence)
        heading = None if fence else _HEADING.match(line)
        if heading is None:
            lines.append(line)
            continue
        found.append(Section(tuple(title for _, title in path), _blocks(lines)))
        lines, level = [], len(heading[1])
        path = [(above, title) for above, title in path if above < level] + [
            (level, heading[2].rstrip().rstrip("#").rstrip())
        ]
    found.append(Section(tuple(title for _, title in path), _blocks(lines)))
    return [section for section in found if section.blocks]


def join_blocks(blocks: Sequence[Block]) -> str:
    """The text of blocks, with their original separation."""
    text = "".join(("\n\n" if block.apart else "\n") + block.text for block in blocks)
    return text.lstrip("\n")


def pieces(blocks: Sequence[Block], short: int = MAX_SHORT_CHARACTERS) -> list[str]:
    """Join the blocks of a section into texts of sensible size: one text if it is short, else a few blocks each.

    An introductory line (it ends with a colon) stays with the next block, and a small rest with the previous text.
    """
    groups: list[list[Block]] = []
    for block in blocks:
        if groups and _belongs(groups[-1], block, short):
            groups[-1].append(block)
        else:
            groups.append([block])
    if len(groups) > 1 and len(join_blocks(groups[-1])) < _MIN_PIECE_CHARACTERS:
        rest = groups.pop()
        groups[-1] += rest
    return [piece for group in groups for piece in _cut(join_blocks(group))]


def _belongs(group: Sequence[Block], block: Block, short: int) -> bool:
    together = sum(len(item.text) for item in group) + len(block.text)
    return together <= short or (len(group) == 1 and group[0].text.endswith(":") and len(group[0].text) < short)


def _fence_after(line: str, fence: str) -> str:
    """The code fence that is open after a line, given the one open before it; empty for none."""
    match = _FENCE.match(line)
    if match is None:
        return fence
    if not fence:
        return match[1]
    return "" if match[1].startswith(fence) and not line.strip().strip(fence[0]) else fence


def _blocks(lines: Sequence[str]) -> tuple[Block, ...]:
    groups: list[list[str]] = []
    fence = ""
    for line in lines:
        if groups and (fence or not line.strip() or not _begins(line, groups[-1])):
            groups[-1].append(line)
        elif line.strip():
            groups.append([line])
        fence = _fence_after(line, fence)
    blocks = [_block(group, before[-1]) for before, group in pairwise([[""], *groups])]
    return tuple(block for block in blocks if _without_comments(block.text).strip(_RULES))


def _without_comments(text: str) -> str:
    kept, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        kept.append(text[at:start])
        at = end + 3
    return "".join((*kept, text[at:]))


def _block(lines: Sequence[str], before: str) -> Block:
    text = "\n".join(lines).rstrip()
    return Block(text, _ITEM.match(text) is not None, not before.strip())


def _begins(line: str, current: Sequence[str]) -> bool:
    """Whether a line begins a new block. Code and indented lines belong to the block before them."""
    if _ITEM.match(line):
        return True
    return not current[-1].strip() and not line.startswith((" ", "\t")) and not _FENCE.match(line)


def _cut(text: str) -> Iterator[str]:
    """Cut a text that is too long for one memory, at line ends if possible."""
    while len(text) > _MAX_SECTION_CHARACTERS:
        end = text.rfind("\n", 1, _MAX_SECTION_CHARACTERS) + 1 or _MAX_SECTION_CHARACTERS
        yield text[:end].strip("\n")
        text = text[end:]
    if text.strip():
        yield text
