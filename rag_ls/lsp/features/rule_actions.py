"""Code actions on a broken rule: mend it as the rule says, show the rule, show its pattern, suppress it here, remember the exception."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from lsprotocol import types

from rag_ls.errors import InvalidRequest
from rag_ls.lsp.addresses import scheme_of
from rag_ls.lsp.documents import OpenDocument
from rag_ls.lsp.features.commands import REMEMBER, plain_object
from rag_ls.lsp.features.diagnostics import SOURCE
from rag_ls.lsp.protocol import RagLsServer, plain, protocol_error, show_message
from rag_ls.rules.checks.suppression import NO_REASON, UNKNOWN_RULE, UNUSED, comment
from rag_ls.util.text import fold

SHOW = "ragLs.showPlace"

_SHOWN_SCHEMES = ("file:", "https://", "http://")
_TITLE_CHARACTERS = 80
_OF_COMMENTS = frozenset({NO_REASON, UNKNOWN_RULE, UNUSED, "rule"})


def register(server: RagLsServer) -> None:
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
    return [action for diagnostic in ours for action in _of_one(document, diagnostic)]


def _of_one(document: OpenDocument, diagnostic: types.Diagnostic) -> Iterator[types.CodeAction]:
    rule, data = str(diagnostic.code), plain(diagnostic.data)
    shown = fold(rule, _TITLE_CHARACTERS)
    data = data if isinstance(data, dict) else {}
    if isinstance(fix := data.get("fix"), str):
        title = f"Mend {shown}: {fold(fix, _TITLE_CHARACTERS) or 'remove it'}"
        yield _edit(document, title, types.TextEdit(diagnostic.range, fix), diagnostic)
    if rule not in _OF_COMMENTS:
        yield _suppression(document, diagnostic, rule)
        yield _command(
            f"Remember this exception to {shown}", REMEMBER, _exception(document, diagnostic, rule), diagnostic
        )
    if rule == UNUSED:
        yield _edit(document, "Remove this suppression", types.TextEdit(diagnostic.range, ""), diagnostic)
    if stated := data.get("stated"):
        yield _command(f"Show the rule {shown}", SHOW, {"uri": stated}, diagnostic)
    if (see := str(data.get("see", ""))).lower().startswith(_SHOWN_SCHEMES):
        where = "" if scheme_of(see) == "file" else f" in the browser: {fold(see, _TITLE_CHARACTERS)}"
        yield _command(f"Show the pattern for {shown}{where}", SHOW, {"uri": see}, diagnostic)


def _suppression(document: OpenDocument, diagnostic: types.Diagnostic, rule: str) -> types.CodeAction:
    """An edit that adds the comment; its reason is left to the user, and until it is there, that is told."""
    number = diagnostic.range.start.line
    line = document.buffer.line(number)
    indent = line[: len(line) - len(line.lstrip())]
    added = f"{indent}{comment(document.language, rule, '')}".rstrip() + "\n"
    at = types.Position(number, 0)
    return _edit(
        document,
        f"Suppress {fold(rule, _TITLE_CHARACTERS)} here (with a reason)",
        types.TextEdit(types.Range(at, at), added),
        diagnostic,
    )


def _edit(document: OpenDocument, title: str, edit: types.TextEdit, diagnostic: types.Diagnostic) -> types.CodeAction:
    return types.CodeAction(
        title=title, kind=types.CodeActionKind.QuickFix, diagnostics=[diagnostic],
        edit=types.WorkspaceEdit(changes={document.uri: [edit]}),
    )  # fmt: skip


def _command(title: str, command: str, argument: dict[str, Any], diagnostic: types.Diagnostic) -> types.CodeAction:
    return types.CodeAction(
        title=title, kind=types.CodeActionKind.QuickFix, diagnostics=[diagnostic],
        command=types.Command(title=title, command=command, arguments=[argument]),
    )  # fmt: skip


def _exception(document: OpenDocument, diagnostic: types.Diagnostic, rule: str) -> dict[str, Any]:
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
