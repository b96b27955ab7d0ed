"""Diagnostics: what breaks the project's rules, on the text that is being typed.

An editor that asks for diagnostics (LSP 3.17, "Pull Diagnostics") gets them on request, those of the workspace too; to
any other editor they are sent a moment after each change.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence

from lsprotocol import types

from rag_ls.engine.session import ProjectSession
from rag_ls.errors import RagLsError
from rag_ls.lsp.addresses import Spelling
from rag_ls.lsp.documents import OpenDocument, Place, place_of
from rag_ls.lsp.editor import EditorSession
from rag_ls.lsp.protocol import RagLsServer
from rag_ls.lsp.text_buffer import units
from rag_ls.project import is_guest
from rag_ls.rules.checks.records import RuleProblem, Severity, Violation
from rag_ls.rules.checks.rule_files import RULE_FILES
from rag_ls.util.quoting import message
from rag_ls.util.text import count_of, lines_of

SOURCE = "rag-ls"
# Keys that are typed within this time are checked together.
_GATHER_S = 0.03
# After an edit of a file of rules, wait this long before all files are checked: more edits may follow.
_RULES_REST_S = 0.5
# The most places of a rule that are underlined in a file; a last line counts the others.
_MAX_SHOWN = 100
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


def register(server: RagLsServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC)
    async def diagnose(params: types.DocumentDiagnosticParams) -> types.RelatedFullDocumentDiagnosticReport:
        session = server.session
        await session.settled()
        return types.RelatedFullDocumentDiagnosticReport(items=await _of_open(session, params.text_document.uri))

    @server.feature(types.WORKSPACE_DIAGNOSTIC)
    async def diagnose_workspace(params: types.WorkspaceDiagnosticParams) -> types.WorkspaceDiagnosticReport:
        session = server.session
        found = await _of_workspace(session)
        open_uris = {document.uri for document in session.documents.all()}
        # An open document gets diagnostics of its typed text.
        reports = [
            types.WorkspaceFullDocumentDiagnosticReport(uri=uri, items=items)
            for uri, items in found.items()
            if uri not in open_uris
        ]
        return types.WorkspaceDiagnosticReport(items=reports)


async def keep_diagnosed(server: RagLsServer) -> None:
    """Send diagnostics as documents change, or tell the editor when to ask again, until the session ends."""
    session = server.session
    document = server.client_capabilities.text_document
    pulls = bool(document and document.diagnostic)
    session.spawn(_keep_workspace(server, pulls=pulls))
    while True:
        uris = {await session.edited.get()}
        await asyncio.sleep(_GATHER_S)
        while not session.edited.empty():
            uris.add(session.edited.get_nowait())
        if not pulls:
            for uri in uris:
                session.spawn(_send(server, uri))
        if any(uri.rsplit("/", 1)[-1] in RULE_FILES for uri in uris):
            await asyncio.sleep(_RULES_REST_S)
            session.all_to_check.set()


async def _keep_workspace(server: RagLsServer, *, pulls: bool) -> None:
    """Check all files anew when the index is complete, or the rules have changed."""
    session = server.session
    shown: set[str] = set()
    while True:
        await session.all_to_check.wait()
        session.all_to_check.clear()
        if pulls:
            _ask_to_pull(server)
            continue
        found = await _of_workspace(session)
        for uri in shown - found.keys():
            _publish(server, uri, [])
        open_uris = {document.uri for document in session.documents.all()}
        for uri, items in found.items():
            if uri not in open_uris:
                _publish(server, uri, items)
        shown = {uri for uri, items in found.items() if items and uri not in open_uris}
        for uri in open_uris:
            await _send(server, uri)


async def _send(server: RagLsServer, uri: str) -> None:
    """Send the diagnostics of a document, unless newer text came meanwhile, whose turn comes then."""
    session = server.session
    document = session.documents.get(uri)
    text = document.buffer.text if document else ""
    items = await _of_open(session, uri)
    document = session.documents.get(uri)
    if document is None or document.buffer.text == text:
        _publish(server, uri, items)


def _publish(server: RagLsServer, uri: str, items: Sequence[types.Diagnostic]) -> None:
    server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri=uri, diagnostics=list(items)))


def _ask_to_pull(server: RagLsServer) -> None:
    workspace = server.client_capabilities.workspace
    if workspace and workspace.diagnostics and workspace.diagnostics.refresh_support:
        server.workspace_diagnostic_refresh(None)


async def _of_open(session: EditorSession, uri: str) -> list[types.Diagnostic]:
    """The diagnostics of an open document's present text; none for a closed one, and outside projects."""
    document = session.documents.get(uri)
    client = session.client_if_ready
    if document is None or client is None:
        return []
    place = document.place or await session.work("diagnostics", place_of, uri, client)
    if place is None or place.guest:
        return []
    text = document.buffer.text
    found, problems = await session.work("diagnostics", _check, place, document, text)
    return as_diagnostics(place.view, text, found, problems, session.documents.spelling())


