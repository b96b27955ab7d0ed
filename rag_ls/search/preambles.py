"""Tells chunks that hold only imports or a licence: they share words with everything, and answer nothing."""

from __future__ import annotations

import re

from rag_ls.model import Chunk
from rag_ls.search.roles import is_data, is_docs
from rag_ls.util.patterns import lazy_pattern

_LICENCE = lazy_pattern(r"copyright|licen[sc]e|spdx", re.I)
_COMMENT = lazy_pattern(r"\s*(?:#(?!\s*include)|//|/?\*|--|;|\"use )")
_IMPORT = lazy_pattern(
    r"\s*(?:(?:import|from|use|using|require|require_once|require_relative|include|package|namespace|pub use|extern crate)\b"
    r"|#\s*include|(?:const|let|var)\b.*\brequire\(|export\b.*\bfrom\b|<\?php|[)}\]])"
)
# A name or a path in a longer import.
_PART = lazy_pattern(
    r"\s*(?:(?:type )?[\w$.*:{}\\, ]+(?: as \w+)?,|[\w$]+(?: as \w+)?|[\w.]*\s*[\"'][^\"']*[\"'][,;]?)\s*$"
)
# More lines of comments, without a licence among them, say what a file is for.
_MAX_REMARKS = 2


def is_preamble(chunk: Chunk) -> bool:
    """Whether a chunk of code holds nothing but imports and a licence, or one of these."""
    if chunk.symbol or not _is_code(chunk):
        return False
    lines = [line for line in chunk.text.splitlines() if line.strip()]
    others = [line for line in lines if not _COMMENT.match(line)]
    if len(lines) - len(others) > _MAX_REMARKS and not _LICENCE.search(chunk.text):
        return False
    return (not others or bool(_IMPORT.match(others[0]))) and all(
        _IMPORT.match(line) or _PART.match(line) for line in others
    )


def is_import(line: str, chunk: Chunk) -> bool:
    """Whether a line of a chunk of code imports something: prose may begin so, too."""
    return _is_code(chunk) and _IMPORT.match(line) is not None


def _is_code(chunk: Chunk) -> bool:
    return not (is_docs(chunk.language) or is_data(chunk.language))
