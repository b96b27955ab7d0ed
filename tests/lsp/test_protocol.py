"""The protocol keeps nothing of what was told and answered."""

from __future__ import annotations

import asyncio
import concurrent.futures
import gc
from pathlib import Path

import pytest

from rag_ls.engine.client import local_client
from tests.lsp.in_process import in_process_editor
from tests.support import until

_MESSAGES = 40


def _futures() -> int:
    gc.collect()
    return sum(issubclass(type(each), (concurrent.futures.Future, asyncio.Future)) for each in gc.get_objects())


@pytest.mark.slow
def test_what_was_typed_and_asked_is_let_go(shop: Path, home: Path) -> None:
    with in_process_editor(local_client("lsp"), shop) as editor:
        file = next(shop.rglob("*.py"))
        editor.open(file)
        editor.command("status")
        before = _futures()
        for _ in range(_MESSAGES):
            editor.type(file, "x")
            editor.command("status")
            editor.hover(file, 0, 0)
        assert until(lambda: _futures() < before + _MESSAGES // 4), "each message left a future behind"
