"""Recognises selections that can be stored as a memory as they are: prose and comments, but not code."""

from __future__ import annotations

from rag_ls.util.patterns import lazy_pattern

# LSP's identifiers of languages, and ours. For an unknown language an editor sends none, or "plaintext".
_PROSE = frozenset(
    "markdown plaintext text rst restructuredtext asciidoc org mdx textile latex tex html git-commit mail".split()
)
_MARKER = lazy_pattern(r'^\s*(?:///?!?|/\*+!?|\*+/?|#+!?|--+|;+|%+|<!--|"""|\'\'\'|\{-|\(\*)\s?')
_END = lazy_pattern(r'(?:(?<!\*)\*+/|-->|"""|\'\'\'|-\}|\*\))\s*$')
_CLOSING = ("*/", "-->", '"""', "'''")
_OPENS_BLOCK = lazy_pattern(r'^\s*(?:/\*|<!--|[rRuU]?"""|[rRuU]?\'\'\'|\{-|\(\*)')


def note_in(text: str, language: str) -> str:
    """The selected text as a note, without comment marks; empty for code."""
    if not language or language.lower() in _PROSE:
        return text.strip()
    lines = [line for line in text.strip().split("\n") if line.strip()]
    bare = [_END.sub("", _MARKER.sub("", line)).strip() for line in lines]
    is_block = bool(lines) and bool(_OPENS_BLOCK.match(lines[0])) and _closes(lines)
    if not is_block and not all(_MARKER.match(line) for line in lines):
        return ""
    if any(mark in line for line in bare for mark in _CLOSING):
        return ""
    return "\n".join(line for line in bare if line)


def _closes(lines: list[str]) -> bool:
    """Whether a block comment or docstring ends in the last of its lines."""
    last = _MARKER.sub("", lines[0]) if len(lines) == 1 else lines[-1]
    return bool(_END.search(last))
