"""Code actions: remember the selection, or show what is known about it. Each carries a server command, so that any
editor can run it.

If code is selected, the server asks the editor for a note by the request `ragLs/askForNote`. The editor's capabilities
must hold `{"experimental": {"ragLs": {"asksForNotes": true}}}`. The parameters are
`{"about": TITLE, "known": [MEMORY, ...]}`, where `known` lists the memories about the place. The result is
`{"content": NOTE}`, or null to remember nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from lsprotocol import types

from rag_ls.errors import InvalidRequest, RagLsError
from rag_ls.lsp.documents import OpenDocument, Place, file_path, scheme_of
from rag_ls.lsp.editor import EditorSession
from rag_ls.lsp.features.commands import ABOUT, REMEMBER, plain_object
from rag_ls.lsp.features.diagnostics import SOURCE
from rag_ls.lsp.protocol import RagLsServer, plain, protocol_error, show_message, wants
from rag_ls.lsp.text_buffer import Position, TextBuffer
from rag_ls.memory import MAX_CONTENT
from rag_ls.rules import NO_REASON, UNKNOWN_RULE, UNUSED, format_suppression
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.text import fold

ASK_FOR_NOTE = "ragLs/askForNote"

_MAX_TITLE_CHARACTERS = 48
_MAX_TEXT_CHARACTERS = 4000
_MAX_SHOWN = 5

SHOW = "ragLs.showPlace"
_SHOWN_SCHEMES = ("file:", "https://", "http://")
_TITLE_CHARACTERS = 80
_OF_COMMENTS = frozenset({NO_REASON, UNKNOWN_RULE, UNUSED, "rule"})
# LSP's identifiers of languages, and ours. For an unknown language an editor sends none, or "plaintext".
_PROSE = frozenset(
    "markdown plaintext text rst restructuredtext asciidoc org mdx textile latex tex html git-commit mail".split()
)
_MARKER = lazy_pattern(r'^\s*(?:///?!?|/\*+!?|\*+/?|#+!?|--+|;+|%+|<!--|"""|\'\'\'|\{-|\(\*)\s?')
_END = lazy_pattern(r'(?:(?<!\*)\*+/|-->|"""|\'\'\'|-\}|\*\))\s*$')
_CLOSING = ("*/", "-->", '"""', "'''")


def register(server: RagLsServer) -> None:
    _register_remembering(server)
    _register_showing(server)


def _register_remembering(server: RagLsServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION)
    def code_actions(params: types.CodeActionParams) -> list[types.CodeAction | types.Command]:
        document = server.session.documents.get(params.text_document.uri)
        if document is None:
            return []
        wanted = params.context.only
        fixes = rule_actions(document, params.context.diagnostics) if wants_kind(wanted, "quickfix") else []
        asks = wants(server.client_capabilities, "asksForNotes")
        return [*fixes, *(_offer_memories(document, params.range, asks=asks) if wants_kind(wanted, "empty") else [])]

    @server.command(REMEMBER)
    async def remember(*sent: Any) -> dict[str, Any]:
        arguments = plain_object(REMEMBER, sent)
        await server.session.wait_until_settled()
        content = arguments.get("content") or await _find_note(server, arguments)
        if content is None:
            return {"status": "cancelled"}
        answer = await _ask(server, "store_memory", _new_memory(server.session, {**arguments, "content": content}))
        said = "was known already" if answer["status"] == "duplicate" else "is remembered"
        where = "for all projects" if answer["scope"] == "global" else "for this project"
        show_message(server, f"“{_shorten(content)}” {said} {where}.")
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
        show_message(server, _list_memories(answer))
        return answer


