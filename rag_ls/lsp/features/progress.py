"""Indexing as work-done progress that the user can cancel, and the engine's events: lenses are refreshed, `ragLs/event` is sent.

Only editors whose capabilities hold `{"experimental": {"ragLs": {"events": true}}}` get the notification. Its
parameters are `{"events": [{"type": "memoryChanged", ...}]}`; each event has the fields of its class in `engine.events`.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import uuid
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lsprotocol import types

from rag_ls.engine import AnchorsMoved, Event, IndexComplete, MemoryChanged, ProjectSession, SettingsChanged
from rag_ls.indexing import Phase, Progress
from rag_ls.lsp.features.diagnostics import keep_diagnosed
from rag_ls.lsp.protocol import RagLsServer, show_message, wants
from rag_ls.util.journey import Journey, title_of
from rag_ls.util.text import fold

# A report for every file would flood the editor.
_REPORT_EVERY_S = 0.2
_BUSY = (Phase.SCANNING, Phase.READING, Phase.EMBEDDING, Phase.WAITING)
# Fewer files or chunks are done before a user could read the progress.
_MIN_NOTABLE = 20
_NAME_CHARACTERS = 80
_STOPPED = "stopped; ragLs.reindex goes on"

NOTIFICATION = "ragLs/event"


def register(server: RagLsServer) -> None:
    running: dict[str, ProjectSession] = {}

    @server.feature(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def cancelled(params: types.WorkDoneProgressCancelParams) -> None:
        if view := running.get(str(params.token)):
            view.indexing.cancel()

    async def show_all() -> None:
        while True:
            view = await server.session.opened_projects.get()
            server.session.spawn(_show(server, view, running))

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        session = server.session
        window = server.client_capabilities.window
        if window and window.work_done_progress:
            session.spawn(show_all())
        session.spawn(_tell_problems(server))
        session.spawn(_pass_on(server))
        session.spawn(keep_diagnosed(server))
        _watch_files(server)
        await session.start()


async def _show(server: RagLsServer, view: ProjectSession, running: dict[str, ProjectSession]) -> None:
    """Show one project's indexing until the session ends."""
    loop, changed = asyncio.get_running_loop(), asyncio.Event()
    stop = view.indexing.listen(lambda _: _call_soon(loop, changed))
    try:
        while True:
            if _is_notable(view.indexing.progress) and not _find_obstacle(view, view.indexing.progress):
                await _show_run(server, view, running, changed)
            await changed.wait()
            changed.clear()
    finally:
        stop()


async def _show_run(
    server: RagLsServer, view: ProjectSession, running: dict[str, ProjectSession], changed: asyncio.Event
) -> None:
    token = f"rag-ls-{uuid.uuid4()}"
    await server.work_done_progress.create_async(token)
    running[token] = view
    title = f"Indexing {fold(view.project.name, _NAME_CHARACTERS)}"
    progress = server.work_done_progress
    progress.begin(token, types.WorkDoneProgressBegin(title=title, cancellable=True, percentage=0))
    journey = Journey(embeds=not view.settings.embedding.is_off)
    while (state := view.indexing.progress).phase in _BUSY and not _find_obstacle(view, state):
        progress.report(token, make_report(journey, state))
        changed.clear()
        await asyncio.sleep(_REPORT_EVERY_S)
        await changed.wait()
    progress.end(token, make_end(state, _find_obstacle(view, state)))
    del running[token]


def make_report(journey: Journey, state: Progress) -> types.WorkDoneProgressReport:
    """The report on one step of a journey: the percentage alone counts, so that no two numbers disagree."""
    step = asdict(state)
    at = journey.at(step)
    message = ", ".join(part for part in (title_of(journey.phase_of(step)), str(at)) if part)
    return types.WorkDoneProgressReport(message=message, percentage=int(100 * at.done))


def make_end(state: Progress, obstacle: str = "") -> types.WorkDoneProgressEnd:
    """The last word on a journey that is over, that the user stopped, or that goes on by itself once an obstacle is gone."""
    return types.WorkDoneProgressEnd(message=obstacle or (_STOPPED if state.phase is Phase.CANCELLED else "done"))


def _find_obstacle(view: ProjectSession, state: Progress) -> str:
    """The reason why nothing happens though work is left, for people; empty while something does."""
    if problem := view.indexing.problem:
        return f"waits: {problem}"
    is_read = state.phase is Phase.EMBEDDING or (state.phase is Phase.READING and state.done >= state.total)
    reason_to_wait = view.indexing.embeddings.waits_for if is_read else ""
    return f"found by words; embedding waits: {reason_to_wait}" if reason_to_wait else ""


def _is_notable(state: Progress) -> bool:
    return state.phase is Phase.SCANNING or (state.phase in _BUSY and state.total >= _MIN_NOTABLE)


async def _tell_problems(server: RagLsServer) -> None:
    while True:
        problem = await server.session.problems.get()
        show_message(server, problem, types.MessageType.Warning)


def _watch_files(server: RagLsServer) -> None:
    """Ask the client to report changes by other programs, if it can; do not wait for its answer."""
    workspace = server.client_capabilities.workspace
    watched = workspace.did_change_watched_files if workspace else None
    if watched and watched.dynamic_registration:
        options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(glob_pattern="**/*")])
        registration = types.Registration("rag-ls-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        server.client_register_capability(types.RegistrationParams([registration]))


def _call_soon(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    # The loop may close at any moment, as the session ends.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(event.set)


async def _pass_on(server: RagLsServer) -> None:
    """Pass events to the editor until the session ends."""
    session = server.session
    wants_events = wants(server.client_capabilities, "events")
    while True:
        events = [event for event in await session.events.take() if session.is_concerned(event)]
        if any(isinstance(event, MemoryChanged | AnchorsMoved) for event in events):
            _refresh_lenses(server)
        if any(isinstance(event, IndexComplete) for event in events):
            _refresh_lenses(server)
            session.all_to_check.set()
        if any(isinstance(event, SettingsChanged) for event in events):
            session.spawn(session.tell_problems())
        if wants_events and events:
            server.protocol.notify(NOTIFICATION, {"events": [_json(event) for event in events]})


def _refresh_lenses(server: RagLsServer) -> None:
    workspace = server.client_capabilities.workspace
    if workspace and workspace.code_lens and workspace.code_lens.refresh_support:
        server.workspace_code_lens_refresh(None)


def _json(event: Event) -> dict[str, Any]:
    name = type(event).__name__
    values = {key: str(value) if isinstance(value, Path) else value for key, value in dataclasses.asdict(event).items()}
    return {"type": name[0].lower() + name[1:], **values}
