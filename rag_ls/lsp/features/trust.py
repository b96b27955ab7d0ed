"""The editor's own trust in a folder, such as VS Code's workspace trust.

The server asks by the request `ragLs/isTrusted` with `{"uri": FOLDER}`, before it opens the folder, if the editor's
capabilities hold `{"experimental": {"ragLs": {"tellsTrust": true}}}`. Only the result `true` makes the folder trusted;
any other takes back nothing that the user trusts otherwise. It is a request because no settings answer one: editors'
settings, initialization options too, may come from the repository.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from pygls.exceptions import JsonRpcException

from rag_ls.lsp.protocol import RagLsServer, wants

IS_TRUSTED = "ragLs/isTrusted"

_log = logging.getLogger(__name__)

_ANSWER_S = 10.0


async def is_trusted(server: RagLsServer, folder: Path) -> bool:
    """Whether the editor's user trusts a folder; False where the editor does not say."""
    if not wants(server.client_capabilities, "tellsTrust"):
        return False
    try:
        asked = server.protocol.send_request_async(IS_TRUSTED, {"uri": folder.as_uri()})
        return await asyncio.wait_for(asked, _ANSWER_S) is True
    except (JsonRpcException, TimeoutError) as error:
        _log.warning("%s is not answered: %r", IS_TRUSTED, error)
        return False
