"""Finding the code that a caller means: by path and line, by symbol, by a word under the cursor."""

from __future__ import annotations

import os
import re
from pathlib import PurePosixPath

from rag_ls import memory
from rag_ls.engine.code.recent_chunks import ChunkPlace
from rag_ls.engine.view_context import ViewContext
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.model import Anchor
from rag_ls.storage import ChunkRow, StoredSymbol, is_called, last_name
from rag_ls.util.nearest import nearest, nearest_paths, nearest_text

# A word with more declarations than this is too common to mean one of them.
_MAX_NAMED = 20
_MAX_DECLARED = 1000
_NAME = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::)\w+)*(?:\(\))?")
_MAX_FILES_SHOWN = 5


class Places:
    """Looks places up in the documents as the client sees them: its unsaved text, else the files."""

    def __init__(self, context: ViewContext) -> None:
        self._context = context
        self._store = context.shared.index.checkout
        self._searcher = context.shared.searcher
        self._code_cache = memory.CodeCache()

    def at(self, path: str, line: int, symbol: str = "") -> ChunkRow:
        """The chunk of a symbol in a document, else the one on a 1-based line (the first one for line 0).

        Raises `NotFound` for an unknown document, `InvalidRequest` for a line that it does not have.
        """
        document = self._searcher.document(path, self._context.session)
        if document is None:
            raise self.not_indexed(path)
        rows = self._store.chunks.of_document(document.id)
        of_symbol = [row for row in rows if symbol and is_called(row.stored.chunk.symbol, symbol)]
        row = of_symbol[0] if of_symbol else self._store.chunks.at(document.id, line or 1)
        if row is None:
            last = rows[-1].stored.chunk.end_line if rows else 0
            raise InvalidRequest(f"line {line} is outside {path}, which has {last} lines")
        return row

    def of_symbol(self, symbol: str) -> ChunkRow:
        """The chunk of a symbol, by its qualified name or its last part. Raises `NotFound`."""
        rows = self._shown(self._store.chunks.of_symbol(symbol)) or self._named(last_name(symbol))
        if not rows:
            near = nearest_text(self.nearest_symbols(symbol))
            raise NotFound(
                f"no symbol {symbol!r} is in the index; {near}search_code finds symbols by parts of their names"
            )
        return rows[0]

    def not_indexed(self, path: str) -> NotFound:
        """The error about a path that is not in the index: it names the paths that may be meant."""
        near = nearest_text(nearest_paths(path, self._store.documents()))
        return NotFound(f"{path!r} is not in the index; {near}index_status says what is, and why files are skipped")

    def nearest_symbols(self, name: str) -> list[str]:
        """The symbols whose names are most like one that no declaration has."""
        wanted = last_name(name.strip())
        found = nearest(wanted, self._searcher.names_like(wanted)) if wanted else []
        symbols = [item.symbol for alike in found for item in self._store.outlines.named([alike], 1)]
        return list(dict.fromkeys(symbols))

    def under_cursor(self, path: str, line: int, word: str) -> ChunkRow | None:
        """The chunk that a hover is about: the one declaration that the word can mean, else the chunk on the line."""
        document = self._searcher.document(path, self._context.session)
        around = self._store.chunks.at(document.id, line) if document else None
        named = [row for row in self._named(word.lower()) if is_called(row.stored.chunk.symbol, word)] if word else []
        near = [row for row in named if around is not None and row.document_id == around.document_id]
        if near:
            return near[0]
        return named[0] if len(named) == 1 else around

    def successor(self, place: ChunkPlace) -> ChunkRow | None:
        """The chunk that replaced a former one: its symbol's chunk, else the one nearest its line. If the file is gone,
        a chunk with the same text."""
        rows = self.chunks(place.path)
        if not rows:
            moved = self._shown(self._store.chunks.with_content(place.content_hash))
            return moved[0] if moved else None
        named = [row for row in rows if place.symbol and row.stored.chunk.symbol == place.symbol]
        return min(named or rows, key=lambda row: _distance(row, place.line))

    def anchor(self, path: str, line: int, symbol: str) -> Anchor:
        """An anchor for a place in a document; for the whole document, if it is not indexed or no place is given.

        Raises `InvalidRequest` for a symbol or line that the document does not have.
        """
        document = self._searcher.document(path, self._context.session)
        if document is None or not (symbol or line):
            return Anchor(path, file_hash=document.sha256 if document else "")
        anchoring = self.anchoring()
        if not symbol:
            return anchoring.to_line(self.at(path, line), line)
        declared = [item.symbol for item in self._store.outlines.of_documents([document.id], _MAX_DECLARED)]
        meant = list(dict.fromkeys(name for name in declared if is_called(name, symbol)))
        if symbol not in meant and len(meant) > 1:
            raise InvalidRequest(
                f"{path} declares several {symbol!r}: give one of {', '.join(meant[:_MAX_FILES_SHOWN])}"
            )
        found = anchoring.to_symbol(document, symbol)
        if found is None:
            raise InvalidRequest(
                f"{path} declares no {symbol!r}; {nearest_text(nearest(symbol, declared))}give another symbol, or a line instead"
            )
        return found

    def declaring(self, symbol: str) -> str:
        """The path of the only document that declares a symbol. Raises `InvalidRequest`, which names those meant."""
        named = self._store.outlines.named([last_name(symbol)], _MAX_NAMED)
        hidden = self._searcher.hidden_documents(self._context.session)
        found = [item for item in named if is_called(item.symbol, symbol) and item.document_id not in hidden]
        paths = list(dict.fromkeys(item.path for item in found))
        if len(paths) == 1:
            return paths[0]
        if paths:
            listed = ", ".join(f"{item.symbol} in {item.path}" for item in found[:_MAX_FILES_SHOWN])
            raise InvalidRequest(f"several files declare {symbol!r}: {listed}; give source_file too")
        near = nearest_text(self.nearest_symbols(symbol))
        raise InvalidRequest(f"no declaration is called {symbol!r}; {near}give source_file, or another symbol")

    def existing(self, path: str) -> str:
        """The project path of an existing file: `path`, else the only indexed file with that name.

        Raises `InvalidRequest`, which names the files that may be meant.
        """
        root = self._context.shared.project.root
        if self._searcher.document(path, self._context.session) is not None or os.path.exists(root / path):
            return path
        name = path.rpartition("/")[2]
        files = [*self._store.documents(), *self._store.skipped()]
        same_name = sorted(file for file in files if file.rpartition("/")[2] == name)
        if len(same_name) == 1:
            return same_name[0]
        if same_name:
            listed = ", ".join(same_name[:_MAX_FILES_SHOWN])
            raise InvalidRequest(f"{path} does not exist; {len(same_name)} files are called {name}: {listed}")
        near = nearest_text(nearest_paths(path, files))
        raise InvalidRequest(f"{path} does not exist; {near}give the path of a file, from the project's root")

    def anchoring(self) -> memory.Anchoring:
        """Anchors in the documents as the client sees them."""
        hidden = self._searcher.hidden_documents(self._context.session)
        return memory.Anchoring(self._store, hidden, self._code_cache)

    def named_with_members(self, name: str) -> list[str]:
        """The symbols that a bare name or qualified name means, and then those of their members."""
        if not _NAME.fullmatch(name.strip()):
            return []
        wanted = name.strip().replace("::", ".").removesuffix("()")
        outlines = self._store.outlines
        namesakes = outlines.named([last_name(wanted)], _MAX_NAMED)
        named = [item for item in namesakes if is_called(item.symbol, wanted) or _is_called_in_module(item, wanted)]
        symbols = list(dict.fromkeys(item.symbol for item in named))
        beside = outlines.of_documents({item.document_id for item in named}, _MAX_DECLARED) if named else []
        members = (item.symbol for item in beside if item.symbol.startswith(tuple(f"{symbol}." for symbol in symbols)))
        return list(dict.fromkeys([*symbols, *members]))

    def chunks(self, path: str) -> list[ChunkRow]:
        """The chunks of a document as it is now, in order; none for an unknown document."""
        document = self._searcher.document(path, self._context.session)
        return self._store.chunks.of_document(document.id) if document is not None else []

    def _named(self, name: str) -> list[ChunkRow]:
        numbers = [number for number, _, declares in self._store.chunks.named([name], _MAX_NAMED) if declares]
        return self._shown(list(self._store.chunks.by_row(numbers).values()))

    def _shown(self, rows: list[ChunkRow]) -> list[ChunkRow]:
        hidden = self._searcher.hidden_documents(self._context.session)
        return [row for row in rows if row.document_id not in hidden]


def _distance(row: ChunkRow, line: int) -> int:
    """How many lines a chunk is away from a line."""
    chunk = row.stored.chunk
    return max(chunk.start_line - line, line - chunk.end_line, 0)


def _is_called_in_module(item: StoredSymbol, name: str) -> bool:
    """Whether a name is a symbol's with its file's name before it: `numberformat.format`."""
    module, _, rest = name.partition(".")
    return bool(rest) and item.symbol == rest and PurePosixPath(item.path).stem == module
