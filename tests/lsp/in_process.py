"""An editor and its language server in one process: messages over pipes, the server's event loop in a thread."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from rag_ls.engine.client import Client
from rag_ls.lsp.server import serve
from rag_ls.util.json_rpc import framed, read_framed

LSP_THREAD = "lsp"
_PATIENCE_S = 180.0

Json = dict[str, Any]


class InProcessEditor:
    """The editor's end. Requests are answered in order of their ids."""

    def __init__(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        self._requests = requests
        self._answers = answers
        self._number = 0
        self._arrived = threading.Condition()
        self._results: dict[object, Json] = {}
        self.notified: list[Json] = []
        self.replies: dict[str, Callable[[Any], Any]] = {}
        """What the editor answers to requests of the server, by method; null to all others."""
        threading.Thread(target=self._read, daemon=True).start()

    def ask(self, method: str, params: Any) -> Any:
        """The result of a request. Raises `AssertionError` with the error of one that is refused."""
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": params})
        with self._arrived:
            assert self._arrived.wait_for(lambda: number in self._results, _PATIENCE_S), f"{method} is not answered"
        answer = self._results.pop(number)
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def hover(self, file: Path, line: int, character: int) -> str:
        """What a hover shows at a place, both counted from 0; empty where it shows nothing."""
        place = {"textDocument": {"uri": file.as_uri()}, "position": {"line": line, "character": character}}
        shown = self.ask("textDocument/hover", place)
        return str(shown["contents"]["value"]) if shown else ""

    def lenses(self, file: Path) -> list[Json]:
        """The code lenses of a file."""
        return list(self.ask("textDocument/codeLens", {"textDocument": {"uri": file.as_uri()}}))

    def actions(self, file: Path, lines: tuple[int, int], **context: Any) -> list[Json]:
        """The code actions for some whole lines, from the first up to before the last, counted from 0."""
        selected = {"start": {"line": lines[0], "character": 0}, "end": {"line": lines[1], "character": 0}}
        document = {"uri": file.as_uri()}
        asked = {"textDocument": document, "range": selected, "context": {"diagnostics": [], **context}}
        return list(self.ask("textDocument/codeAction", asked))

    def run(self, action: Json) -> Any:
        """Run the command of a lens or an action."""
        command = action["command"]
        return self.ask("workspace/executeCommand", {key: command[key] for key in ("command", "arguments")})

    def tell(self, method: str, **params: Any) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def open(self, file: Path, language: str = "python") -> None:
        """Open a file."""
        item = {"uri": file.as_uri(), "languageId": language, "version": 1, "text": file.read_text()}
        self.tell("textDocument/didOpen", textDocument=item)

    def type(self, file: Path, text: str) -> None:
        """Type at the beginning."""
        start = {"line": 0, "character": 0}
        document = {"uri": file.as_uri(), "version": 2}
        changes = [{"range": {"start": start, "end": start}, "text": text}]
        self.tell("textDocument/didChange", textDocument=document, contentChanges=changes)

    def command(self, name: str, **arguments: Any) -> Any:
        """Run a `ragLs.*` command."""
        return self.ask("workspace/executeCommand", {"command": f"ragLs.{name}", "arguments": [arguments]})

    def _send(self, message: Json) -> None:
        self._requests.write(framed(json.dumps({"jsonrpc": "2.0", **message}).encode()))
        self._requests.flush()

    def _read(self) -> None:
        while (body := read_framed(self._answers)) is not None:
            message = json.loads(body)
            if "method" in message and "id" in message:
                reply = self.replies.get(message["method"], lambda params: None)
                self._send({"id": message["id"], "result": reply(message.get("params"))})
                continue
            with self._arrived:
                if "method" in message:
                    self.notified.append(message)
                else:
                    self._results[message["id"]] = message
                self._arrived.notify_all()


@contextmanager
def in_process_editor(
    client: Client,
    *folders: Path,
    capabilities: Mapping[str, Any] | None = None,
    replies: Mapping[str, Callable[[Any], Any]] | None = None,
    start: Mapping[str, Any] | None = None,
) -> Iterator[InProcessEditor]:
    """An editor on some folders, whose server uses `client`; `replies` as those of `InProcessEditor`.

    `start` has parameters of `initialize` in place of the usual ones.
    """
    (source, requests), (answers, output) = os.pipe(), os.pipe()
    server_source, server_output = os.fdopen(source, "rb"), os.fdopen(output, "wb", 0)
    thread = threading.Thread(
        target=lambda: serve(server_source, server_output, lambda _: client, watch_parent=False),
        name=LSP_THREAD,
        daemon=True,
    )
    thread.start()
    with os.fdopen(requests, "wb") as to, os.fdopen(answers, "rb") as back:
        editor = InProcessEditor(to, back)
        editor.replies |= replies or {}
        names = [{"uri": folder.as_uri(), "name": folder.name} for folder in folders]
        usual = {"processId": None, "rootUri": None, "capabilities": capabilities or {}, "workspaceFolders": names}
        editor.ask("initialize", {**usual, **(start or {})})
        editor.tell("initialized")
        try:
            yield editor
        finally:
            editor.ask("shutdown", None)
            editor.tell("exit")
            thread.join(_PATIENCE_S)
    assert not thread.is_alive()
