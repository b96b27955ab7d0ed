"""The protocol serves several editors at once, and keeps nothing of what was told and answered."""

from __future__ import annotations

import asyncio
import concurrent.futures
import gc
import subprocess
import sys
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


_CONNECT_AT_ONCE = """
import threading, time
from lsprotocol import types
from rag_ls.lsp.protocol import RagLsServer

class SlowlyRead(dict):
    def items(self):
        for item in super().items():
            time.sleep(0.0005)
            yield item

types.ALL_TYPES_MAP = SlowlyRead(types.ALL_TYPES_MAP)
made = []
def connect(after_s):
    time.sleep(after_s)
    RagLsServer()
    made.append(1)
threads = [threading.Thread(target=connect, args=(0.1 * number,)) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(made))
"""


@pytest.mark.slow
def test_editors_that_connect_to_a_new_engine_at_once_are_all_served() -> None:
    """A process of its own, because only the first converter of a process completes the types; a busy machine reads them slowly."""
    done = subprocess.run([sys.executable, "-c", _CONNECT_AT_ONCE], capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("4", "")
