"""Code actions: remember the selection, or show what is known about it. Each carries a server command, so that any
editor can run it.

If code is selected, the server asks the editor for a note by the request `ragLs/askForNote`. The editor's capabilities
must hold `{"experimental": {"ragLs": {"asksForNotes": true}}}`. The parameters are
`{"about": TITLE, "known": [MEMORY, ...]}`, where `known` lists the memories about the place. The result is
`{"content": NOTE}`, or null to remember nothing.
"""

from __future__ import annotations

import asyncio
from typing import Any

from lsprotocol import types

from rag_ls.errors import InvalidRequest, RagLsError
from rag_ls.lsp.addresses import file_path
from rag_ls.lsp.documents import OpenDocument, Place
from rag_ls.lsp.editor import EditorSession
from rag_ls.lsp.features.commands import ABOUT, REMEMBER, plain_object
from rag_ls.lsp.features.rule_actions import rule_actions, wants_kind
from rag_ls.lsp.notes import note_in
from rag_ls.lsp.protocol import RagLsServer, plain, protocol_error, show_message, wants
from rag_ls.lsp.text_buffer import Position, TextBuffer
from rag_ls.memory.new_memories import MAX_CONTENT
from rag_ls.util.text import fold

ASK_FOR_NOTE = "ragLs/askForNote"

_MAX_TITLE_CHARACTERS = 48
_MAX_TEXT_CHARACTERS = 4000
_MAX_SHOWN = 5


def register(server: RagLsServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION)
    def code_actions(params: types.CodeActionParams) -> list[types.CodeAction | types.Command]:
        document = server.session.documents.get(params.text_document.uri)
        if document is None:
            return []
        wanted = params.context.only
        fixes = rule_actions(document, params.context.diagnostics) if wants_kind(wanted, "quickfix") else []
        asks = wants(server.client_capabilities, "asksForNotes")
        return [*fixes, *(_actions(document, params.range, asks=asks) if wants_kind(wanted, "empty") else [])]

    @server.command(REMEMBER)
    async def remember(*sent: Any) -> dict[str, Any]:
        arguments = plain_object(REMEMBER, sent)
        await server.session.settled()
        content = arguments.get("content") or await _note(server, arguments)
        if content is None:
            return {"status": "cancelled"}
        answer = await _ask(server, "store_memory", _new_memory(server.session, {**arguments, "content": content}))
        said = "was known already" if answer["status"] == "duplicate" else "is remembered"
        where = "for all projects" if answer["scope"] == "global" else "for this project"
        show_message(server, f"“{_short(content)}” {said} {where}.")
        return answer

    @server.command(ABOUT)
    async def about(*sent: Any) -> dict[str, Any]:
        arguments = plain_object(ABOUT, sent)
        path = file_path(str(arguments.pop("uri", "")))
        if path is not None:
            answer = await _ask(server, "memories_about", {"path": str(path), **arguments})
        else:
            # A memory cannot be about a place in an untitled document, so search by the text.
            if not str(arguments.get("text", "")).strip():
                raise _refuse(server, "select the text that you ask about")
            answer = await _ask(server, "search_memory", {"query": arguments.get("text", ""), "is_unsaved": True})
        show_message(server, _brief(answer))
        return answer


def _actions(document: OpenDocument, selected: types.Range, *, asks: bool) -> list[types.CodeAction | types.Command]:
    line = selected.start.line
    text = _text(document.buffer, selected)
    if len(text) > MAX_CONTENT:
        # Too long to store as a memory, and each action would carry it.
        text = ""
    asked = {"uri": document.uri, "line": line + 1, "text": text[:_MAX_TEXT_CHARACTERS]}
    actions: list[types.CodeAction | types.Command] = []
    if text:
        note = note_in(text, document.language) or ("" if asks else text)
        title = f"Remember this: {_short(note)}" if note else f"Remember a note about this: {_short(text)}"
        place = {"uri": document.uri, "line": line + 1, "text": text, "scope": "project"}
        actions.append(_action(title, REMEMBER, place))
        what = "this" if note else "a note"
        actions.append(_action(f"Remember {what} for all projects", REMEMBER, {**place, "scope": "global"}))
    actions.append(_action("What do we know about this?", ABOUT, asked))
    return actions


