"""Code lenses: show the number of memories above the code that they are about; a click shows the memories."""

from __future__ import annotations

from lsprotocol import types

from rag_ls.lsp.editor import EditorSession
from rag_ls.lsp.features.commands import ABOUT
from rag_ls.lsp.features.symbols import declaration_line
from rag_ls.lsp.protocol import RagLsServer
from rag_ls.model import AnchorState, Memory
from rag_ls.storage import ChunkRow


def register(server: RagLsServer) -> None:
    """Register the handler of this feature."""

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def code_lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        session: EditorSession = server.session
        await session.settled()
        uri = params.text_document.uri
        document = session.documents.get(uri)
        place = document.place if document else None
        if place is None:
            return []
        found = await session.work("lenses", place.view.lenses, place.path)
        return [_lens(uri, row, memories) for row, memories in found]


def _lens(uri: str, row: ChunkRow, memories: list[Memory]) -> types.CodeLens:
    chunk = row.stored.chunk
    line = chunk.start_line - 1 + declaration_line(chunk, chunk.symbol.rpartition(".")[2])
    drifted = sum(1 for item in memories if item.anchor and item.anchor.state is AnchorState.DRIFTED)
    title = f"{len(memories)} {'memory' if len(memories) == 1 else 'memories'}"
    if drifted:
        title += f" ({drifted} from before this code changed)"
    command = types.Command(title=title, command=ABOUT, arguments=[{"uri": uri, "line": line + 1}])
    return types.CodeLens(types.Range(types.Position(line, 0), types.Position(line, 0)), command=command)
