"""Diagnostics: what breaks the project's rules, on the text that is being typed.

An editor that asks for diagnostics (LSP 3.17, "Pull Diagnostics") gets them on request, those of the workspace too; to
any other editor they are sent a moment after each change.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from lsprotocol import types

from rag_ls.engine import FileFindings, ProjectSession
from rag_ls.errors import RagLsError
from rag_ls.lsp.documents import Place, Spelling, place_of
from rag_ls.lsp.editor import EditorSession
from rag_ls.lsp.protocol import RagLsServer
from rag_ls.lsp.text_buffer import units
from rag_ls.project import is_guest
from rag_ls.rules import RULE_FILES, RuleProblem, Severity, Violation
from rag_ls.util.text import count_of, lines_of, message

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

_Report = types.WorkspaceFullDocumentDiagnosticReport | types.WorkspaceUnchangedDocumentDiagnosticReport


def register(server: RagLsServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC)
    async def diagnose(params: types.DocumentDiagnosticParams) -> types.RelatedFullDocumentDiagnosticReport:
        session = server.session
        await session.wait_until_settled()
        return types.RelatedFullDocumentDiagnosticReport(items=await _of_open(session, params.text_document.uri))

    @server.feature(types.WORKSPACE_DIAGNOSTIC)
    async def diagnose_workspace(params: types.WorkspaceDiagnosticParams) -> types.WorkspaceDiagnosticReport:
        session = server.session
        known = {each.uri: each.value for each in params.previous_result_ids}
        while True:
            changed = session.findings_changed
            reports = await _report_workspace(session, known)
            is_news = any(isinstance(report, types.WorkspaceFullDocumentDiagnosticReport) for report in reports)
            if is_news or not session.was_pulled:
                session.was_pulled = True
                return types.WorkspaceDiagnosticReport(items=reports)
            # LSP 3.17: such a request may stay open until there is something to report.
            await changed.wait()


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
        if any(session.documents.get(uri) is None for uri in uris):
            # Findings in a closed file are those of the workspace again.
            session.wake_pulls() if pulls else session.all_to_check.set()
        if any(uri.rsplit("/", 1)[-1] in RULE_FILES for uri in uris):
            await asyncio.sleep(_RULES_REST_S)
            session.all_to_check.set()


async def _keep_workspace(server: RagLsServer, *, pulls: bool) -> None:
    """Check all files anew when the index is complete, or the rules have changed."""
    session = server.session
    known: dict[str, str] = {}
    while True:
        await session.all_to_check.wait()
        session.all_to_check.clear()
        if pulls:
            session.wake_pulls()
            _ask_to_pull(server)
            continue
        for report in await _report_workspace(session, known):
            if isinstance(report, types.WorkspaceFullDocumentDiagnosticReport):
                _publish(server, report.uri, report.items)
                known[report.uri] = report.result_id or ""
        known = {uri: version for uri, version in known.items() if version}
        for document in session.documents.all():
            await _send(server, document.uri)


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
    """The diagnostics of an open document's present text, or of a closed file; none outside projects."""
    document, client = session.documents.get(uri), session.client_if_ready
    if client is None:
        return []
    place = (document.place if document else None) or await session.work("diagnostics", place_of, uri, client)
    if place is None or place.guest:
        return []
    spelling = session.documents.spelling()
    if document is None:
        return await session.work("diagnostics", _show_findings, place.view, place.path, None, spelling)
    return await session.work("diagnostics", _check_text, place, document.buffer.text, document.language, spelling)


def _check_text(place: Place, text: str, language: str, spelling: Spelling) -> list[types.Diagnostic]:
    checks, path = place.view.checks, place.path
    problems = checks.problems(path) if path.rsplit("/", 1)[-1] in RULE_FILES else []
    return as_diagnostics(place.view, text, checks.violations(path, text, language), problems, spelling)


def _show_findings(
    view: ProjectSession, path: str, found: FileFindings | None, spelling: Spelling
) -> list[types.Diagnostic]:
    found = found or view.checks.of_file(path)
    text = view.checks.text_of(path) if found.violations else ""
    return as_diagnostics(view, text, found.violations, found.problems, spelling)


async def _report_workspace(session: EditorSession, known: Mapping[str, str]) -> list[_Report]:
    """The diagnostics of the open projects' files, without open ones, which get those of their typed text.

    `known` are the versions of the findings that the editor has, by URI. A file without any findings is left out, unless it
    had some.
    """
    reports: dict[str, _Report] = {}
    client, is_whole = await session.client(), True
    for view in await session.work("workspace diagnostics", client.projects):
        try:
            found = await session.work(
                "workspace diagnostics", _report_project, view, known, session.documents.spelling()
            )
            reports.update((report.uri, report) for report in found)
        except RagLsError:
            # The project is gone, or its index is being rebuilt.
            is_whole = False
    for uri in known.keys() - reports.keys() if is_whole else ():
        reports[uri] = types.WorkspaceFullDocumentDiagnosticReport(uri=uri, items=[])
    for document in session.documents.all():
        reports.pop(document.uri, None)
    return list(reports.values())


def _report_project(view: ProjectSession, known: Mapping[str, str], spelling: Spelling) -> list[_Report]:
    reports: list[_Report] = []
    for path, found in view.checks.everywhere().items():
        if not (found.violations or found.problems):
            continue
        uri = spelling.uri_of(view, path)
        if known.get(uri) == found.version:
            reports.append(types.WorkspaceUnchangedDocumentDiagnosticReport(uri=uri, result_id=found.version))
        else:
            items = _show_findings(view, path, found, spelling)
            reports.append(types.WorkspaceFullDocumentDiagnosticReport(uri=uri, items=items, result_id=found.version))
    return reports


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
    return found + [_count_hidden(rule, count) for rule, count in counts.items() if count > _MAX_SHOWN]


def _count_hidden(rule: str, count: int) -> types.Diagnostic:
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
