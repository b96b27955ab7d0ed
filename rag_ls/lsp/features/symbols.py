"""`workspace/symbol`: type a question, jump to the code; and code lenses above declarations: the number of memories about them,
and how often an exported symbol is used."""

from __future__ import annotations

import re
from typing import Any

from lsprotocol import types

from rag_ls.engine import SearchRequest, SymbolUse, find_memory_lenses, find_use_lenses
from rag_ls.errors import InvalidRequest, RagLsError
from rag_ls.lsp.documents import file_path
from rag_ls.lsp.features.commands import ABOUT, plain_object
from rag_ls.lsp.protocol import RagLsServer, protocol_error, show_message
from rag_ls.model import AnchorState, Chunk, Memory, StoredChunk
from rag_ls.operations import RESOLVED
from rag_ls.storage import ChunkRow
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

SHOW_USES = "ragLs.showUses"
_MAX_FILES = 30
_MAX_USES = 1000
_NO_USES = ("definition", "override", "docs")


def register(server: RagLsServer) -> None:
    _register_symbols(server)
    _register_lenses(server)


def _register_symbols(server: RagLsServer) -> None:
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


def _register_lenses(server: RagLsServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def code_lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        session = server.session
        await session.wait_until_settled()
        uri = params.text_document.uri
        document = session.documents.get(uri)
        place = document.place if document else None
        if place is None:
            return []
        found = await session.work("lenses", find_memory_lenses, place.view, place.path)
        uses = await session.work("lenses", find_use_lenses, place.view, place.path)
        return [_lens(uri, row, memories) for row, memories in found] + [_use_lens(uri, each) for each in uses]

    @server.command(SHOW_USES)
    async def show_uses(*sent: Any) -> dict[str, Any]:
        arguments = plain_object(SHOW_USES, sent)
        session = server.session
        uri = str(arguments.get("uri", ""))
        path, document = file_path(uri), session.documents.get(uri)
        if path is None:
            raise protocol_error(InvalidRequest(f"{SHOW_USES} needs 'uri', a file, and 'symbol'"))
        asked = {"path": str(path), "symbol": str(arguments.get("symbol", "")), "k": _MAX_USES}
        try:
            answer = await session.ask("find_references", asked)
        except RagLsError as error:
            raise protocol_error(error) from error
        uses = _find_surest_uses(answer)
        if not arguments.get("listed"):
            show_message(server, f"{asked['symbol']} is used in\n{_describe(uses)}")
        root = document.place.view.project.root.as_uri() if document is not None and document.place else ""
        return {**answer, "references": uses, "root": root}


def _find_surest_uses(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the uses in an answer of `find_references` that are resolved; where none is, those by name."""
    uses = [each for each in answer["references"] if each["kind"] not in _NO_USES]
    return [each for each in uses if each["sure"] == RESOLVED] or uses


def _describe(uses: list[dict[str, Any]]) -> str:
    """The files with the lines that use a symbol: `src/price.py:1, 5`."""
    lines: dict[str, set[int]] = {}
    for each in uses:
        lines.setdefault(each["path"], set()).add(each["line"])
    files = [f"{path}:{', '.join(map(str, sorted(each)))}" for path, each in sorted(lines.items())]
    more = [f"({len(files) - _MAX_FILES} more)"] if len(files) > _MAX_FILES else []
    return "\n".join((*files[:_MAX_FILES], *more))


def _use_lens(uri: str, found: SymbolUse) -> types.CodeLens:
    tests = f", {found.tests} {'test' if found.tests == 1 else 'tests'}" if found.tests else ""
    title = f"used in {found.files} {'file' if found.files == 1 else 'files'}{tests}"
    command = types.Command(
        title=title, command=SHOW_USES, arguments=[{"uri": uri, "symbol": found.symbol, "line": found.line}]
    )
    at = types.Position(found.line - 1, 0)
    return types.CodeLens(types.Range(at, at), command=command)


def _lens(uri: str, row: ChunkRow, memories: list[Memory]) -> types.CodeLens:
    chunk = row.stored.chunk
    line = chunk.start_line - 1 + declaration_line(chunk, chunk.symbol.rpartition(".")[2])
    drifted = sum(1 for item in memories if item.anchor and item.anchor.state is AnchorState.DRIFTED)
    title = f"{len(memories)} {'memory' if len(memories) == 1 else 'memories'}"
    if drifted:
        title += f" ({drifted} from before this code changed)"
    command = types.Command(title=title, command=ABOUT, arguments=[{"uri": uri, "line": line + 1}])
    return types.CodeLens(types.Range(types.Position(line, 0), types.Position(line, 0)), command=command)
