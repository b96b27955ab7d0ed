"""An editor, and an agent that reaches the same engine over HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import httpx2 as httpx
import pytest

from rag_ls.daemon.paths import user_config_file
from tests.daemon.engines import answer, free_port
from tests.e2e.clients import editor
from tests.support import PATIENCE_S, write

pytestmark = pytest.mark.own_engine


@pytest.mark.slow
async def test_what_is_typed_in_the_editor_is_found_over_http(project: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    settings = Path(user_config_file())
    write(settings.parent, {settings.name: f"[http]\naddress = {json.dumps(address)}\n"})
    file = project / "src/billing/invoice.py"
    async with editor(project) as ed:
        await ed.until_complete()
        ed.open(file)
        ed.type(file, "def unsaved_heron():\n    return 'beak'\n\n\n", at=(3, 0))
        await ed.command("status")
        assert address in answer("open")["url"]
        headers = {"x-rag-token": answer("token", "add", "agent")["token"]}
        asked = {"query": "unsaved_heron"}
        found = httpx.post(f"http://{address}/api/search_code", json=asked, headers=headers, timeout=PATIENCE_S)
        hit = found.json()["results"][0]
        assert "unsaved_heron" in hit["text"]
        assert hit["freshness"] == "buffer"
