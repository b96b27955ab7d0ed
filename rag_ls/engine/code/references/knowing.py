"""Tells which documents know the types of some members: a use in them may well be resolved, one in others hardly ever."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from rag_ls.chunking import read_uses
from rag_ls.engine.code.references.code_files import CodeFile, CodeFiles, split_owner
from rag_ls.engine.code.references.names import Names
from rag_ls.storage import StoredSymbol

_MAX_CANDIDATES = 600
"""A type that more documents name is had by others in ways that are not told here."""
_MAX_STEPS = 2
"""`cart.size`: a document names `Cart`, or a function that gives one, or what holds such a function."""
_MAX_DOCUMENTS = 200
"""Beyond so many, they are not told apart, and no further steps are taken."""
_MAX_PER_NAME = 60
"""A name in more documents has several meanings, or is that of a thing that all know."""
_MAX_NAMES = 40


def find_knowing(
    names: Names, declared: Sequence[StoredSymbol], using: Collection[int], importing: Collection[int]
) -> Collection[int] | None:
    """The documents that name the types of some members, or a declaration that does, by id; None where they cannot be told.

    `using`: the documents that use the members' name; `importing`: those that import it, for declarations that are no members.
    """
    files = names.files
    owners = {split_owner(names.declared.owner_of(item))[1] for item in declared}
    has_free = "" in owners
    owners.discard("")
    if not owners or (has_free and _needs_no_import(files, declared)):
        return None
    common = {name for name in owners if len(files.holding(name)) > _MAX_CANDIDATES}
    shared = {name for name in owners if _is_shared(names, name, declared)}
    if common - shared:
        return None
    candidates = {number for name in owners for number in files.holding(name)}
    naming = _find_naming(files, candidates & set(using) if common else candidates, owners)
    for name in shared:
        naming[name] = _find_seeing(names, name, naming[name], declared)
    known = {item.document_id for item in declared}.union(importing if has_free else (), *naming.values())
    if len(known) > _MAX_DOCUMENTS:
        return None
    seen = set(owners)
    for _ in range(0 if common else _MAX_STEPS):
        sources = files.load(number for numbers in naming.values() for number in numbers)
        carriers = sorted({name for source in sources for name in _find_carriers(source, naming)} - seen)[:_MAX_NAMES]
        seen.update(carriers)
        found = _find_naming(files, {number for name in carriers for number in files.holding(name)}, carriers)
        naming = {name: numbers for name, numbers in found.items() if len(numbers) <= _MAX_PER_NAME}
        if len(wider := known.union(*naming.values())) > _MAX_DOCUMENTS:
            break
        known = wider
    return known


def _needs_no_import(files: CodeFiles, declared: Iterable[StoredSymbol]) -> bool:
    homes = filter(None, (files.at(item.path) for item in declared))
    return any(home.rule.is_open or home.language.shares_folder for home in homes)


def _find_naming(files: CodeFiles, numbers: Collection[int], names: Collection[str]) -> dict[str, set[int]]:
    """Those of some documents that name each of some things."""
    found: dict[str, set[int]] = defaultdict(set)
    for number, packed in files.read_packed(numbers).items():
        for use in read_uses(packed, names):
            found[use.name].add(number)
    return found


def _is_shared(names: Names, name: str, declared: Iterable[StoredSymbol]) -> bool:
    """Whether other types than those of some members have a name."""
    owned = _owners_of(names, declared)
    return any((item.path, item.symbol) not in owned for item in names.files.named(name) if item.kind == "type")


def _find_seeing(names: Names, name: str, numbers: Iterable[int], declared: Iterable[StoredSymbol]) -> set[int]:
    """Those of some documents that mean a type of some members by a name."""
    owned = _owners_of(names, declared)
    meanings = ((source, names.bare(source, name)) for source in names.files.load(numbers))
    return {
        source.id
        for source, meaning in meanings
        if meaning is not None and any((item.path, item.symbol) in owned for item in meaning.declarations)
    }


def _owners_of(names: Names, declared: Iterable[StoredSymbol]) -> set[tuple[str, str]]:
    return {(item.path, names.declared.owner_of(item)) for item in declared}


def _find_carriers(source: CodeFile, names: Collection[str]) -> set[str]:
    """The declarations of a document in which some names stand, that other documents can name."""
    around = (source.outermost(use.line) for use in source.uses(names))
    return {split_owner(item.symbol)[1] for item in around if item is not None}
