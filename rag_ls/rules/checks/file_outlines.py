"""Reads files and finds their outlines; apart from the rest of a check, since the processes that parse import nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rag_ls.chunking import outline_of_document, recognise
from rag_ls.indexing.files import Rejected, Source
from rag_ls.model import Outline
from rag_ls.util.paths import text_in

OutlinedFile = tuple[str, str, Outline]
"""A path, its language and its outline."""
ReadSource = Callable[[str], Source | Rejected]
"""Reads a file as the index does."""
_MAX_BYTES = 2_000_000


def outline_sources(read: ReadSource, paths: Sequence[str]) -> list[OutlinedFile | str]:
    """The outline of each file as the index reads it; for one that the index refuses, the reason."""
    found: list[OutlinedFile | str] = []
    for path in paths:
        source = read(path)
        found.append(source.reason if isinstance(source, Rejected) else _outline(path, source.text))
    return found


def outline_files(root: Path, paths: Sequence[str]) -> list[OutlinedFile]:
    """Each path with its file's language and outline."""
    return [_outline(path, read_text(root, path)) for path in paths]


def read_text(root: Path, path: str) -> str:
    """The text of a file; empty if the file is too large, a link, or gone."""
    file = root / path
    try:
        is_wanted = not file.is_symlink() and file.stat().st_size <= _MAX_BYTES
    except OSError:
        return ""
    return text_in(root, path) if is_wanted else ""


def _outline(path: str, text: str) -> OutlinedFile:
    language = recognise(path, text) or "text"
    return path, language, outline_of_document(text, path, language)
