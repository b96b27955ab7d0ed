"""The LSP thread never waits for a disk: what an editor does touches no file there."""

from __future__ import annotations

import builtins
import io
import os
import sqlite3
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from rag_ls.engine.client import local_client
from rag_ls.storage.sqlite.database import Database
from tests.lsp.in_process import LSP_THREAD, InProcessEditor, in_process_editor
from tests.support import until

_CALLS = (
    (os, "stat lstat open readlink scandir listdir mkdir unlink rename replace utime access"),
    (os.path, "realpath exists isdir isfile islink"),
    (builtins, "open"),
    (io, "open"),
    (sqlite3, "connect"),
)


@pytest.fixture
def touched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The calls that touched the disk on the LSP thread, each with where it came from."""
    touched: list[str] = []

    def note(name: str) -> None:
        if threading.current_thread().name == LSP_THREAD and (ours := _our_callers()):
            touched.append(f"{name} by {' '.join(ours[:3])}")

    for module, names in _CALLS:
        for name in names.split():
            real = getattr(module, name)

            def watched(*arguments: Any, _real: Any = real, _name: str = name, **more: Any) -> Any:
                note(_name)
                return _real(*arguments, **more)

            monkeypatch.setattr(module, name, watched)
    connection = Database.connection.fget
    assert connection is not None
    monkeypatch.setattr(Database, "connection", property(lambda self: (note("SQLite"), connection(self))[1]))
    return touched


def _our_callers() -> list[str]:
    """The functions of rag-ls that are under way in this thread, the innermost first."""
    frame, found = sys._getframe(1), []
    while frame is not None:
        if f"{os.sep}rag_ls{os.sep}" in frame.f_code.co_filename:
            found.append(f"{frame.f_code.co_filename.rpartition(os.sep)[2]}:{frame.f_lineno}")
        frame = frame.f_back
    return found


def _work(editor: InProcessEditor, shop: Path) -> None:
    """What somebody does in an editor."""
    cart = shop / "src/cart.py"
    document = {"uri": cart.as_uri()}
    editor.open(cart)
    for number in range(20):
        editor.type(cart, f"# line {number}\n")
        (shop / "rag-ls.toml").write_text(f"[search]\ncode_k = {number + 1}\n")
    editor.tell("textDocument/didSave", textDocument=document)
    editor.tell("workspace/didChangeWatchedFiles", changes=[{"uri": (shop / "src/auth.py").as_uri(), "type": 2}])
    place = {"textDocument": document, "position": {"line": 21, "character": 6}}
    editor.ask("textDocument/hover", place)
    editor.ask("textDocument/codeLens", {"textDocument": document})
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 3, "character": 0}}
    editor.ask("textDocument/codeAction", {"textDocument": document, "range": whole, "context": {"diagnostics": []}})
    editor.ask("workspace/symbol", {"query": "total price"})
    editor.command("searchCode", query="total price")
    editor.command("rememberSelection", uri=cart.as_uri(), line=1, content="Prices are net.", scope="project")
    editor.tell("textDocument/didClose", textDocument=document)
    editor.open(shop / "src/auth.py")


@pytest.mark.slow
def test_nothing_that_an_editor_does_touches_a_disk_there(shop: Path, touched: list[str]) -> None:
    with in_process_editor(local_client("lsp"), shop) as editor:
        assert until(lambda: editor.command("status")["complete"])
        # What is imported when it is first used is imported now.
        _work(editor, shop)
        touched.clear()
        _work(editor, shop)
        assert touched == []


def test_the_watch_would_notice(touched: list[str], tmp_path: Path) -> None:
    def look() -> None:
        Path(tmp_path).stat()
        tmp_path.resolve()
        from rag_ls.project import find_project

        find_project(tmp_path)

    thread = threading.Thread(target=look, name=LSP_THREAD)
    thread.start()
    thread.join()
    assert any("project.py" in each for each in touched)
