"""Looks code up for one client's session: the lines around a chunk, and declarations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from rag_ls.engine.code import places
from rag_ls.engine.session import ProjectSession, mark_changed
from rag_ls.errors import NotFound
from rag_ls.model import Chunk, Hit, StoredChunk
from rag_ls.search import Filters, Roles
from rag_ls.storage import ChunkRow, StoredSymbol
from rag_ls.util.path_globs import glob_matcher, relative_globs
from rag_ls.util.paths import read_lines
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass
from rag_ls.util.text import count_of, nearest_paths, nearest_text

CONTEXTS = ("chunk", "neighbours", "declaration", "file")
_MAX_SYMBOLS = 200_000
_LINE = lazy_pattern(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_OF_A_PATH = "of a file give PATH:LINE, or PATH:FROM-TO for these lines"
_GONE = "its code was edited or removed: search_code finds it again"
_OWNER = lazy_pattern(r"\.|::|#| > ")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The lines of a document around a chunk."""

    hit: Hit
    start_line: int
    text: str
    goes_on_to: int = 0
    """The last line of the declaration, where the excerpt has only its beginning."""

    @property
    def lines(self) -> list[str]:
        """Its lines, with their ends."""
        return _LINE.findall(self.text)


@dataclass(frozen=True, slots=True)
class SymbolQuestion:
    """Selects declarations; an empty field selects everything."""

    path: str = ""
    path_glob: str = ""
    query: str = ""
    """A name or a part of it, in any case style."""
    kind: str = ""


def _find_chunk(session: ProjectSession, chunk_id: str, *, whole: bool = False) -> Hit:
    """A chunk by its id, as it is now; the `whole` as searches show it. Raises `NotFound`."""
    unseen = session.catch_up()
    hit = session.project.searcher.chunk_hit(chunk_id, session.editing_session, whole=whole)
    if hit is None:
        fate = _GONE
        if "." in chunk_id or "/" in chunk_id:
            # A path that is right needs no other.
            paths = [] if session.document(chunk_id) else nearest_paths(chunk_id, session.store.documents())
            fate = f"{nearest_text(paths)}{_OF_A_PATH}"
        raise NotFound(f"no chunk has the id {chunk_id!r} now; {fate}")
    return mark_changed(hit, unseen | session.project.indexing.inbox.paths())


def path_in(chunk_id: str) -> str:
    """The path in an id that is a place, `PATH:LINE`; empty in others."""
    place = read_lines(chunk_id.strip())
    return place.path if place.first else ""


def read_around(session: ProjectSession, chunk_id: str, context: str) -> Excerpt:
    """A chunk by its id, with more of its document as `context`, one of `CONTEXTS`, says. Raises `NotFound`.

    An id may also be `PATH:LINE`, which means the chunk there, or `PATH:FROM-TO`, which means these lines.
    """
    chunk_id = chunk_id.strip()
    place = session.place(chunk_id)
    if not place.first:
        place = read_lines(chunk_id)
    if place.last and context == "chunk":
        return _read_lines(session, place.path, place.first, place.last)
    if place.first:
        chunk_id = _chunk_at(_rows_of(session, place.path), place.first).stored.id
    hit = _find_chunk(session, chunk_id, whole=context == "chunk")
    assert isinstance(hit.item, StoredChunk)
    chunk = hit.item.chunk
    document = session.store.document(chunk.path, hit.item.session)
    rows = session.store.chunks.of_document(document.id) if document else []
    if document is None or not rows:
        return Excerpt(hit, chunk.start_line, chunk.text)
    if context == "neighbours":
        near = [row for row in rows if abs(row.stored.chunk.ordinal - chunk.ordinal) <= 1]
        return Excerpt(hit, near[0].stored.chunk.start_line, "".join(row.stored.chunk.text for row in near))
    if context == "file":
        return _cut_lines(hit, rows, 1, rows[-1].stored.chunk.end_line)
    symbols = session.store.outlines.of_documents([document.id], _MAX_SYMBOLS)
    first, declared, last = _find_declaration(chunk, symbols, rows)
    if context == "chunk":
        return Excerpt(hit, chunk.start_line, chunk.text, last if chunk.end_line < last else 0)
    return _cut_lines(hit, rows, first, last, declared)


def _read_lines(session: ProjectSession, path: str, first: int, last: int) -> Excerpt:
    """Some lines of a document, as far as it has them. Raises `NotFound`."""
    rows = _rows_of(session, path)
    hit = _find_chunk(session, _chunk_at(rows, first).stored.id)
    return _cut_lines(hit, rows, max(1, min(first, last)), min(max(first, last), rows[-1].stored.chunk.end_line))


def _rows_of(session: ProjectSession, path: str) -> list[ChunkRow]:
    """The chunks of a document, in order. Raises `NotFound`."""
    session.catch_up()
    path = session.relative(path)
    document = session.document(path)
    rows = session.store.chunks.of_document(document.id) if document else []
    if not rows:
        raise places.not_indexed(session, path)
    return rows


def _chunk_at(rows: Sequence[ChunkRow], line: int) -> ChunkRow:
    """The chunk that holds a line. Raises `NotFound`."""
    found = next((row for row in rows if row.stored.chunk.end_line >= line), None)
    if found is None:
        last = rows[-1].stored.chunk
        raise NotFound(f"{last.path} has {count_of(last.end_line, 'line')}: there is no line {line:,}")
    return found


