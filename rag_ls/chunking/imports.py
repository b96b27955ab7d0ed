"""Reads the imports of a document, and which members of the imported modules it uses: `pkg.Name`, `module::name`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from rag_ls.chunking.document import Document
from rag_ls.languages import ImportRule, PathRule, Statement, UseRule, compile_lines
from rag_ls.model import Import
from rag_ls.util.paths import FOLDER_STEMS
from rag_ls.util.patterns import lazy_pattern

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_STATEMENT = 8_192
MAX_MODULE = 300
MAX_USES = 200
_MAX_BINDINGS = 300
_BEFORE_BYTES = 500
_INNER = lazy_pattern(rb"[\w$./]")
"""A character before a name that makes it a part of another one."""


def imports_of(node: Node, rule: ImportRule, document: Document) -> list[Statement]:
    """The imports of one node that the rule found, in the order of the text; empty if it cannot be read."""
    return read_imports(node.start_byte, node.end_byte, rule, document)


def read_imports(start: int, end: int, rule: ImportRule, document: Document) -> list[Statement]:
    """The imports of a statement, in the order of the text; empty if it cannot be read."""
    text = document.data[start : min(end, start + _MAX_STATEMENT)].decode("utf-8", "ignore")
    line, before = document.line(start), document.data[max(0, start - _BEFORE_BYTES) : start]
    return [
        # In broken code, a name may be missing.
        Statement(Import(rule.placed(module, document.data, start), tuple(filter(None, names)), line), text, before)
        for module, names in rule.reader(text)
        if module and len(module) <= MAX_MODULE and "\n" not in module
    ]


def with_uses(statements: Sequence[Statement], rule: UseRule | None, data: bytes) -> list[Import]:
    """The imports of a document, each with the members that its text takes from the imported module or names."""
    if rule is None:
        return [statement.imported for statement in statements]
    statements = [rule.complete(statement) for statement in statements]
    bound: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for number, statement in enumerate(statements):
        for name, owner in rule.bindings(statement):
            bound[name].append((number, owner))
    members = _members(list(bound)[:_MAX_BINDINGS], rule.separator, data)
    uses: dict[int, list[str]] = defaultdict(list)
    for name, used in members.items():
        for number, owner in bound[name]:
            uses[number] += [f"{owner}.{member}" if owner else member for member in used]
    return [
        replace(
            statement.imported,
            uses=tuple(dict.fromkeys(uses[number]))[:MAX_USES],
            aliases=tuple(statement.aliases().items()),
        )
        for number, statement in enumerate(statements)
    ]


def _members(names: Sequence[str], separator: str, data: bytes) -> dict[str, list[str]]:
    """The members that follow each name in the text."""
    places = [(*place, name) for name in names if name for place in _places_of(name.encode(), separator, data)]
    members: dict[str, dict[str, None]] = defaultdict(dict)
    done = 0
    # The longest first: `a.b` would hide `a.b.c`.
    for start, _, end, member, name in sorted(places):
        if start >= done:
            members[name][member] = None
            done = end
    return {name: list(found) for name, found in members.items()}


def _places_of(name: bytes, separator: str, data: bytes) -> Iterator[tuple[int, int, int, str]]:
    """The start of each place where a member follows a name, the name's length below zero, the place's end, and the member.

    To search for plain bytes is faster than to compile a pattern of a document's own names.
    """
    follows, start = _member_after(separator), data.find(name)
    while start >= 0:
        match = follows.match(data, start + len(name))
        if match is not None and not _INNER.match(data, max(0, start - 1), start):
            yield start, -len(name), match.end(), match[1].decode()
        start = data.find(name, start + 1)


@cache
def _member_after(separator: str) -> re.Pattern[bytes]:
    return re.compile(rf"{separator}([A-Za-z_$][\w$]*)".encode())


def parts_of(path: str) -> list[str]:
    """A path's folders, and its name without suffix unless the document stands for its folder."""
    *folders, _ = path.split("/")
    stem = stem_of(path)
    return folders if stem in FOLDER_STEMS and folders else [*folders, stem]


def stem_of(path: str) -> str:
    """A path's last name without its suffix."""
    name = path.rsplit("/", 1)[-1]
    stem, dot, suffix = name.rpartition(".")
    return stem if dot and stem else suffix


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
