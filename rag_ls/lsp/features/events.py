"""Passes the engine's events to the editor: refreshes its code lenses, and sends `ragLs/event` notifications.

Only editors whose capabilities hold `{"experimental": {"ragLs": {"events": true}}}` get the notification. Its
parameters are `{"events": [{"type": "memoryChanged", ...}]}`; each event has the fields of its class in
`engine.events`.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from rag_ls.engine.events import AnchorsMoved, Event, IndexComplete, MemoryChanged, SettingsChanged
from rag_ls.lsp.protocol import RagLsServer, wants

NOTIFICATION = "ragLs/event"


async def pass_on(server: RagLsServer) -> None:
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
