"""`workspace/symbol`: type a question, jump to the code."""

from __future__ import annotations

import re

from lsprotocol import types

from rag_ls.engine.requests import SearchRequest
from rag_ls.lsp.protocol import RagLsServer
from rag_ls.model import Chunk, StoredChunk
from rag_ls.util.text import fold

_MAX_SYMBOLS = 20
_NAME_CHARACTERS = 80
_KINDS = (
    ("class", types.SymbolKind.Class),
    ("struct", types.SymbolKind.Struct),
    ("interface", types.SymbolKind.Interface),
    ("trait", types.SymbolKind.Interface),
    ("enum", types.SymbolKind.Enum),
    ("method", types.SymbolKind.Method),
    ("func", types.SymbolKind.Function),
    ("module", types.SymbolKind.Module),
    ("namespace", types.SymbolKind.Namespace),
    ("variable", types.SymbolKind.Variable),
    ("assignment", types.SymbolKind.Variable),
    ("type", types.SymbolKind.Class),
    ("section", types.SymbolKind.String),
)


def register(server: RagLsServer) -> None:
    @server.feature(types.WORKSPACE_SYMBOL)
    async def symbols(params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        if not params.query.strip():
            return []
        session = server.session
        client = await session.client()
        await session.wait_for_files(params.query)
        answers = await session.work("symbols", client.search, SearchRequest(params.query, k=_MAX_SYMBOLS))
        hits = [(view, hit) for view, answer in answers for hit in answer.hits]
        hits.sort(key=lambda item: -item[1].score)
        spelling = session.documents.spelling()
        found = [
            symbol_of(hit.item.chunk, spelling.uri_of(view, hit.item.chunk.path))
            for view, hit in hits[:_MAX_SYMBOLS]
            if isinstance(hit.item, StoredChunk)
        ]
        question = params.query.strip()
        return name_after_question(question, found) if session.filters_symbols and " " in question else found


def name_after_question(question: str, symbols: list[types.WorkspaceSymbol]) -> list[types.WorkspaceSymbol]:
    """Prefix the symbols' names with the question and a number, so that they sort as given. Some editors hide names that
    lack letters of the query."""
    return [
        types.WorkspaceSymbol(
            location=symbol.location,
            name=f"{question}: {place:02} {symbol.name}",
            kind=symbol.kind,
            container_name=symbol.container_name,
        )
        for place, symbol in enumerate(symbols, 1)
    ]


def symbol_of(chunk: Chunk, uri: str) -> types.WorkspaceSymbol:
    """A chunk as an LSP symbol, named by its declaration, else by its first line."""
    lines = [line.strip() for line in chunk.text.split("\n") if line.strip()]
    qualifier, _, name = chunk.symbol.rpartition(".")
    first = chunk.start_line - 1 + declaration_line(chunk, name)
    place = types.Range(types.Position(first, 0), types.Position(max(first, chunk.end_line - 1), 0))
    return types.WorkspaceSymbol(
        location=types.Location(uri, place),
        name=fold(name or (lines[0] if lines else chunk.path), _NAME_CHARACTERS),
        kind=_kind(chunk),
        container_name=fold(qualifier or chunk.path),
    )


def declaration_line(chunk: Chunk, name: str) -> int:
    """The line of a chunk (from 0) on which its signature begins; comments and imports may precede it."""
    for number, line in enumerate(re.split(r"\r\n|\n|\r", chunk.text)):
        words = " ".join(line.split())
        if (
            name
            and name in words
            and (chunk.signature.startswith(words[:40]) or words.startswith(chunk.signature[:40]))
        ):
            return number
    return 0


def _kind(chunk: Chunk) -> types.SymbolKind:
    node = chunk.node_type.lower()
    kind = next((kind for part, kind in _KINDS if part in node), types.SymbolKind.File)
    inside_type = any("class" in parent or "impl" in parent for parent in chunk.parent_types)
    return types.SymbolKind.Method if kind is types.SymbolKind.Function and inside_type else kind
