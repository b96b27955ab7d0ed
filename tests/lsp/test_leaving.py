"""An editor that leaves without `shutdown` is let go, whatever hangs behind its session."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

from rag_ls.engine.client import local_client
from rag_ls.engine.events import Event
from rag_ls.lsp.hand_over import HandOver
from rag_ls.lsp.server import serve
from tests.commands import run_command
from tests.lsp.in_process import InProcessEditor
from tests.support import PATIENCE_S


def test_an_editor_that_went_without_a_word_waits_for_its_projects_for_a_limited_time(shop: Path) -> None:
    client, may_go_on, is_closing = local_client("lsp"), threading.Event(), threading.Event()

    def hang(_: Event) -> None:
        if is_closing.is_set():
            may_go_on.wait()

    codes: list[int] = []
    (source, requests), (answers, output) = os.pipe(), os.pipe()
    server_source, server_output = os.fdopen(source, "rb"), os.fdopen(output, "wb", 0)

    def run() -> None:
        codes.append(serve(server_source, server_output, lambda _: client, watch_parent=False, close_s=0.1))

    serving = threading.Thread(target=run, daemon=True)
    serving.start()
    to, back = os.fdopen(requests, "wb"), os.fdopen(answers, "rb")
    editor = InProcessEditor(to, back)
    folders = [{"uri": shop.as_uri(), "name": "shop"}]
    editor.ask("initialize", {"processId": None, "capabilities": {}, "workspaceFolders": folders})
    editor.tell("initialized")
    assert editor.command("status")["projects"]
    client.engine.events.listen(hang)
    is_closing.set()
    to.close()
    try:
        serving.join(PATIENCE_S)
        assert codes == [1], "it left without shutdown"
    finally:
        may_go_on.set()
        server_output.close()
        client.close()


def test_the_end_of_the_event_loop_waits_for_no_work_that_hangs() -> None:
    disk_answers, has_ended = threading.Event(), threading.Event()

    def wait_for_disk() -> None:
        disk_answers.wait()

    async def open_and_leave() -> None:
        hand_over = HandOver(lambda: None)
        hand_over.put(wait_for_disk)
        # The work has begun when its thread runs.
        while not any(thread.name == "lsp aside" for thread in threading.enumerate()):
            await asyncio.sleep(0)

    def run() -> None:
        asyncio.run(open_and_leave())
        has_ended.set()

    threading.Thread(target=run, daemon=True).start()
    try:
        assert has_ended.wait(PATIENCE_S)
    finally:
        disk_answers.set()


def test_a_first_message_that_is_too_long_ends_the_session_with_its_reason(tmp_path: Path) -> None:
    done = run_command("lsp", "--standalone", folder=tmp_path, typed="Content-Length: 999999999999\r\n\r\n{}")
    assert (done.returncode, done.stdout) == (1, "")
    assert "a message of 999,999,999,999 bytes was announced" in done.stderr
    assert "Traceback" not in done.stderr
