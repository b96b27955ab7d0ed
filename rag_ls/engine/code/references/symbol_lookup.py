"""Finds the declarations that a question means: by a name, or by a place where one stands or is used."""

from __future__ import annotations

import re
from dataclasses import replace

from rag_ls.engine.code import places
from rag_ls.engine.code.references.answers import AskedSymbol
from rag_ls.engine.code.references.code_files import CodeFile, CodeFiles, split_owner
from rag_ls.engine.code.references.declarations import HOLDERS
from rag_ls.engine.code.references.use_meanings import UseMeanings
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.storage import StoredSymbol, is_called
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.text import column_in_bytes

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
    named = files.named(name)
    found = [item for item in named if _means(item, wanted)]
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
    types = [item for item in files.named(split_owner(owner)[1]) if item.kind in HOLDERS and _means(item, owner)]
    return list(dict.fromkeys(member for item in types for member in meanings.members(item, name)))


def _find_at(
    session: ProjectSession, files: CodeFiles, meanings: UseMeanings, question: AskedSymbol
) -> tuple[str, list[StoredSymbol]]:
    path, line, _, column = session.place(question.path, question.line)
    column = question.column or column
    source = files.at(path)
    if source is None:
        raise places.not_indexed(session, path)
    named = [item for item in source.symbols if question.name and is_called(item.symbol, question.name)]
    if named:
        best = min(named, key=lambda item: (item.start_line != line, item.symbol != question.name))
        return split_owner(best.symbol)[1], [best]
    if column and (used := _find_used(files, meanings, source, line, column)) is not None:
        return used
    starting = [item for item in source.symbols if item.start_line == line]
    item = starting[0] if starting else source.around(line)
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
    lines = files.lines(source)
    offset = column_in_bytes(lines[line - 1], column) - 1 if line <= len(lines) else 0
    for use in source.uses():
        if use.line != line or not use.column <= offset <= use.column + len(use.name.encode()):
            continue
        own = [item for item in source.by_name.get(use.name, ()) if item.start_line == line]
        first = min((each.column for each in source.uses({use.name}) if each.line == line), default=0)
        if own and use.column == first:
            return use.name, own[:1]
        meaning = meanings.find(source, use)
        declared = meaning.declarations if meaning is not None else files.named(use.name)
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
        whole = [item for item in named if _means(item, rest) and ("." in rest or item.symbol == rest)]
        if found := [item for item in whole if _lies_in(files, item, space)]:
            return found
    return []


def _lies_in(files: CodeFiles, item: StoredSymbol, space: str) -> bool:
    """Whether a document is of a namespace: it declares one that ends so, or its path ends in the last part."""
    last = space.rpartition(".")[2]
    if last in ("crate", "self", "super") or last in re.split(r"[/.]", item.path):
        return True
    source = files.at(item.path)
    head = files.text(source, 1, _MAX_HEAD_LINES) if source is not None else ""
    declared = re.findall(r"^\s*(?:<\?php\s+)?(?:namespace|package|module)\s+([\w.\\:]+)", head, re.MULTILINE)
    return any(f".{_MARKS.sub('.', each)}".endswith(f".{space}") for each in declared)


def _means(item: StoredSymbol, wanted: str) -> bool:
    """Whether a qualified name, or a part of it from a border on, is the wanted one."""
    symbol = _MARKS.sub(".", item.symbol)
    return symbol == wanted or symbol.endswith(f".{wanted}")
