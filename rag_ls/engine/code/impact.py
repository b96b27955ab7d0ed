"""Finds out what a change would touch, for one client's session: dependents, tests, similar files, memories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rag_ls.engine.code import places
from rag_ls.engine.code.code_memories import find_in_document
from rag_ls.engine.code.references import Reference, ReferenceKind, find_resolved_uses, find_uses
from rag_ls.engine.code.references.code_files import split_owner
from rag_ls.engine.code.related_tests import ReachingTest, find_other_paths, find_reaching_tests
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import NotFound
from rag_ls.languages import find_language
from rag_ls.model import Memory, StoredChunk
from rag_ls.rules import Dependent, Dependents, ImpactFinder
from rag_ls.search import NO_FILTERS, is_docs, is_inline_test, is_preamble, named_after
from rag_ls.storage import ChunkRow, StoredSymbol, is_called
from rag_ls.util.records import dataclass, replace

if TYPE_CHECKING:
    from rag_ls.rules import Endpoint, FileFacts, SocketEvent

_MAX_DECLARED = 5000
# Candidates for each similar file that is wanted, because several chunks may be of one file.
_CHUNKS_FOR_EACH = 8
_MIN_SIMILARITY = 0.35
# If a whole file is asked about, the lines that use it are looked for in this many dependents. Of the others, only the lines of
# the imports are known.
_MAX_LINES_IN = 60
_TYPES = frozenset({"type", "module"})
_MAX_TYPES = 20
# Where nothing imports a file, the uses of so many of its names are looked for, by name too.
_MAX_NAMES = 20


@dataclass(frozen=True, slots=True)
class SimilarFile:
    """A document like another one."""

    path: str
    similarity: float
    """0 to 1: the cosine similarity of the nearest chunks."""
    reason: str


@dataclass(frozen=True, slots=True)
class SymbolUse:
    """The uses of an exported symbol, counted."""

    symbol: str
    line: int
    """The 1-based line of its declaration."""
    files: int
    """The number of other documents that use it, tests among them."""
    tests: int


@dataclass(frozen=True, slots=True)
class Impact:
    """The things that a change of a document, or of one symbol in it, would touch."""

    path: str
    exports: tuple[StoredSymbol, ...]
    endpoints: tuple[Endpoint, ...]
    events: tuple[SocketEvent, ...]
    dependents: Dependents
    tests: tuple[str, ...]
    reaching_tests: tuple[ReachingTest, ...]
    """The tests that reach it over several imports; where none imports it or is named after it."""
    similar: tuple[SimilarFile, ...]
    memories: tuple[Memory, ...]


def find_impact(session: ProjectSession, path: str, symbol: str, similar: int) -> Impact:
    """The impact of a change of a document, or of a symbol, whose document need not be named where one alone declares it.

    Raises `NotFound` with the nearest paths or names, `InvalidRequest` with those that are meant, and `PathOutsideProject`.
    """
    session.catch_up()
    path = session.relative(path) if path.strip() else places.find_declaring(session, symbol, "file_path")
    document = session.document(path)
    if document is None:
        raise places.not_indexed(session, path)
    store = session.store
    declared = store.outlines.of_documents([document.id], _MAX_DECLARED)
    meant = _find_meant(declared, symbol, path)
    hidden = session.hidden_documents()
    finder = _make_finder(session, hidden)
    dependents = finder.dependents(path, meant, uses_one=bool(symbol))
    exported = _find_exported(meant)
    if symbol:
        found = find_uses(session, meant)
        found += [use for use in find_uses(session, _find_made_of(found, path, declared)) if use.resolved]
    elif dependents.direct:
        found = find_resolved_uses(session, exported, [each.path for each in dependents.direct[:_MAX_LINES_IN]])
    else:
        found = find_uses(session, exported[:_MAX_NAMES])
    if not symbol:
        found += [use for use in find_uses(session, _find_open_types(document.language, meant)) if use.resolved]
    direct = _add_uses(found, path, dependents.direct, keeps_imports=not symbol)
    dependents = replace(dependents, direct=direct)
    tests = find_covering_tests(session, path, [item.symbol for item in declared], document.language, direct)
    rows = store.chunks.of_document(document.id)
    facts = read_facts_apart(session, path, document.language, "".join(row.stored.chunk.text for row in rows))
    return Impact(
        path=path,
        exports=tuple(exported),
        endpoints=tuple(facts.endpoints),
        events=tuple(facts.events),
        dependents=dependents,
        tests=tests,
        reaching_tests=()
        if tests or session.project.roles.is_test(path)
        else find_reaching_tests(finder, session.project.roles, path, {each.path for each in dependents.direct}),
        similar=tuple(_find_similar(session, path, rows, similar)),
        memories=tuple(item for _, items in find_in_document(session, path) for item in items),
    )


def read_facts_apart(session: ProjectSession, path: str, language: str, text: str) -> FileFacts:
    """The routes and events of a text, parsed in a process that may die; none where it did."""
    # Imported here: compiling the patterns of routes takes as long as starting the rest of the engine.
    from rag_ls.rules import FileFacts, read_facts

    return session.project.cutters.call_or(
        FileFacts(), f"the routes of {path} are left out", read_facts, path, language, text
    )


def count_uses(session: ProjectSession, path: str) -> list[SymbolUse]:
    """The uses of each exported top-level symbol of a document, from its top; symbols that nobody uses are left out."""
    document = session.document(path)
    if document is None:
        return []
    declared = session.store.outlines.of_documents([document.id], _MAX_DECLARED)
    direct = _make_finder(session, session.hidden_documents()).dependents(path, declared, followed=0).direct
    found, roles = [], session.project.roles
    for item in _find_exported(declared):
        if users := [each.path for each in direct if item.symbol in each.names]:
            tests = sum(1 for user in users if roles.is_test(user))
            found.append(SymbolUse(item.symbol, item.start_line, len(users), tests))
    return found


def _find_meant(declared: list[StoredSymbol], symbol: str, path: str) -> list[StoredSymbol]:
    if not symbol:
        return declared
    found = [item for item in declared if is_called(item.symbol, symbol)]
    if not found:
        names = ", ".join(item.symbol for item in _find_exported(declared)) or "nothing"
        raise NotFound(f"{path} declares no {symbol!r}; it exports {names[:400]}")
    return found


def _add_uses(
    found: Sequence[Reference], path: str, direct: Sequence[Dependent], *, keeps_imports: bool
) -> tuple[Dependent, ...]:
    """The dependents of a document with the lines that use its names; those that do so without an import, too.

    The line of an import that takes no such name counts where it `keeps_imports`, or where no other line is known.
    """
    uses: dict[str, dict[tuple[int, str], None]] = {}
    resolved = {each.path for each in found if each.resolved}
    for each in found:
        if each.path != path and each.target is not None:
            uses.setdefault(each.path, {})[each.line, each.target.symbol] = None
    known = {each.path: each for each in direct}
    dependents = []
    for other in sorted({*known, *uses}):
        here = sorted(uses.get(other, ()))
        dependent = known.get(other) or Dependent(other, (), tuple(dict.fromkeys(name for _, name in here)))
        imports = dependent.lines if keeps_imports or not here else ()
        lines = tuple(sorted({*imports, *(line for line, _ in here)}))
        is_by_name = other not in known and other not in resolved
        dependents.append(replace(dependent, lines=lines, uses=tuple(here), is_by_name=is_by_name))
    return tuple(dependents)


def _make_finder(session: ProjectSession, hidden: Collection[int]) -> ImpactFinder:
    return ImpactFinder(session.store, session.project.imports.resolver(), hidden)


def find_covering_tests(
    session: ProjectSession, path: str, symbols: Sequence[str], language: str, dependents: Sequence[Dependent]
) -> tuple[str, ...]:
    """The document itself where it declares tests, the tests that are named after it, and those that import it; none for a test."""
    roles = session.project.roles
    if roles.is_test(path):
        return ()
    hidden = session.hidden_documents()
    inline = [path] if any(is_inline_test(symbol, language) for symbol in symbols) else []
    tests = (
        other
        for number, other, language, _ in session.store.document_paths()
        if roles.is_test(other) and not is_docs(language) and number not in hidden
    )
    named = named_after(path, tests, lambda: find_other_paths(session))
    return tuple(dict.fromkeys([*inline, *named, *(each.path for each in dependents if roles.is_test(each.path))]))


def _find_similar(session: ProjectSession, path: str, rows: Sequence[ChunkRow], count: int) -> list[SimilarFile]:
    """The documents whose chunks are nearest to those of a document, each with the pair that is nearest."""
    model, vector = _mean_vector(session, rows)
    if vector is None:
        return []
    found = session.project.searcher.related(
        vector, k=_CHUNKS_FOR_EACH * count, model_id=model, filters=NO_FILTERS, minimum=_MIN_SIMILARITY, without=path,
        is_saved=all(row.is_saved for row in rows), session=session.editing_session,
    )  # fmt: skip
    best: dict[str, SimilarFile] = {}
    for hit in found.hits:
        chunk = hit.item.chunk if isinstance(hit.item, StoredChunk) else None
        if chunk and chunk.path not in best and not is_preamble(chunk):
            what = f"{chunk.symbol} (line {chunk.start_line})" if chunk.symbol else f"line {chunk.start_line}"
            reason = f"close in meaning: {what}"
            best[chunk.path] = SimilarFile(chunk.path, round(max(0.0, min(1.0, hit.score)), 4), reason)
        if len(best) == count:
            break
    return list(best.values())


def _mean_vector(session: ProjectSession, rows: Sequence[ChunkRow]) -> tuple[str, NDArray[np.float32] | None]:
    """The answering model, and the mean of the vectors of some chunks, of length one; None if there are none."""
    index = session.project.index
    model = index.checkout.embeddings.active_model()
    found = index.vectors.get(model, [row.text_hash for row in rows]) if model else {}
    if not found:
        return model, None
    mean = np.mean(np.stack(list(found.values())), axis=0)
    length = float(np.linalg.norm(mean))
    return model, np.asarray(mean / length, np.float32) if length > 0 else None


def _find_made_of(found: Sequence[Reference], path: str, declared: Sequence[StoredSymbol]) -> list[StoredSymbol]:
    """The values of a document that hold what was used there, such as `const alias = cart`: their uses depend on it, too."""
    lines = {
        use.line
        for use in found
        if use.path == path
        and use.kind is ReferenceKind.MENTION
        and use.target is not None
        and use.target.kind != "type"
    }
    return [
        item
        for item in _find_exported(declared)
        if item.kind == "value" and any(item.start_line <= line <= item.end_line for line in lines)
    ][:_MAX_NAMES]


def _find_exported(declared: Sequence[StoredSymbol]) -> list[StoredSymbol]:
    """The declarations at the top of a document that it exports."""
    return [item for item in declared if item.exported and not split_owner(item.symbol)[0]]


def _find_open_types(language: str, declared: Sequence[StoredSymbol]) -> list[StoredSymbol]:
    """The types of a document that others may use without an import; not what only holds them, as a namespace does."""
    rule = find_language(language).references
    if rule is None or not rule.is_open:
        return []
    kinds: dict[str, set[str]] = defaultdict(set)
    for item in declared:
        kinds[split_owner(item.symbol)[0]].add(item.kind)
    spaces = {owner for owner, held in kinds.items() if held & _TYPES and held <= _TYPES | {"value"}}
    return [
        item
        for item in declared
        if item.kind in _TYPES
        and item.symbol not in spaces
        and (not (owner := split_owner(item.symbol)[0]) or owner in spaces or owner not in kinds)
    ][:_MAX_TYPES]