def find_symbols(session: ProjectSession, question: SymbolQuestion) -> list[StoredSymbol]:
    """The selected declarations, in order of place, or by name with the best match first. Raises `NotFound`."""
    session.catch_up()
    outlines = session.store.outlines
    if question.path or question.path_glob:
        found = outlines.of_documents(_find_documents(session, question), _MAX_SYMBOLS)
    else:
        hidden = session.hidden_documents()
        wanted = _without_case(_OWNER.split(question.query)[-1]) or question.query.strip().lower()
        found = [item for item in outlines.containing(wanted, _MAX_SYMBOLS) if item.document_id not in hidden]
    if question.kind:
        found = [item for item in found if item.kind == question.kind]
    return _best_named(question.query, found, session.project.roles) if question.query.strip() else found


def find_declared(session: ProjectSession, name: str) -> list[StoredSymbol]:
    """The declarations that have just this name, `refresh`, `Session.refresh` or `auth.refresh` of a package or module `auth`.

    Those in tests only if no other has it.
    """
    name = name.strip().removesuffix("()")
    *owners, last = _OWNER.split(name)
    found = _find_called(session, name, last)
    if not found and owners:
        named = _find_called(session, last, last)
        found = [item for item in named if item.symbol == last and owners[-1] in _name_modules(item.path)]
    others = [item for item in found if not session.project.roles.is_test(item.path)]
    return others or found


def _find_called(session: ProjectSession, name: str, last: str) -> list[StoredSymbol]:
    """The declarations that a question for a name finds, and whose own name is the last part of it as it is written."""
    found = find_symbols(session, SymbolQuestion(query=name))
    return [item for item in found if item.kind != "section" and _OWNER.split(item.symbol)[-1] == last]


def _name_modules(path: str) -> tuple[str, str]:
    """The names that code may give the module that a file is or is in: those of its folder and of the file."""
    place = PurePosixPath(path)
    return place.parent.name, place.stem


def _find_documents(session: ProjectSession, question: SymbolQuestion) -> list[int]:
    if question.path:
        path = session.relative(question.path)
        document = session.document(path)
        if document is None:
            raise places.not_indexed(session, path)
        return [document.id]
    rows, hidden = session.store.document_paths(), session.hidden_documents()
    matches = glob_matcher(_glob_in(session, question), {row[1] for row in rows})
    return [number for number, path, _, _ in rows if number not in hidden and matches(path)]


def _glob_in(session: ProjectSession, question: SymbolQuestion) -> str:
    return relative_globs(question.path_glob, str(session.project.root))


def explain_no_document(session: ProjectSession, question: SymbolQuestion) -> str:
    """The reason why a question's glob matches no document; empty where it has none, or matches one."""
    if question.path or not question.path_glob or _find_documents(session, question):
        return ""
    return "; ".join(session.explain_filters(Filters(path_glob=_glob_in(session, question))))


def _find_declaration(chunk: Chunk, symbols: Sequence[StoredSymbol], rows: Sequence[ChunkRow]) -> tuple[int, int, int]:
    """The declaration that a chunk is or is in: the first line where its comments may begin, its first and last line.

    If there is none, the lines of the chunk itself.
    """
    own = [
        item
        for item in symbols
        if item.symbol == chunk.symbol and item.start_line <= chunk.end_line and item.end_line >= chunk.start_line
    ]
    around = [item for item in symbols if item.start_line <= chunk.start_line and item.end_line >= chunk.end_line]
    if not own and not around:
        return chunk.start_line, chunk.start_line, chunk.end_line
    chosen = own[0] if own else min(around, key=lambda item: item.end_line - item.start_line)
    start = chosen.start_line
    head = next((row.stored.chunk for row in rows if row.stored.chunk.end_line >= start), chunk)
    if head.symbol != chosen.symbol:
        return start, start, chosen.end_line
    before = [item for item in symbols if item.start_line < start]
    others = max((item.end_line if item.end_line < start else item.start_line for item in before), default=0)
    return max(head.start_line, others + 1), start, chosen.end_line


def _cut_lines(hit: Hit, rows: Sequence[ChunkRow], first: int, last: int, declared: int = 0) -> Excerpt:
    """The lines `first` to `last` of a document; those before line `declared` only if no blank line follows them."""
    chunks = [
        row.stored.chunk for row in rows if row.stored.chunk.end_line >= first and row.stored.chunk.start_line <= last
    ]
    lines = _LINE.findall("".join(chunk.text for chunk in chunks))
    lines = lines[first - chunks[0].start_line : last - chunks[0].start_line + 1]
    blank = [at for at, line in enumerate(lines[: max(0, declared - first)]) if not line.strip()]
    apart = blank[-1] + 1 if blank else 0
    return Excerpt(hit, first + apart, "".join(lines[apart:]))


def _best_named(query: str, found: Sequence[StoredSymbol], roles: Roles) -> list[StoredSymbol]:
    """The symbols whose names contain the query's name, the closest names first, keys and headings last."""
    *owners, last = _OWNER.split(query.strip())
    name, owner = _without_case(last) or query.strip().lower(), _without_case("".join(owners))
    ranked = []
    for item in found:
        *outer, own = _OWNER.split(item.symbol)
        plain = _without_case(own) or own.lower()
        if name in plain and owner in _without_case("".join(outer)):
            closeness = 0 if plain == name else 1 if plain.startswith(name) else 2
            is_section, is_test = item.kind == "section", roles.is_test(item.path)
            ranked.append((is_section, closeness, not item.exported, is_test, item.path, item.start_line, item))
    return [entry[-1] for entry in sorted(ranked, key=lambda entry: entry[:-1])]


def _without_case(name: str) -> str:
    """A name without its case style: letters and digits, in lower case."""
    return "".join(re.findall(r"[^\W_]+", name.lower()))
