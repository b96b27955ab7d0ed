"""Answers the questions for references, callers and callees, by a name or a place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from rag_ls.engine.code import places
from rag_ls.engine.code.references.answers import (
    ALL_KINDS,
    AskedSymbol,
    Reference,
    ReferenceKind,
    References,
    sort_references,
)
from rag_ls.engine.code.references.code_files import CodeFile, CodeFiles, find_unread, split_owner, symbol_key
from rag_ls.engine.code.references.declarations import HOLDERS
from rag_ls.engine.code.references.finder import Finder, find_page
from rag_ls.engine.code.references.use_meanings import UseMeanings
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.search import part_keys
from rag_ls.storage import StoredSymbol, is_called
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.text import column_in_bytes

MAX_DEPTH = 5
_MAX_TREE = 400
_USED = ALL_KINDS - {ReferenceKind.DEFINITION, ReferenceKind.DOCS}


def find_references(
    session: ProjectSession, question: AskedSymbol, *, kinds: Collection[ReferenceKind] = ALL_KINDS, enough: int = 0
) -> References:
    """The references of some kinds to a symbol, in order. Raises `InvalidRequest` and `NotFound`.

    `enough`: the number of references after which further uses of a frequent name are only counted; 0 for no such number.
    """
    session.catch_up()
    finder = Finder(session)
    name, declared, keys = _find_declared(session, finder, question)
    if enough:
        references, left = find_page(finder, name, declared, kinds, enough)
    else:
        references, left = sort_references(finder.find_references(name, declared, kinds)), {}
    if ReferenceKind.MENTION in kinds:
        shown = keys[: max(0, enough - len(references)) if enough else None]
        references += map(_make_mention, finder.find_definitions(shown))
        left = Counter(left) + Counter({ReferenceKind.MENTION: len(keys) - len(shown)})
    nearest: tuple[str, ...] = ()
    if not declared and not references:
        nearest = tuple(places.nearest_symbols(session, question.name or name))
    unread = find_unread(session, finder.files, name, {key.document_id for key in keys})
    return References(
        name, tuple(declared), tuple(references), nearest=nearest, looked_at=finder.files.count, unread=unread,
        uncreated=finder.creations.uncreated, left=left,
    )  # fmt: skip


def _find_declared(
    session: ProjectSession, finder: Finder, question: AskedSymbol
) -> tuple[str, list[StoredSymbol], Sequence[StoredSymbol]]:
    """The name that is asked for, the declarations that it means, and the keys in data that many places have."""
    name, declared = find_declarations(session, finder.files, finder.uses.meanings, question)
    return name, *part_keys(declared, lambda item: item.language)


def _make_mention(key: Reference) -> Reference:
    around = split_owner(key.symbol)[0]
    return replace(key, kind=ReferenceKind.MENTION, symbol=around, resolved=False, target=None)


def find_uses(session: ProjectSession, declared: Sequence[StoredSymbol]) -> list[Reference]:
    """The uses of some declarations: those that scopes, imports or types lead to, and those by name that may mean them."""
    finder = Finder(session)
    return [
        use if use.target is not None else replace(use, target=item)
        for item in declared
        for use in finder.find_references(split_owner(item.symbol)[1], [item], _USED)
    ]


def find_resolved_uses(
    session: ProjectSession, declared: Sequence[StoredSymbol], paths: Collection[str]
) -> list[Reference]:
    """The uses of some declarations in some documents that scopes, imports or types lead to."""
    return [use for use in Finder(session).uses.of_declarations(paths, declared) if use.resolved]


def find_callers(session: ProjectSession, question: AskedSymbol, depth: int) -> References:
    """The calls of a symbol, each followed by the calls of what calls it, to a depth. Raises as `find_references`."""
    session.catch_up()
    finder = Finder(session)
    name, declared, _ = _find_declared(session, finder, question)
    tree = _CallerTree(finder, min(depth, MAX_DEPTH))
    tree.add(name, declared, 1)
    nearest = () if declared or tree.found else tuple(places.nearest_symbols(session, question.name or name))
    unread = find_unread(session, finder.files, name)
    return References(
        name, tuple(declared), tuple(tree.found), nearest=nearest, looked_at=finder.files.count, unread=unread,
        uncreated=finder.creations.uncreated, is_cut=len(tree.found) >= _MAX_TREE,
    )  # fmt: skip


def find_callees(session: ProjectSession, question: AskedSymbol) -> References:
    """The calls in the body of a symbol. Raises as `find_references`."""
    session.catch_up()
    finder = Finder(session)
    name, declared = find_declarations(session, finder.files, finder.uses.meanings, question)
    if not declared:
        return References(
            name, (), (), tuple(places.nearest_symbols(session, question.name or name)), finder.files.count
        )
    found = [call for item in declared for call in finder.uses.calls_in(item)]
    return References(name, tuple(declared), tuple(found), looked_at=finder.files.count)


class _CallerTree:
    """Callers of callers, in the order in which they are shown: each before its own callers."""

    def __init__(self, finder: Finder, depth: int) -> None:
        self._finder = finder
        self._depth = depth
        self._seen: set[tuple[str, int, str]] = set()
        self.found: list[Reference] = []

    def add(self, name: str, declared: Sequence[StoredSymbol], depth: int) -> None:
        """Add the calls of some declarations, and below each the calls of what it stands in."""
        self._seen.update(map(symbol_key, declared))
        for call in sort_references(self._finder.find_references(name, declared, {ReferenceKind.CALL})):
            # A deeper call that shares only the name is too uncertain to follow.
            is_far = depth > 1 and not call.resolved
            if is_far or len(self.found) >= _MAX_TREE:
                continue
            self.found.append(replace(call, depth=depth))
            source = self._finder.files.file_at(call.path)
            around = source.declaration_around(call.line, "function") if source is not None and call.resolved else None
            if around is not None and depth < self._depth and symbol_key(around) not in self._seen:
                self.add(split_owner(around.symbol)[1], [around], depth + 1)


# Marks between the parts of a qualified name; a `#` before a name may belong to the name.
_MARKS = lazy_pattern(r"::|->|\\|(?<=\w)#")
_MAX_HEAD_LINES = 200


def find_declarations(
    session: ProjectSession, files: CodeFiles, meanings: UseMeanings, question: AskedSymbol
) -> tuple[str, list[StoredSymbol]]:
    """The name that is asked for, and the declarations that it means. Raises `InvalidRequest` and `NotFound`."""
    if question.path:
        return _find_at(session, files, meanings, question)
    wanted = _MARKS.sub(".", question.name.strip().removesuffix("()")).strip(".")
    name = split_owner(wanted)[1]
    if not name:
        raise InvalidRequest("find_references needs a name, or a path with a line")
    named = files.find_named(name)
    found = [item for item in named if _is_called(item, wanted)]
    if wanted != name and not found:
        found = _find_in_namespace(files, named, wanted)
    if wanted != name and not found and named:
        found = _find_inherited(files, meanings, wanted)
    if wanted != name and not found and named:
        others = ", ".join(sorted({item.symbol for item in named})[:8])
        raise NotFound(f"no {wanted!r} is declared; these are: {others}; {name!r} alone gives the uses of all")
    is_test = session.project.roles.is_test
    return name, sorted(found, key=lambda item: (is_test(item.path), item.path, item.start_line))


def _find_inherited(files: CodeFiles, meanings: UseMeanings, wanted: str) -> list[StoredSymbol]:
    """The member that a type has from the nearest type that it derives from: `Page.move` is `AbstractPage.move`."""
    owner, name = split_owner(wanted)
    types = [
        item for item in files.find_named(split_owner(owner)[1]) if item.kind in HOLDERS and _is_called(item, owner)
    ]
    return list(dict.fromkeys(member for item in types for member in meanings.find_members(item, name)))


def _find_at(
    session: ProjectSession, files: CodeFiles, meanings: UseMeanings, question: AskedSymbol
) -> tuple[str, list[StoredSymbol]]:
    path, line, _, column = session.place(question.path, question.line)
    column = question.column or column
    source = files.file_at(path)
    if source is None:
        raise places.not_indexed(session, path)
    named = [item for item in source.symbols if question.name and is_called(item.symbol, question.name)]
    if named:
        best = min(named, key=lambda item: (item.start_line != line, item.symbol != question.name))
        return split_owner(best.symbol)[1], [best]
    if column and (used := _find_used(files, meanings, source, line, column)) is not None:
        return used
    starting = [item for item in source.symbols if item.start_line == line]
    item = starting[0] if starting else source.declaration_around(line)
    if item is None and question.name and not line:
        # Another file declares it: the answer names the place.
        return find_declarations(session, files, meanings, replace(question, path=""))
    if item is None:
        raise NotFound(f"no declaration is at line {line} of {path}; list_symbols shows those that there are")
    return split_owner(item.symbol)[1], [item]


def _find_used(
    files: CodeFiles, meanings: UseMeanings, source: CodeFile, line: int, column: int
) -> tuple[str, list[StoredSymbol]] | None:
    """The name that is used at a place, and what it means there; None where no name is used, or one is declared."""
    lines = files.read_lines(source)
    offset = column_in_bytes(lines[line - 1], column) - 1 if line <= len(lines) else 0
    for use in source.read_uses():
        if use.line != line or not use.column <= offset <= use.column + len(use.name.encode()):
            continue
        own = [item for item in source.by_name.get(use.name, ()) if item.start_line == line]
        first = min((each.column for each in source.read_uses({use.name}) if each.line == line), default=0)
        if own and use.column == first:
            return use.name, own[:1]
        meaning = meanings.find_meaning(source, use)
        declared = meaning.declarations if meaning is not None else files.find_named(use.name)
        if not declared:
            raise NotFound(
                f"{use.name!r} at line {line} is declared inside its function, or in no file of this project"
            )
        return use.name, list(declared)
    return None


def _find_in_namespace(files: CodeFiles, named: list[StoredSymbol], wanted: str) -> list[StoredSymbol]:
    """The declarations whose qualified name begins with parts that no symbol has: of a namespace, a package, a module or its path."""
    space, rest = "", wanted
    while "." in rest:
        first, _, rest = rest.partition(".")
        space = f"{space}.{first}".lstrip(".")
        # The rest is a whole name: a member alone may be that of another type.
        whole = [item for item in named if _is_called(item, rest) and ("." in rest or item.symbol == rest)]
        if found := [item for item in whole if _lies_in(files, item, space)]:
            return found
    return []


def _lies_in(files: CodeFiles, item: StoredSymbol, space: str) -> bool:
    """Whether a document is of a namespace: it declares one that ends so, or its path ends in the last part."""
    last = space.rpartition(".")[2]
    if last in ("crate", "self", "super") or last in re.split(r"[/.]", item.path):
        return True
    source = files.file_at(item.path)
    head = files.read_text(source, 1, _MAX_HEAD_LINES) if source is not None else ""
    declared = re.findall(r"^\s*(?:<\?php\s+)?(?:namespace|package|module)\s+([\w.\\:]+)", head, re.MULTILINE)
    return any(f".{_MARKS.sub('.', each)}".endswith(f".{space}") for each in declared)


def _is_called(item: StoredSymbol, wanted: str) -> bool:
    """Whether a qualified name, or a part of it from a border on, is the wanted one."""
    symbol = _MARKS.sub(".", item.symbol)
    return symbol == wanted or symbol.endswith(f".{wanted}")
