"""Reads what a document uses by its whole name, without an import: `crate::shop::total()`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence

from rag_ls.chunking.document import Document
from rag_ls.chunking.imports import MAX_MODULE, MAX_USES
from rag_ls.languages.imports import ImportRule, PathRule, Statement
from rag_ls.languages.patterns import compile_lines
from rag_ls.model import Import
from rag_ls.util.patterns import lazy_pattern

_MAX_MODULES = 200
_MAX_SEEN = 2000
_MAX_COMMENT = 4000
_IN_COMMENT = lazy_pattern(rb"[ \t]*(?:\*|#(?![!\[])|///?|--)")
_OPENED = lazy_pattern(rb"^[ \t]*/\*", re.MULTILINE)


def whole_names(
    rule: PathRule,
    imports: ImportRule,
    document: Document,
    statements: Sequence[Statement],
    spans: Sequence[tuple[int, int]],
) -> list[Import]:
    """An import for each module of which a document uses members without one, in the order of the text; not in its imports' spans."""
    data = document.data
    read = None
    starts = [start for start, _ in spans]
    seen: set[bytes] = set()
    lines: dict[str, int] = {}
    taken: dict[str, dict[str, None]] = defaultdict(dict)
    for match in compile_lines(rule.pattern).finditer(data):
        text, start = match[0], match.start()
        if text in seen or len(text) > MAX_MODULE or len(seen) >= _MAX_SEEN:
            continue
        at = bisect_right(starts, start) - 1
        if (at >= 0 and start < spans[at][1]) or data[start - 1 : start] in rule.not_after or _is_told(data, start):
            continue
        seen.add(text)
        read = read or rule.reader(statements, data)
        found = read(text.decode("utf-8", "ignore"))
        if found is None:
            continue
        module = imports.placed(found[0], data, start)
        if module not in lines and len(lines) < _MAX_MODULES:
            lines[module] = document.line(start)
        taken[module][found[1]] = None
    return [Import(module, (), line, uses=tuple(taken[module])[:MAX_USES]) for module, line in lines.items()]


def _is_told(data: bytes, start: int) -> bool:
    """Whether a place is in a comment or in a text in quotes, as far as its line and a comment that is open before it tell."""
    line = data.rfind(b"\n", 0, start) + 1
    before = data[line:start]
    if _IN_COMMENT.match(before) or b"//" in before or before.count(b'"') % 2:
        return True
    opened = data.rfind(b"/*", max(0, start - _MAX_COMMENT), start)
    if opened < 0 or data.find(b"*/", opened, start) >= 0:
        return False
    return _OPENED.match(data, data.rfind(b"\n", 0, opened) + 1) is not None