def _action(title: str, command: str, argument: dict[str, Any]) -> types.CodeAction:
    # Without a kind, because it is neither a refactoring nor a quick fix; every editor shows that.
    return types.CodeAction(title=title, command=types.Command(title=title, command=command, arguments=[argument]))


def _text(buffer: TextBuffer, selected: types.Range) -> str:
    start, end = (buffer.offset(Position(at.line, at.character)) for at in (selected.start, selected.end))
    return buffer.text[min(start, end) : max(start, end)].strip()


async def _note(server: RagLsServer, arguments: dict[str, Any]) -> str | None:
    """The note to remember for a selection: the selection itself if it is prose or a comment, else the user's answer.

    None if the user cancels. Of a client that cannot ask the user, the selected code is the note.
    """
    session = server.session
    text, uri = str(arguments.get("text", "")), str(arguments.get("uri", ""))
    if not text.strip():
        raise _refuse(server, "select what is to be remembered, or what the note is about")
    document, path = session.documents.get(uri), file_path(uri)
    if note := note_in(text, document.language if document else ""):
        return note
    if not wants(server.client_capabilities, "asksForNotes"):
        return text
    known = []
    if path is not None:
        known = (await _ask(server, "memories_about", {"path": str(path), "line": arguments.get("line")}))["results"]
    params = {"about": _short(text), "known": [item for item in known if "anchor" in item["matched_by"]]}
    answer = plain(await server.protocol.send_request_async(ASK_FOR_NOTE, params))
    content = str((answer or {}).get("content", "")).strip()
    return content or None


def _new_memory(session: EditorSession, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments to store a note about the place of a selection."""
    content = arguments.get("content")
    if not isinstance(content, str):
        raise protocol_error(InvalidRequest(f"{REMEMBER} needs 'content', the note, or 'text', what is selected"))
    uri = str(arguments.get("uri", ""))
    document = session.documents.get(uri)
    place: Place | None = document.place if document else None
    metadata: dict[str, Any] = {"tags": arguments.get("tags") or []}
    path = file_path(uri)
    if path is not None and not (place and place.guest):
        metadata |= {"source_file": str(path), "line": arguments.get("line")}
    if document is not None and document.language:
        metadata["language"] = document.language
    return {"content": content, "scope": arguments.get("scope", "project"), "metadata": metadata}


async def _ask(server: RagLsServer, operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        return await asyncio.wrap_future((await server.session.operations()).submit(operation, arguments))
    except RagLsError as error:
        show_message(server, str(error), types.MessageType.Warning)
        raise protocol_error(error) from error


def _refuse(server: RagLsServer, reason: str) -> Exception:
    show_message(server, reason, types.MessageType.Warning)
    return protocol_error(InvalidRequest(reason))


def _brief(answer: dict[str, Any]) -> str:
    hits = answer["results"]
    if not hits:
        return "Nothing was remembered about this."
    lines = [f"{number}. {_short(hit['content'], 200)}{_state(hit)}" for number, hit in enumerate(hits[:_MAX_SHOWN], 1)]
    more = f"\n({len(hits) - _MAX_SHOWN} more)" if len(hits) > _MAX_SHOWN else ""
    return "\n".join(lines) + more


def _state(hit: dict[str, Any]) -> str:
    state = (hit.get("anchor") or {}).get("state")
    known = {
        "drifted": " (the code has changed since)", "orphaned": " (the code is gone)",
        "unknown": " (the code cannot be read now)",
    }  # fmt: skip
    return known.get(str(state), "")


def _short(text: str, length: int = _MAX_TITLE_CHARACTERS) -> str:
    return fold(text, length)
