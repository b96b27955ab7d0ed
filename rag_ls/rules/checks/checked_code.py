"""The code of a file as rules look at it, and what an edit of it made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rag_ls.chunking import read_notebook_code, recognise
from rag_ls.rules.checks.records import CheckedDocument, TextRange, Violation
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import lines_of

_HEAD_CHARACTERS = 4096
_NOTEBOOK = ".ipynb"

_Key = tuple[str, str, str | bool]


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
