"""Reads files and finds their outlines; apart from the rest of a check, since the processes that parse import nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rag_ls.chunking import outline_of_document, recognise
from rag_ls.indexing.files import Rejected, Source
from rag_ls.languages import find_language
from rag_ls.model import Outline
from rag_ls.rules.checks.checked_code import read_code
from rag_ls.util.paths import blanked_in
from rag_ls.util.secret_texts import Blanked

OutlinedFile = tuple[str, str, Outline]
"""A path, its language and its outline."""
ReadSource = Callable[[str], Source | Rejected]
"""Reads a file as the index does."""
_MAX_BYTES = 2_000_000


def read_imports(read: ReadSource, paths: Sequence[str]) -> list[OutlinedFile | str]:
    """The imports of each file as the index reads it; for one that the index refuses, the reason."""
    found: list[OutlinedFile | str] = []
    for path in paths:
        source = read(path)
        if isinstance(source, Rejected):
            found.append(source.reason)
        else:
            inside = has_tests_inside(recognise(path, source.text) or "text")
            found.append(_outline(path, source.text, declarations=inside))
    return found


def has_tests_inside(language: str) -> bool:
    """Whether tests stand in the files that they test, so that their imports say little without the declarations."""
    tests = find_language(language).tests
    return tests is not None and bool(tests.inline_modules)


def outline_files(root: Path, paths: Sequence[str], *, declarations: bool = True) -> list[OutlinedFile]:
    """Each path with its file's language and outline, perhaps of its imports alone."""
    codes = ((path, read_code(path, read_text(root, path))) for path in paths)
    return [
        (path, code.language, outline_of_document(code.text, path, code.language, declarations=declarations))
        for path, code in codes
    ]


def read_text(root: Path, path: str) -> str:
    """The text of a file, without its secrets; empty if the file is too large, a link, or gone."""
    return read_blanked(root, path).text


def read_blanked(root: Path, path: str) -> Blanked:
    """As `read_text`, with the number of lines that hold secrets."""
    file = root / path
    try:
        is_wanted = not file.is_symlink() and file.stat().st_size <= _MAX_BYTES
    except OSError:
        return Blanked("")
    return blanked_in(root, path) if is_wanted else Blanked("")


def _outline(path: str, text: str, *, declarations: bool = True) -> OutlinedFile:
    language = recognise(path, text) or "text"
    return path, language, outline_of_document(text, path, language, declarations=declarations)
