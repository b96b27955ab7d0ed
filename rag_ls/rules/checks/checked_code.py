"""The code of files as rules look at it, with their outlines, and what an edit made of it.

The processes that parse files import little else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from rag_ls.chunking import outline_of_document, read_notebook_code, recognise
from rag_ls.model import Outline
from rag_ls.rules.checks.records import CheckedDocument, TextRange, Violation
from rag_ls.util.paths import blanked_in
from rag_ls.util.records import dataclass, replace
from rag_ls.util.secret_texts import Blanked
from rag_ls.util.text import lines_of

_HEAD_CHARACTERS = 4096
_NOTEBOOK = ".ipynb"

_Key = tuple[str, str, str | bool]
OutlinedFile = tuple[str, str, Outline]
"""A path, its language and its outline."""
_MAX_BYTES = 2_000_000


@dataclass(frozen=True, slots=True)
class CheckedCode:
    """The code of a file: of a notebook, that of its cells; of all others, the text."""

    language: str
    text: str
    rows: tuple[int, ...] = ()
    """For each line of a notebook's code, the line of the file."""

    def locate(self, found: Iterable[Violation]) -> list[Violation]:
        """Violations of the code by the lines of the file."""
        return [self._locate(each) for each in found] if self.rows else list(found)

    def _locate(self, found: Violation) -> Violation:
        line, end = (self.rows[min(at, len(self.rows)) - 1] for at in (found.place.line, found.place.end_line))
        # A fix is for the code, not for the JSON text that holds it.
        return replace(found, place=replace(found.place, line=line, end_line=end), fix=None)


def read_code(path: str, text: str, language: str = "") -> CheckedCode:
    """The code of a file. `language` is for a file of which nothing shows it."""
    if path.lower().endswith(_NOTEBOOK) and (notebook := read_notebook_code(text)) is not None:
        return CheckedCode(notebook.language, notebook.text, notebook.rows)
    return CheckedCode(recognise(path, text[:_HEAD_CHARACTERS]) or language or "text", text)


def leave_out_former(
    found: Sequence[Violation], document: CheckedDocument, former: Sequence[Violation], before: CheckedDocument
) -> list[Violation]:
    """The violations of a document that it did not have before an edit, wherever their lines stood then."""
    known = Counter(key for keys in _keys(former, before) for key in keys)
    new = []
    for each, (key, whole) in zip(found, _keys(found, document), strict=True):
        same = whole if whole[2] and known[key] <= 0 else key
        if known[same] <= 0:
            new.append(each)
        known[same] -= 1
    return new


def _keys(found: Sequence[Violation], document: CheckedDocument) -> list[tuple[_Key, _Key]]:
    """Two keys of each violation: its rule and message with the text of its line, and alone for one of the whole document.

    That one stands at the first line, whichever that is.
    """
    lines = lines_of(document.text)
    first = TextRange(1, 0, 1, len(lines[0]))
    return [
        ((each.rule, each.message, lines[each.place.line - 1].strip()), (each.rule, each.message, each.place == first))
        for each in found
    ]


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