def _check(place: Place, document: OpenDocument, text: str) -> tuple[list[Violation], list[RuleProblem]]:
    checks = place.view.checks
    problems = checks.problems(place.path) if place.path.rsplit("/", 1)[-1] in RULE_FILES else []
    return checks.violations(place.path, text, document.language), problems


async def _of_workspace(session: EditorSession) -> dict[str, list[types.Diagnostic]]:
    """The diagnostics of all files of the open projects, by URI; a file without any has an empty list."""
    found: dict[str, list[types.Diagnostic]] = {}
    client = await session.client()
    for view in await session.work("workspace diagnostics", client.projects):
        try:
            found |= await session.work("workspace diagnostics", _everywhere, view, session.documents.spelling())
        except RagLsError:
            # The project is gone, or its index is being rebuilt.
            continue
    return found


def _everywhere(view: ProjectSession, spelling: Spelling) -> dict[str, list[types.Diagnostic]]:
    problems = view.checks.rules().problems
    found: dict[str, list[types.Diagnostic]] = {}
    for path, text, violations in view.checks.everywhere():
        found[spelling.uri_of(view, path)] = as_diagnostics(view, text, violations, (), spelling)
    for path in {problem.path for problem in problems}:
        of_file = [problem for problem in problems if problem.path == path]
        found.setdefault(spelling.uri_of(view, path), []).extend(as_diagnostics(view, "", (), of_file, spelling))
    return found


def as_diagnostics(
    view: ProjectSession,
    text: str,
    violations: Iterable[Violation],
    problems: Iterable[RuleProblem],
    spelling: Spelling,
) -> list[types.Diagnostic]:
    """The problems of a text, as LSP has them."""
    lines = lines_of(text)
    found = [
        types.Diagnostic(
            range=types.Range(types.Position(problem.line - 1, 0), types.Position(problem.line, 0)),
            message=message(problem.message), severity=_SEVERITIES[problem.severity], source=SOURCE, code="rule",
        )
        for problem in problems
    ]  # fmt: skip
    counts = Counter[str]()
    for each in violations:
        counts[each.rule] += 1
        if counts[each.rule] <= _MAX_SHOWN:
            found.append(_diagnostic(view, lines, each, spelling))
    return found + [_told_of_more(rule, count) for rule, count in counts.items() if count > _MAX_SHOWN]


def _told_of_more(rule: str, count: int) -> types.Diagnostic:
    """The places of a rule that are not shown, told in the first line."""
    places = count_of(count - _MAX_SHOWN, "more place in this file breaks", "more places in this file break")
    more = f"{places} the rule {rule}: it may match more than is meant"
    return types.Diagnostic(
        range=types.Range(types.Position(0, 0), types.Position(1, 0)), message=message(more),
        severity=types.DiagnosticSeverity.Information, source=SOURCE, code=rule,
    )  # fmt: skip


def _diagnostic(view: ProjectSession, lines: Sequence[str], found: Violation, spelling: Spelling) -> types.Diagnostic:
    place = found.place
    start = _position(lines, place.line, place.column, spelling.encoding)
    end = _position(lines, place.end_line, place.end_column, spelling.encoding)
    path, _, line = found.stated_at.rpartition(":")
    stated = f"{spelling.uri_of(view, path)}#L{line}" if path else ""
    see = found.see if found.see.startswith(("https://", "http://")) else ""
    if found.see and not is_guest(found.see, view.project.root):
        see = spelling.uri_of(view, found.see)
    return types.Diagnostic(
        range=types.Range(start, end), message=message(found.message), severity=_SEVERITIES[found.severity], source=SOURCE,
        code=found.rule, code_description=types.CodeDescription(href=stated) if stated else None,
        data={"rule": found.rule, "stated": stated, "see": see, **({} if found.fix is None else {"fix": found.fix})},
    )  # fmt: skip


def _position(lines: Sequence[str], line: int, column: int, encoding: str) -> types.Position:
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    return types.Position(line - 1, units(text, column, encoding))
