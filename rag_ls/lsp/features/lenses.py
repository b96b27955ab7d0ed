"""Code lenses: the number of memories above the code that they are about, and how often an exported symbol is used."""

from __future__ import annotations

import asyncio
from typing import Any

from lsprotocol import types

from rag_ls.engine.code.hovers import find_memory_lenses, find_use_lenses
from rag_ls.engine.code.impact import SymbolUse
from rag_ls.errors import InvalidRequest, RagLsError
from rag_ls.lsp.addresses import file_path
from rag_ls.lsp.features.commands import ABOUT, plain_object
from rag_ls.lsp.features.symbols import declaration_line
from rag_ls.lsp.protocol import RagLsServer, protocol_error, show_message
from rag_ls.model import AnchorState, Memory
from rag_ls.operations.code.references import RESOLVED
from rag_ls.storage import ChunkRow

SHOW_USES = "ragLs.showUses"

_MAX_SHOWN = 30
_MAX_USES = 1000
_NO_USES = ("definition", "override", "docs")


def register(server: RagLsServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def code_lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        session = server.session
        await session.settled()
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
            answer = await asyncio.wrap_future((await session.operations()).submit("find_references", asked))
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
    more = [f"({len(files) - _MAX_SHOWN} more)"] if len(files) > _MAX_SHOWN else []
    return "\n".join((*files[:_MAX_SHOWN], *more))


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
