"""Asks pyright's language server for all references to the top-level names of Python files."""

from __future__ import annotations

import ast
import json
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

_DISCOVERY_S = 5


class PyrightServer:
    """A running `pyright-langserver` for one folder."""

    def __init__(self, command: Sequence[str], root: Path) -> None:
        self._process = subprocess.Popen([*command, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._root = root
        self._last = 0
        folders = [{"uri": root.as_uri(), "name": root.name}]
        self._ask(
            "initialize", {"processId": None, "rootUri": root.as_uri(), "capabilities": {}, "workspaceFolders": folders}
        )
        self._send({"method": "initialized", "params": {}})

    def discover(self) -> None:
        """Wait until it has found the files of the project: before, it knows the uses in some of them alone."""
        for _ in range(2):
            self._ask("workspace/symbol", {"query": "discover"})
            time.sleep(_DISCOVERY_S)

    def close(self) -> None:
        """End the server."""
        self._process.kill()
        self._process.wait()

    def users_of(self, path: str) -> set[str]:
        """The files that refer to a top-level name of the file at a project path."""
        place = self._root / path
        text = place.read_text(encoding="utf-8", errors="replace")
        uri = place.as_uri()
        self._send(
            {
                "method": "textDocument/didOpen",
                "params": {"textDocument": {"uri": uri, "languageId": "python", "version": 1, "text": text}},
            }
        )
        users: set[str] = set()
        for line, character in _names(text):
            asked = {
                "textDocument": {"uri": uri},
                "position": {"line": line, "character": character},
                "context": {"includeDeclaration": False},
            }
            for found in self._ask("textDocument/references", asked) or ():
                users.add(self._relative(found["uri"]))
        self._send({"method": "textDocument/didClose", "params": {"textDocument": {"uri": uri}}})
        return users - {path, ""}

    def references(self, path: str, line: int, character: int) -> set[tuple[str, int]]:
        """The paths and 1-based lines that refer to the name at a place (0-based) of the file at a project path."""
        place = self._root / path
        document = {
            "uri": place.as_uri(),
            "languageId": "python",
            "version": 1,
            "text": place.read_text(encoding="utf-8"),
        }
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        asked = {
            "textDocument": {"uri": place.as_uri()},
            "position": {"line": line, "character": character},
            "context": {"includeDeclaration": False},
        }
        found = self._ask("textDocument/references", asked) or ()
        self._send({"method": "textDocument/didClose", "params": {"textDocument": {"uri": place.as_uri()}}})
        return {(self._relative(each["uri"]), each["range"]["start"]["line"] + 1) for each in found}

    def imported_by(self, path: str) -> set[str]:
        """The files that the import statements of the file at a project path mean."""
        place = self._root / path
        text = place.read_text(encoding="utf-8", errors="replace")
        uri = place.as_uri()
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        found: set[str] = set()
        for line, character in _imported(text):
            asked = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
            for place_of in self._ask("textDocument/definition", asked) or ():
                found.add(self._relative(place_of["uri"]))
        self._send({"method": "textDocument/didClose", "params": {"textDocument": {"uri": uri}}})
        return found - {path, ""}

    def _relative(self, uri: str) -> str:
        place = Path(unquote(urlparse(uri).path))
        return place.relative_to(self._root).as_posix() if place.is_relative_to(self._root) else ""

    def _ask(self, method: str, params: dict[str, Any]) -> Any:
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        while True:
            message = self._read()
            if "method" in message:
                self._answer(message)
            elif message.get("id") == self._last:
                return message.get("result")

    def _answer(self, message: dict[str, Any]) -> None:
        if "id" not in message:
            return
        items = message["params"]["items"] if message["method"] == "workspace/configuration" else []
        self._send({"id": message["id"], "result": [{} for _ in items] if items else None})

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        length = 0
        while line := self._process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        found: dict[str, Any] = json.loads(self._process.stdout.read(length))
        return found


def _names(text: str) -> Iterator[tuple[int, int]]:
    """Line and character of each top-level declaration's name."""
    lines = text.splitlines()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno - 1, lines[node.lineno - 1].index(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    yield target.lineno - 1, target.col_offset


def _imported(text: str) -> Iterator[tuple[int, int]]:
    """Line and character of the last part of each imported module, and of each imported name."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                if alias.name != "*":
                    yield alias.lineno - 1, alias.col_offset + len(alias.name) - 1
        if isinstance(node, ast.ImportFrom) and node.module:
            at = lines[node.lineno - 1].find(node.module, node.col_offset + len("from"))
            if at >= 0 and not any(alias.name[:1].islower() for alias in node.names):
                yield node.lineno - 1, at + len(node.module) - 1
