"""Hover: shows memories about the code under the cursor, its callers, similar code, and the rules that name a path."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from rag_ls.engine import ProjectSession, Related, find_rules_about, summarize_history
from rag_ls.engine import hover as find_related
from rag_ls.lsp.documents import DEFAULT_SPELLING, Spelling
from rag_ls.lsp.protocol import RagLsServer
from rag_ls.lsp.text_buffer import Position
from rag_ls.model import AnchorState, Hit, Memory, StoredChunk
from rag_ls.util.text import code_span, escape_markdown, link

_MEMORY_CHARACTERS = 300
_RULE_CHARACTERS = 300
_NAME_CHARACTERS = 120
_HISTORY_CHARACTERS = 160
_MAX_RULES = 5
_LINKED_SCHEMES = ("file:", "untitled:", "vscode-notebook-cell:")
_STATES = {
    AnchorState.DRIFTED: " *(the code has changed since)*", AnchorState.ORPHANED: " *(the code is gone)*",
    AnchorState.UNKNOWN: " *(the code cannot be read now)*",
}  # fmt: skip


def register(server: RagLsServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        session = server.session
        await session.wait_until_settled()
        document = session.documents.get(params.text_document.uri)
        place = document.place if document else None
        if document is None or place is None:
            return None
        word = document.buffer.word_at(Position(params.position.line, params.position.character))
        if len(word) < 2:
            return None
        at = Position(params.position.line, params.position.character)
        spelling = session.documents.spelling()
        rules = await session.work("hover", rules_of, place.view, document.buffer.path_at(at), spelling)
        related = await session.work("hover", find_related, place.view, place.path, at.line + 1, word)
        past = await session.work("hover", summarize_history, place.view, place.path, at.line + 1, word)
        shown = (rules, markdown(place.view, related, spelling), escape_markdown(past, _HISTORY_CHARACTERS))
        text = "\n\n".join(filter(None, shown))
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None


def rules_of(view: ProjectSession, path: str, spelling: Spelling) -> str:
    """The rules that name a file or folder of the project, as the hover's text; empty where there are none."""
    path = path.strip("/").removeprefix("./")
    if not path or ".." in path.split("/") or not view.store.files_at(path, at_most=1):
        return ""
    lines = [
        f"- {escape_markdown(rule.text, _RULE_CHARACTERS)} — {_link(spelling, view, hit.row.stored.chunk.path, rule.line)}"
        for hit in find_rules_about(view, path)
        for rule in hit.key_rules
    ]
    return "**Rules**\n\n" + "\n".join(lines[:_MAX_RULES]) if lines else ""


def markdown(view: ProjectSession, related: Related, spelling: Spelling = DEFAULT_SPELLING) -> str:
    """The hover's text; empty if there is nothing to show."""
    parts = []
    if related.memories:
        parts.append("**Memories**\n\n" + "\n".join(_memory_line(spelling, view, hit) for hit in related.memories))
    if related.calls:
        calls = ((call.symbol, call.path, call.line) for call in related.calls)
        parts.append(f"**Called by**\n\n{_list_places(spelling, view, calls)}")
    chunks = [hit.item.chunk for hit in related.code if isinstance(hit.item, StoredChunk)]
    if chunks:
        code = ((chunk.symbol, chunk.path, chunk.start_line) for chunk in chunks)
        parts.append(f"**Related code**\n\n{_list_places(spelling, view, code)}")
    return "\n\n".join(parts)


def _memory_line(spelling: Spelling, view: ProjectSession, hit: Hit) -> str:
    memory = hit.item
    assert isinstance(memory, Memory)
    content = escape_markdown(memory.content, _MEMORY_CHARACTERS)
    anchor = memory.anchor
    if anchor is None:
        return f"- {content}"
    link = (
        f" — {_link(spelling, view, anchor.path, anchor.start_line)}"
        if anchor.state is not AnchorState.ORPHANED
        else ""
    )
    former, present = (code_span(symbol, _NAME_CHARACTERS) for symbol in (anchor.former_symbol, anchor.symbol))
    renamed = f" *(about {former}, now {present})*" if anchor.former_symbol else ""
    return f"- {content}{renamed}{_STATES.get(anchor.state, '')}{link}"


def _list_places(spelling: Spelling, view: ProjectSession, places: Iterable[tuple[str, str, int]]) -> str:
    """Return a line for each place: its symbol, path and line."""
    return "\n".join(
        f"- {f'{code_span(symbol, _NAME_CHARACTERS)} — ' if symbol else ''}{_link(spelling, view, path, line)}"
        for symbol, path, line in places
    )


def _link(spelling: Spelling, view: ProjectSession, path: str, line: int) -> str:
    uri, shown = spelling.uri_of(view, path), f"{path}:{line}" if line else path
    if not uri.lower().startswith(_LINKED_SCHEMES):
        # A file's name may look like a web address, and an editor may send any text as a foreign file's address. Neither
        # becomes a link.
        return escape_markdown(shown)
    return link(shown, f"{uri}#L{line}" if line else uri)
