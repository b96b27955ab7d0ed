"""Files that other programs write all the time."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from tests.support import until
from tests.wild.project import WildProject


@pytest.mark.slow
@pytest.mark.parametrize("grows", [True, False], ids=["a log that grows", "a file that is written anew"])
def test_beside_a_file_that_keeps_changing_the_index_is_complete(client: Client, tmp_path: Path, grows: bool) -> None:
    project = WildProject(client, tmp_path / "p", {"src/cart.py": "def cart_total():\n    return 1\n"})
    assert until(lambda: project.session.project.sync_state == "watching")
    stop = threading.Event()

    def keep_writing() -> None:
        lines = [f"def wombat_{number}():\n    return {number}\n" for number in range(400)]
        while not stop.wait(0.1):
            lines = [*lines, f"def later_{len(lines)}():\n    return 1\n"] if grows else lines[1:] + lines[:1]
            (project.root / "busy.py").write_text("".join(lines))

    thread = threading.Thread(target=keep_writing)
    thread.start()
    try:
        assert until(lambda: project.search("wombat_7")[:1] == ["busy.py"])
        # What waits for the index ends, though the file goes on changing.
        assert project.session.indexing.wait_until_idle(300)
        assert until(lambda: project.session.status().complete)
    finally:
        stop.set()
        thread.join()
    # At the end it is known as it is.
    (project.root / "busy.py").write_text("def wombat_last():\n    return 1\n")
    assert until(lambda: "wombat_last" in str(project.ask("search_code", query="wombat_last")["results"]))


@pytest.mark.slow
def test_a_search_for_lines_names_files_whose_reading_would_take_long(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Reading any file takes long.
    monkeypatch.setattr("rag_ls.indexing.inbox._DEAR_S", 0.0)
    monkeypatch.setattr("rag_ls.indexing.inbox._REST_FACTOR", 10_000)
    project = WildProject(client, tmp_path / "p", {"src/cart.py": "def cart_total():\n    return 1\n"})
    assert until(lambda: project.session.project.sync_state == "watching")
    stop = threading.Event()

    def keep_writing() -> None:
        for number in itertools.count():
            (project.root / "busy.py").write_text(f"def wombat_{number}():\n    return {number}\n")
            if stop.wait(0.1):
                return

    thread = threading.Thread(target=keep_writing)
    thread.start()
    try:
        assert until(
            lambda: (
                "busy.py has changed again and is read in"
                in str(project.ask("search_code", query="cart_total", match="exact"))
            )
        )
    finally:
        stop.set()
        thread.join()
