"""Finds the code that a client means: by path and line, by symbol, by a word under the cursor. Functions of its session."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from rag_ls.chunking import find_keywords
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.storage import ChunkRow, StoredSymbol, is_called, last_name
from rag_ls.util.paths import is_elsewhere
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.repositories import find_repository, is_repository_top
from rag_ls.util.text import count_of, nearest, nearest_paths, nearest_text

if TYPE_CHECKING:
    from rag_ls.engine.session import ProjectSession

# A word with more declarations than this is too common to mean one of them.
_MAX_NAMED = 20
_MAX_DECLARED = 1000
_NAME = lazy_pattern(r"[A-Za-z_]\w*(?:(?:\.|::)\w+)*(?:\(\))?")
_WORD = lazy_pattern(r"\w+")
_MAX_FILES_SHOWN = 5
_MAX_NEAREST = 3


def chunk_at(session: ProjectSession, path: str, line: int, symbol: str = "") -> ChunkRow:
    """The chunk of a symbol in a document, else the one on a 1-based line (the first one for line 0).

    Raises `NotFound` for an unknown document, `InvalidRequest` for a line that it does not have.
    """
    document = session.document(path)
    if document is None:
        raise not_indexed(session, path)
    rows = session.store.chunks.of_document(document.id)
    of_symbol = [row for row in rows if symbol and is_called(row.stored.chunk.symbol, symbol)]
    row = of_symbol[0] if of_symbol else session.store.chunks.at(document.id, line or 1)
    if row is None:
        last = rows[-1].stored.chunk.end_line if rows else 0
        raise InvalidRequest(f"line {line} is outside {path}, which has {count_of(last, 'line')}")
    return row


def chunk_of_symbol(session: ProjectSession, symbol: str) -> ChunkRow:
    """The chunk of a symbol, by its qualified name or its last part. Raises `NotFound`."""
    rows = _keep_shown(session, session.store.chunks.of_symbol(symbol)) or _find_named(session, last_name(symbol))
    if not rows:
        raise _no_symbol(session, symbol)
    return rows[0]


def find_declaring(session: ProjectSession, symbol: str, argument: str) -> str:
    """The path of the document that declares a symbol: the only one, else the only one that is no test.

    Raises `NotFound` with the nearest names, and `InvalidRequest` with the paths of which one should be given as an `argument`.
    """
    named, hidden = session.store.outlines.named([last_name(symbol)], _MAX_DECLARED), session.hidden_documents()
    paths = sorted({each.path for each in named if is_called(each.symbol, symbol) and each.document_id not in hidden})
    paths = [path for path in paths if not session.project.roles.is_test(path)] or paths
    if not paths:
        raise _no_symbol(session, symbol)
    if len(paths) > 1:
        shown = ", ".join(paths[:_MAX_FILES_SHOWN]) + (" ..." if len(paths) > _MAX_FILES_SHOWN else "")
        raise InvalidRequest(f"{len(paths)} files declare {symbol}: {shown}; give one as {argument}")
    return paths[0]


def _no_symbol(session: ProjectSession, symbol: str) -> NotFound:
    near = nearest_text(nearest_symbols(session, symbol))
    return NotFound(f"no symbol {symbol!r} is in the index; {near}search_code finds symbols by parts of their names")


def find_chunk(session: ProjectSession, path: str, line: int, symbol: str) -> ChunkRow:
    """The chunk of a place or symbol. Raises `InvalidRequest` and `NotFound`."""
    if path:
        place = session.place(path, line)
        return chunk_at(session, place.path, place.first, symbol)
    if symbol:
        return chunk_of_symbol(session, symbol)
    raise InvalidRequest("give a path with a line, a symbol, or a snippet")


def not_indexed(session: ProjectSession, path: str) -> NotFound:
    """The error about a path that is not in the index: why, or the checkout that it is in, or the paths that may be meant."""
    if other := describe_other_checkout(session, path):
        return NotFound(other)
    if skipped := session.store.skipped().get(path):
        return NotFound(f"{path!r} is not indexed: {skipped.reason}; index_status with skipped = true says what to do")
    if any(each.startswith(f"{path.rstrip('/')}/") for each in session.store.documents()):
        return NotFound(f"{path!r} is a folder; give the path of a file in it")
    near = nearest_text(nearest_paths(path, session.store.documents()))
    if session.store.queue.has_any() or session.indexing.comparison.is_awaited:
        return NotFound(
            f"{path!r} is not in the index yet, and files are still being read; {near}index_status tells how many"
        )
    return NotFound(f"{path!r} is not in the index; {near}index_status says what is, and why files are skipped")


def nearest_symbols(session: ProjectSession, name: str) -> list[str]:
    """The symbols whose names are most like one that no declaration has: longer ones first where it is said to be declared."""
    wanted = last_name(name.strip())
    known = session.project.searcher.names_like(wanted) if wanted else []
    named = session.store.outlines.named
    *_, owner, _ = ["", "", *_WORD.findall(name.lower())]
    longer = named([each for each in known if each.startswith(wanted)], _MAX_DECLARED) if owner else []
    found = [item for item in longer if owner in _WORD.findall(f"{item.path} {item.symbol}".lower())]
    found += (item for alike in nearest(wanted, known) for item in named([alike], 1))
    return list(dict.fromkeys(item.symbol for item in found))[:_MAX_NEAREST]


def find_under_cursor(
    session: ProjectSession, path: str, line: int, word: str
) -> tuple[ChunkRow | None, StoredSymbol | None]:
    """The chunk and the declaration that a hover is about.

    The declaration is the one that the word can mean, of this document before others, else the innermost around the line. A
    chunk may hold several. A keyword that nothing is called by means nothing.
    """
    document, outlines = session.document(path), session.store.outlines
    declared = outlines.of_documents([document.id], _MAX_DECLARED) if document else []
    named = [item for item in declared if is_called(item.symbol, word)] if word else []
    if not named and word:
        hidden = session.hidden_documents()
        elsewhere = (item for item in outlines.named([word], _MAX_NAMED) if item.document_id not in hidden)
        named = [item for item in elsewhere if is_called(item.symbol, word)]
        named = named if len(named) == 1 else []
        if not named and document and word in find_keywords(document.language):
            return None, None
    around = [item for item in declared if item.start_line <= line <= item.end_line]
    found = min(named, key=lambda item: abs(item.start_line - line), default=None)
    if found is None:
        found = max(around, key=lambda item: item.start_line, default=None)
        return session.store.chunks.at(document.id, line) if document else None, found
    return session.store.chunks.at(found.document_id, found.start_line), found


def find_with_members(session: ProjectSession, name: str) -> list[str]:
    """The symbols that a bare name or qualified name means, and then those of their members."""
    if not _NAME.fullmatch(name.strip()):
        return []
    wanted = name.strip().replace("::", ".").removesuffix("()")
    outlines = session.store.outlines
    namesakes = outlines.named([last_name(wanted)], _MAX_NAMED)
    named = [item for item in namesakes if is_called(item.symbol, wanted) or _is_called_in_module(item, wanted)]
    symbols = list(dict.fromkeys(item.symbol for item in named))
    beside = outlines.of_documents({item.document_id for item in named}, _MAX_DECLARED) if named else []
    members = (item.symbol for item in beside if item.symbol.startswith(tuple(f"{symbol}." for symbol in symbols)))
    return list(dict.fromkeys([*symbols, *members]))


def chunks_of(session: ProjectSession, path: str) -> list[ChunkRow]:
    """The chunks of a document as it is now, in order; none for an unknown document."""
    document = session.document(path)
    return session.store.chunks.of_document(document.id) if document is not None else []


def _find_named(session: ProjectSession, name: str) -> list[ChunkRow]:
    numbers = [number for number, _, declares in session.store.chunks.named([name], _MAX_NAMED) if declares]
    return _keep_shown(session, list(session.store.chunks.by_row(numbers).values()))


def _keep_shown(session: ProjectSession, rows: list[ChunkRow]) -> list[ChunkRow]:
    hidden = session.hidden_documents()
    return [row for row in rows if row.document_id not in hidden]


def _is_called_in_module(item: StoredSymbol, name: str) -> bool:
    """Whether a name is a symbol's with its file's name before it: `numberformat.format`."""
    module, _, rest = name.partition(".")
    return bool(rest) and item.symbol == rest and PurePosixPath(item.path).stem == module


_WILD = lazy_pattern(r"[*?\[{,!]")


def describe_other_checkout(session: ProjectSession, written: str) -> str:
    """The checkout that a path or glob leads into, with the remedy; empty where that is the project's own."""
    root = session.project.root
    plain = written[: found.start()] if (found := _WILD.search(written)) else written
    if not plain.startswith(str(root)) and not os.path.exists(plain):
        # An absolute path without its root.
        plain = plain.lstrip("/")
    place = Path(os.path.normpath(root / plain)) if plain and "\0" not in plain else root
    if place == root or is_elsewhere(place, root):
        return ""
    top = next((each for each in (place, *place.parents) if is_repository_top(each)), None)
    if top is None or root.is_relative_to(top) or _is_indexed(session, top):
        return ""
    there, here = find_repository(top), find_repository(root)
    is_same = there is not None and here is not None and os.path.realpath(there.common) == os.path.realpath(here.common)
    kind = "another work tree of this repository" if is_same else "another checkout"
    return (
        f"{written!r} is in {kind}, {top}, and this index is of {root}: open that folder, "
        f"or run `rag-ls index {top}` and ask with its absolute path, or with project = {str(top)!r}"
    )


def _is_indexed(session: ProjectSession, top: Path) -> bool:
    """Whether the project holds files below a folder, as it does of a submodule."""
    root = session.project.root
    if not top.is_relative_to(root):
        return False
    return bool(session.store.files_at(top.relative_to(root).as_posix(), at_most=1))