def _offer_memories(
    document: OpenDocument, selected: types.Range, *, asks: bool
) -> list[types.CodeAction | types.Command]:
    line = selected.start.line
    text = _read_selection(document.buffer, selected)
    if len(text) > MAX_CONTENT:
        # Too long to store as a memory, and each action would carry it.
        text = ""
    asked = {"uri": document.uri, "line": line + 1, "text": text[:_MAX_TEXT_CHARACTERS]}
    actions: list[types.CodeAction | types.Command] = []
    if text:
        note = note_in(text, document.language) or ("" if asks else text)
        title = f"Remember this: {_shorten(note)}" if note else f"Remember a note about this: {_shorten(text)}"
        place = {"uri": document.uri, "line": line + 1, "text": text, "scope": "project"}
        actions.append(_make_action(title, REMEMBER, place))
        what = "this" if note else "a note"
        actions.append(_make_action(f"Remember {what} for all projects", REMEMBER, {**place, "scope": "global"}))
    actions.append(_make_action("What do we know about this?", ABOUT, asked))
    return actions


def _make_action(
    title: str, command: str, argument: dict[str, Any], diagnostic: types.Diagnostic | None = None
) -> types.CodeAction:
    # Without a diagnostic it has no kind, because it is neither a refactoring nor a quick fix; every editor shows that.
    return types.CodeAction(
        title=title, kind=types.CodeActionKind.QuickFix if diagnostic else None, diagnostics=[diagnostic] if diagnostic else None,
        command=types.Command(title=title, command=command, arguments=[argument]),
    )  # fmt: skip


def _read_selection(buffer: TextBuffer, selected: types.Range) -> str:
    start, end = (buffer.offset(Position(at.line, at.character)) for at in (selected.start, selected.end))
    return buffer.text[min(start, end) : max(start, end)].strip()


async def _find_note(server: RagLsServer, arguments: dict[str, Any]) -> str | None:
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
    params = {"about": _shorten(text), "known": [item for item in known if "anchor" in item["matched_by"]]}
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
        return await server.session.ask(operation, arguments)
    except RagLsError as error:
        show_message(server, str(error), types.MessageType.Warning)
        raise protocol_error(error) from error


def _refuse(server: RagLsServer, reason: str) -> Exception:
    show_message(server, reason, types.MessageType.Warning)
    return protocol_error(InvalidRequest(reason))


def _list_memories(answer: dict[str, Any]) -> str:
    hits = answer["results"]
    if not hits:
        return "Nothing was remembered about this."
    lines = [
        f"{number}. {_shorten(hit['content'], 200)}{_describe_state(hit)}"
        for number, hit in enumerate(hits[:_MAX_SHOWN], 1)
    ]
    more = f"\n({len(hits) - _MAX_SHOWN} more)" if len(hits) > _MAX_SHOWN else ""
    return "\n".join(lines) + more


def _describe_state(hit: dict[str, Any]) -> str:
    state = (hit.get("anchor") or {}).get("state")
    known = {
        "drifted": " (the code has changed since)", "orphaned": " (the code is gone)",
        "unknown": " (the code cannot be read now)",
    }  # fmt: skip
    return known.get(str(state), "")


def _shorten(text: str, length: int = _MAX_TITLE_CHARACTERS) -> str:
    return fold(text, length)


def _register_showing(server: RagLsServer) -> None:
    @server.command(SHOW)
    async def show(*sent: Any) -> dict[str, Any]:
        arguments = plain_object(SHOW, sent)
        uri, _, line = str(arguments.get("uri", "")).partition("#L")
        if not uri:
            raise protocol_error(InvalidRequest(f"{SHOW} needs 'uri', the place to show"))
        if not uri.lower().startswith(_SHOWN_SCHEMES):
            # The repository wrote the rule's `see`: an address with another scheme may run a program on this machine.
            raise protocol_error(InvalidRequest(f"{SHOW} shows files and web pages, not {uri!r}"))
        at = types.Position(max(int(line) - 1, 0) if line.isdigit() else 0, 0)
        external = scheme_of(uri) != "file"
        params = types.ShowDocumentParams(
            uri=uri, external=external, take_focus=True, selection=None if external else types.Range(at, at)
        )
        window = server.client_capabilities.window
        if window and window.show_document and window.show_document.support:
            answer = await server.window_show_document_async(params)
            return {"shown": bool(answer.success)}
        show_message(server, f"{uri} line {at.line + 1}")
        return {"shown": False}


