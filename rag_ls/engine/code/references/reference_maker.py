"""Makes the references that answers hold, with their lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rag_ls.engine.code.references.answers import Reference, ReferenceKind
from rag_ls.engine.code.references.code_files import CodeFile, CodeFiles, split_owner
from rag_ls.model import Use, UseKind
from rag_ls.storage import StoredSymbol
from rag_ls.util.patterns import lazy_pattern

KINDS = {
    UseKind.CALL: ReferenceKind.CALL,
    UseKind.IMPORT: ReferenceKind.IMPORT,
    UseKind.IMPLEMENT: ReferenceKind.IMPLEMENT,
    UseKind.MENTION: ReferenceKind.MENTION,
}
_MAX_LINE_CHARACTERS = 200
_MAX_LINES_TO_NAME = 6
_ANNOTATION = lazy_pattern(r"^\s*(?:(?:@[\w.:]+(?:\([^()]*\))?|#?\[[^\]]*\])\s*)+")


class ReferenceMaker:
    """Makes the references to what one client sees. For one question."""

    def __init__(self, files: CodeFiles, is_test: Callable[[str], bool]) -> None:
        self._files = files
        self._is_test = is_test

    def at_declaration(self, item: StoredSymbol, kind: ReferenceKind, target: StoredSymbol) -> Reference:
        source = self._files.file_at(item.path)
        assert source is not None
        name = split_owner(item.symbol)[1]
        number, line = find_own_line(self._files.read_lines(source), item, name)
        column = max(0, line.find(name)) + 1
        return Reference(
            kind=kind, path=item.path, line=number, column=column, text=_shorten_line(line), symbol=item.symbol, resolved=True,
            is_test=self._is_test(item.path), target=target,
        )  # fmt: skip

    def at_use(self, source: CodeFile, use: Use, target: StoredSymbol | None) -> Reference:
        lines = self._files.read_lines(source)
        line = lines[use.line - 1] if use.line <= len(lines) else ""
        around = source.declaration_around(use.line)
        column = len(self._files.text_before(source, use)) + 1
        return Reference(
            kind=KINDS[use.kind], path=source.path, line=use.line, column=column, text=_shorten_line(line),
            symbol=around.symbol if around else "", resolved=target is not None, is_test=self._is_test(source.path), target=target,
        )  # fmt: skip


def place_of(reference: Reference) -> tuple[str, int, int]:
    """The place of a reference; an import of one name under another is one place, though both names stand there."""
    is_import = reference.kind is ReferenceKind.IMPORT
    return reference.path, reference.line, 0 if is_import else reference.column


def find_own_line(lines: Sequence[str], item: StoredSymbol, name: str) -> tuple[int, str]:
    """The line of a declaration that holds its name: the first one, but for annotations, or a type on a line of its own, above it."""
    own = lines[item.start_line - 1 : item.end_line] or [""]
    named = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    limit = len(own) if _ANNOTATION.match(own[0]) else _MAX_LINES_TO_NAME
    for number, line in enumerate(own[:limit], item.start_line):
        if named.search(_ANNOTATION.sub("", line)):
            return number, line
    return item.start_line, own[0]


def _shorten_line(line: str) -> str:
    text = line.strip()
    return text if len(text) <= _MAX_LINE_CHARACTERS else text[: _MAX_LINE_CHARACTERS - 1] + "…"
