"""Code actions: remember the selection, ask what is known about it. Each carries a server command, so any editor can run it."""

from __future__ import annotations

import asyncio
from typing import Any

from lsprotocol import types

from rag_ls.errors import InvalidRequest, RagLsError
from rag_ls.lsp.documents import OpenDocument, Place, file_path
from rag_ls.lsp.editor import Session
from rag_ls.lsp.features.commands import ABOUT, REMEMBER, plain_object
from rag_ls.lsp.protocol import RagLsServer, protocol_error
from rag_ls.lsp.text_buffer import Position, TextBuffer
from rag_ls.memory.content_checks import MAX_CONTENT

_TITLE = 48
_LONGEST = 4000
_SHOWN = 5


def register(server: RagLsServer) -> None:
    """Register the handlers of this feature."""

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION)
    def code_actions(params: types.CodeActionParams) -> list[types.CodeAction | types.Command]:
        session: Session = server.session
        document = session.documents.get(params.text_document.uri)
        if document is None or (params.context.only and not any(map(_is_ours, params.context.only))):
            return []
        return _actions(document, params.range)

    @server.command(REMEMBER)
    async def remember(*arguments: Any) -> dict[str, Any]:
        answer = await _asked(server, "store_memory", _new_memory(server.session, plain_object(REMEMBER, arguments)))
        said = "was known already" if answer["status"] == "duplicate" else "is remembered"
        _say(server, f"It {said} ({answer['scope']}, {answer['id'][:8]}).")
        return answer

    @server.command(ABOUT)
    async def about(*arguments: Any) -> dict[str, Any]:
        given = plain_object(ABOUT, arguments)
        path = file_path(str(given.pop("uri", "")))
        if path is not None:
            answer = await _asked(server, "memories_about", {"path": str(path), **given})
        else:
            # An untitled document is no place that a memory could be about.
            if not str(given.get("text", "")).strip():
                raise _refused(server, "select the text that you ask about")
            answer = await _asked(server, "search_memory", {"query": given.get("text", "")})
        _say(server, _brief(answer))
        return answer


def _actions(document: OpenDocument, selected: types.Range) -> list[types.CodeAction | types.Command]:
    line = selected.start.line
    text = _text(document.buffer, selected)
    if len(text) > MAX_CONTENT:
        # It would not be kept, and each action carries it.
        text = ""
    asked = {"uri": document.uri, "line": line + 1, "text": text[:_LONGEST]}
    actions: list[types.CodeAction | types.Command] = []
    if text:
        title = f"Remember this: {_short(text)}"
        place = {"uri": document.uri, "line": line + 1, "content": text, "scope": "project"}
        actions.append(_action(title, REMEMBER, place))
        actions.append(_action("Remember this for all projects", REMEMBER, {**place, "scope": "global"}))
    actions.append(_action("What do we know about this?", ABOUT, asked))
    return actions


def _action(title: str, command: str, argument: dict[str, Any]) -> types.CodeAction:
    # An empty kind is shown by every editor; a refactoring or a quick fix it is not.
    return types.CodeAction(title=title, command=types.Command(title=title, command=command, arguments=[argument]))


def _is_ours(kind: str | types.CodeActionKind) -> bool:
    return str(getattr(kind, "value", kind)) in ("", "empty")


def _text(buffer: TextBuffer, selected: types.Range) -> str:
    start, end = (buffer.offset(Position(at.line, at.character)) for at in (selected.start, selected.end))
    return buffer.text[min(start, end) : max(start, end)].strip()


def _new_memory(session: Session, given: dict[str, Any]) -> dict[str, Any]:
    """What to store for a selection: its text, about the place where it stands."""
    content = given.get("content")
    if not isinstance(content, str):
        raise protocol_error(InvalidRequest(f"{REMEMBER} needs 'content', the text to remember"))
    uri = str(given.get("uri", ""))
    document = session.documents.get(uri)
    place: Place | None = document.place if document else None
    metadata: dict[str, Any] = {"tags": given.get("tags") or []}
    path = file_path(uri)
    if path is not None and not (place and place.guest):
        metadata |= {"source_file": str(path), "line": given.get("line")}
    if document is not None and document.language:
        metadata["language"] = document.language
    return {"content": content, "scope": given.get("scope", "project"), "metadata": metadata}


async def _asked(server: RagLsServer, operation: str, given: dict[str, Any]) -> dict[str, Any]:
    session: Session = server.session
    try:
        return await asyncio.wrap_future((await session.operations()).submit(operation, given))
    except RagLsError as error:
        _say(server, str(error), types.MessageType.Warning)
        raise protocol_error(error) from error


def _refused(server: RagLsServer, reason: str) -> Exception:
    _say(server, reason, types.MessageType.Warning)
    return protocol_error(InvalidRequest(reason))


def _brief(answer: dict[str, Any]) -> str:
    hits = answer["results"]
    if not hits:
        return "Nothing was remembered about this."
    lines = [f"{number}. {_short(hit['content'], 200)}{_state(hit)}" for number, hit in enumerate(hits[:_SHOWN], 1)]
    more = f"\n({len(hits) - _SHOWN} more)" if len(hits) > _SHOWN else ""
    return "\n".join(lines) + more


def _state(hit: dict[str, Any]) -> str:
    state = (hit.get("anchor") or {}).get("state")
    return {"drifted": " (the code has changed since)", "orphaned": " (the code is gone)"}.get(str(state), "")


def _say(server: RagLsServer, text: str, kind: types.MessageType = types.MessageType.Info) -> None:
    server.window_show_message(types.ShowMessageParams(kind, f"rag-ls: {text}"))


def _short(text: str, length: int = _TITLE) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"