def rule_actions(document: OpenDocument, diagnostics: Sequence[types.Diagnostic]) -> list[types.CodeAction]:
    """The actions on the broken rules among the diagnostics of a place."""
    ours = [each for each in diagnostics if each.source == SOURCE and isinstance(each.code, str)]
    return [action for diagnostic in ours for action in _offer_fixes(document, diagnostic)]


def _offer_fixes(document: OpenDocument, diagnostic: types.Diagnostic) -> Iterator[types.CodeAction]:
    rule, data = str(diagnostic.code), plain(diagnostic.data)
    shown = fold(rule, _TITLE_CHARACTERS)
    data = data if isinstance(data, dict) else {}
    if isinstance(fix := data.get("fix"), str):
        title = f"Mend {shown}: {fold(fix, _TITLE_CHARACTERS) or 'remove it'}"
        yield _make_edit(document, title, types.TextEdit(diagnostic.range, fix), diagnostic)
    if rule not in _OF_COMMENTS:
        yield _make_suppression(document, diagnostic, rule)
        yield _make_action(
            f"Remember this exception to {shown}", REMEMBER, _make_exception(document, diagnostic, rule), diagnostic
        )
    if rule == UNUSED:
        yield _make_edit(document, "Remove this suppression", types.TextEdit(diagnostic.range, ""), diagnostic)
    if stated := data.get("stated"):
        yield _make_action(f"Show the rule {shown}", SHOW, {"uri": stated}, diagnostic)
    if (see := str(data.get("see", ""))).lower().startswith(_SHOWN_SCHEMES):
        where = "" if scheme_of(see) == "file" else f" in the browser: {fold(see, _TITLE_CHARACTERS)}"
        yield _make_action(f"Show the pattern for {shown}{where}", SHOW, {"uri": see}, diagnostic)


def _make_suppression(document: OpenDocument, diagnostic: types.Diagnostic, rule: str) -> types.CodeAction:
    """An edit that adds the comment; its reason is left to the user, and until it is there, that is told."""
    number = diagnostic.range.start.line
    line = document.buffer.line(number)
    indent = line[: len(line) - len(line.lstrip())]
    added = f"{indent}{format_suppression(document.language, rule, '')}".rstrip() + "\n"
    at = types.Position(number, 0)
    return _make_edit(
        document,
        f"Suppress {fold(rule, _TITLE_CHARACTERS)} here (with a reason)",
        types.TextEdit(types.Range(at, at), added),
        diagnostic,
    )


def _make_edit(
    document: OpenDocument, title: str, edit: types.TextEdit, diagnostic: types.Diagnostic
) -> types.CodeAction:
    return types.CodeAction(
        title=title, kind=types.CodeActionKind.QuickFix, diagnostics=[diagnostic],
        edit=types.WorkspaceEdit(changes={document.uri: [edit]}),
    )  # fmt: skip


def _make_exception(document: OpenDocument, diagnostic: types.Diagnostic, rule: str) -> dict[str, Any]:
    number = diagnostic.range.start.line
    code = document.buffer.line(number).strip()
    content = f"Exception to the rule {rule} ({diagnostic.message}): `{code[:200]}` may stay as it is."
    return {
        "uri": document.uri, "line": number + 1, "text": code or rule, "content": content, "scope": "project",
        "tags": ["exception", rule],
    }  # fmt: skip


def wants_kind(only: Iterable[types.CodeActionKind | str] | None, wanted: str) -> bool:
    """Whether an editor that asks for these kinds of actions wants those of one kind."""
    kinds = [str(getattr(kind, "value", kind)) for kind in only or ()]
    return not kinds or "" in kinds or wanted in kinds


def note_in(text: str, language: str) -> str:
    """The selected text as a note, without comment marks; empty for code."""
    if not language or language.lower() in _PROSE:
        return text.strip()
    lines = [line for line in text.strip().split("\n") if line.strip()]
    bare = [_END.sub("", _MARKER.sub("", line)).strip() for line in lines]
    is_code = not all(_MARKER.match(line) for line in lines) or any(mark in line for line in bare for mark in _CLOSING)
    return "" if is_code else "\n".join(line for line in bare if line)
