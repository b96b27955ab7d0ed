"""The folders that an agent's program names (MCP, "Roots"), for a server that was started in none: Zed passes no path."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
import mcp_types as types

_log = logging.getLogger(__name__)

_PATIENCE_S = 3.0
_MAX_ROOTS = 20


async def ask_roots(session: Any) -> list[Path] | None:
    """The folders that a client names; None from one that offers none, or does not answer in time."""
    offered = session.client_capabilities
    if offered is None or offered.roots is None:
        return None
    try:
        with anyio.fail_after(_PATIENCE_S):
            answer = await session.send_request(types.ListRootsRequest(), types.ListRootsResult)
    except Exception as error:
        # The agent waits for an answer to its own request, not to ours.
        _log.warning("the agent's program did not say its folders: %s: %s", type(error).__name__, error)
        return None
    folders = (_folder_of(str(root.uri)) for root in answer.roots[:_MAX_ROOTS])
    return [folder for folder in folders if folder is not None]


def _folder_of(uri: str) -> Path | None:
    """The folder on this machine that a URI names."""
    parts = urlsplit(uri)
    folder = Path(url2pathname(parts.path))
    is_here = parts.scheme == "file" and parts.netloc in ("", "localhost")
    return folder if is_here and folder.is_absolute() else None
