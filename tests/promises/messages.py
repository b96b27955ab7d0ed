"""Messages that no client should send, from one random source: each protocol's bytes, valid and not, in any order."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from rag_ls.operations import OPERATIONS
from scripts.surfaces import make_tool

# What JSON libraries refuse to write: it is put into the bytes.
_DEEP = "here it becomes deep"
# As deep as Python's parser goes, and deeper than any C does.
_DEPTHS = (300, 480, *range(900, 1000, 5), 100_000, 100_000, 100_000)
_HUGE_CHARS = 2_000_000
# What works for long or on everything: one of them now and then.
_HEAVY = frozenset(
    {"rag_setup", "scan", "export_memories", "import_memories", "optimize", "vacuum", "rag_index", "index"}
)
_RARE = 0.002
# A message in so many holds something huge.
_HUGE_SHARE = 0.0015

INITIALIZE_AGENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "any", "version": "1"}}


class Messages:
    """One client's messages; the same seed gives the same ones. `files` are URIs of documents of its project."""

    def __init__(self, seed: object, folder: str, files: list[str]) -> None:
        self.pick = random.Random(str(seed))
        self.folder = folder
        self.files = files
        self._ids = 0

    def editor(self) -> bytes:
        """One message for LSP, or what a broken client sends instead."""
        return self._framed(self._encoded(self._editors_message()))

    def agent(self) -> bytes:
        """One line for MCP."""
        return self._line(self._encoded(self._agents_message()))

    def shell(self) -> bytes:
        """One line for the engine's own protocol."""
        name, arguments = self._call()
        request = {
            "operation": name,
            "folder": self.pick.choice((self.folder, self.folder, "", "/", "no such")),
            "arguments": arguments,
        }
        return self._line(self._encoded(self._spoiled(request)))

    def http(self, token: str) -> bytes:
        """One request for HTTP."""
        name, arguments = self._call()
        body = self._encoded(self._spoiled(arguments) if self.pick.random() < 0.9 else self._agents_message())
        path = self.pick.choice(
            (
                f"/api/{name}",
                f"/api/{name}",
                "/mcp",
                "/rag-mcp/x",
                "/status",
                "/memories",
                "/search",
                "/index",
                f"/memories/{name}",
                "/\0",
                "/%00%ff",
                "/" + "a" * 9000,
            )
        )
        method = self.pick.choice(("POST", "POST", "POST", "GET", "DELETE", "PATCH", "PUT", "OPTIONS", "B\0D", ""))
        length = (
            str(len(body))
            if self.pick.random() < 0.95
            else self.pick.choice(("-1", "x", str(len(body) + 9), "9" * 30, "1"))
        )
        headers = [
            f"Host: {self.pick.choice(('127.0.0.1', '127.0.0.1', 'evil.example'))}",
            f"X-RAG-Token: {token if self.pick.random() < 0.9 else 'no'}",
            f"Content-Type: {self.pick.choice(('application/json', 'application/json', 'text/plain', ''))}",
            f"Content-Length: {length}",
            f"X-RAG-Project: {self.pick.choice((self.folder, self.folder, '%00', '/', '%ff'))}",
            f"Mcp-Session-Id: {self.pick.choice(('', 'no', 'a' * 5000))}"
            if self.pick.random() < 0.1
            else "Accept: application/json",
        ]
        if self.pick.random() < 0.02:
            headers.append(
                self.pick.choice(
                    (
                        "Transfer-Encoding: chunked",
                        "Content-Length: 3",
                        "X: " + "y" * 70_000,
                        "\0: \0",
                        "Expect: 100-continue",
                    )
                )
            )
        return self._cut(
            f"{method} {path} HTTP/1.1\r\n{chr(13) + chr(10)}".rstrip().encode()
            + b"\r\n"
            + "\r\n".join(headers).encode("utf-8", "replace")
            + b"\r\n\r\n"
            + body
        )

    def rubbish(self) -> bytes:
        """Bytes of no protocol."""
        return self.pick.choice(
            (
                self.pick.randbytes(self.pick.randrange(1, 3000)),
                b"\0" * 99,
                b"\xff\xfe{}\n",
                b"\r\n" * 50,
                b"{" * 5000,
                b"\n\n\n",
            )
        )

    def _editors_message(self) -> Any:
        method, params = self.pick.choice(self._editors_kinds())()
        return self._with_id(
            method,
            params,
            is_notification=method.startswith(
                ("textDocument/did", "workspace/did", "$/", "initialized", "exit", "window/")
            ),
        )

    def _editors_kinds(self) -> list[Callable[[], tuple[str, Any]]]:
        pick = self.pick
        document = {"uri": self._uri()}
        place = {"textDocument": document, "position": self._position()}
        span = {"start": self._position(), "end": self._position()}
        text = pick.choice(
            ("def found(x):\n    return x\n", "", "\ud800", "\0", "x\r\ny\u2028z\n", "\U0001d4b3" * 50, "(" * 3000)
        )
        opened = {
            "textDocument": {
                **document,
                "languageId": pick.choice(("python", "", "ocaml", "\0")),
                "version": pick.choice((1, -1, 2**40)),
                "text": text,
            }
        }
        changed = {
            "textDocument": {**document, "version": 2},
            "contentChanges": [{"range": span, "text": text}, {"text": text}][:: pick.choice((1, -1))][
                : pick.randrange(3)
            ],
        }
        name, arguments = self._call()
        command = next((each.command for each in OPERATIONS if each.name == name), "") or "ragLs.showPlace"
        folders = [{"uri": pick.choice((self.folder, "file:///no/such", "file:", "x")), "name": "x"}]
        kinds: list[tuple[int, str, Any]] = [
            (6, "textDocument/didOpen", opened),
            (8, "textDocument/didChange", changed),
            (2, "textDocument/didClose", {"textDocument": document}),
            (2, "textDocument/didSave", {"textDocument": document}),
            (4, "textDocument/hover", place),
            (2, "textDocument/codeAction", {"textDocument": document, "range": span, "context": {"diagnostics": []}}),
            (2, "textDocument/codeLens", {"textDocument": document}),
            (1, "textDocument/diagnostic", {"textDocument": document}),
            (1, "textDocument/definition", place),
            (3, "workspace/symbol", {"query": pick.choice(("found", "", "\0", "*" * 500))}),
            (4, "workspace/executeCommand", {"command": command, "arguments": [arguments]}),
            (
                1,
                "workspace/didChangeWatchedFiles",
                {"changes": [{"uri": self._uri(), "type": pick.choice((1, 2, 3, 9))}]},
            ),
            (
                1,
                "workspace/didChangeConfiguration",
                {"settings": pick.choice((None, {}, {"ragLs": {"search": {"k": "x"}}}, [1]))},
            ),
            (1, "workspace/didChangeWorkspaceFolders", {"event": {"added": folders, "removed": folders}}),
            (3, "$/cancelRequest", {"id": pick.choice((self._ids, "never", -1, None))}),
            (1, "window/workDoneProgress/cancel", {"token": "never"}),
            (1, "$/setTrace", {"value": "verbose"}),
            (1, "initialize", {"processId": None, "rootUri": None, "capabilities": {}}),
            (1, "initialized", {}),
            (1, pick.choice(("shutdown", "exit", "no/such", "$/no", "")) if pick.random() < 0.05 else "no/such", None),
        ]
        return [lambda kind=kind: kind[1:] for kind in kinds for _ in range(kind[0])]  # type: ignore[misc]

    def _agents_message(self) -> Any:
        pick = self.pick
        name, arguments = self._call()
        method, params = pick.choice((
            *((("tools/call", {"name": name, "arguments": arguments}),) * 5),
            ("tools/list", pick.choice(({}, {"cursor": "x"}))),
            ("resources/list", {}),
            ("resources/read", {"uri": pick.choice(("memory://x", "no", "\0", "collections://../.."))}),
            ("prompts/get", {"name": pick.choice(("no", "recall")), "arguments": {"topic": "x"}}),
            ("ping", None),
            ("notifications/cancelled", {"requestId": pick.choice((self._ids, "never", None))}),
            ("notifications/progress", {"progressToken": "never", "progress": 1}),
            ("initialize", INITIALIZE_AGENT),
            ("notifications/initialized", None),
            ("logging/setLevel", {"level": "debug"}),
            ("completion/complete", {}),
        ))  # fmt: skip
        return self._with_id(method, params, is_notification=method.startswith("notifications/"))

    def _with_id(self, method: str, params: Any, *, is_notification: bool) -> Any:
        pick = self.pick
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        if is_notification != (pick.random() < 0.02):
            pass
        else:
            self._ids += pick.random() < 0.95
            message["id"] = pick.choice((self._ids, self._ids, self._ids, f"s{self._ids}"))
        if pick.random() < 0.02:
            message = {
                "jsonrpc": "2.0",
                "id": pick.choice((1, "never", None, self._ids)),
                **pick.choice(({"result": None}, {"error": {"code": 1, "message": "x"}}, {"error": 3}, {})),
            }
        spoiled = self._spoiled(message)
        return [spoiled] * pick.randrange(4) if pick.random() < 0.01 else spoiled

    def _call(self) -> tuple[str, dict[str, Any]]:
        """An operation with arguments that fit, mostly."""
        operation = self.pick.choice(tuple(OPERATIONS))
        while operation.name in _HEAVY and self.pick.random() > _RARE:
            operation = self.pick.choice(tuple(OPERATIONS))
        schema = make_tool(operation)["inputSchema"] if operation.tool else {}
        declared = schema.get("properties", {"query": {"type": "string"}, "path": {"type": "string"}})
        wanted = [key for key in declared if key in schema.get("required", ()) or self.pick.random() < 0.3]
        return operation.name, {key: self._value(declared[key]) for key in wanted}

    def _value(self, declared: dict[str, Any]) -> Any:
        if choices := declared.get("enum"):
            return self.pick.choice(choices)
        kinds = {
            "string": ("found", "src/cart.py", "total price", "*", "", "../..", "a" * 40),
            "integer": (1, 3, 0, -1, 2**31, 2**70),
            "number": (0.5, 0, -1.0, 1e300),
            "boolean": (True, False),
            "array": ([], ["found"], ["src/cart.py"] * 3, [["x"]]),
            "object": ({}, {"x": "y"}, {"path": "src/cart.py"}),
        }
        return self.pick.choice(kinds.get(str(declared.get("type")), ("x",)))

    def _spoiled(self, message: Any) -> Any:
        """The message, in half of the cases with something in it that does not belong there."""
        if self.pick.random() < 0.5:
            return message
        holders = list(_holders(message))
        if not holders:
            return self._odd()
        holder = self.pick.choice(holders)
        key = self.pick.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if isinstance(holder, dict) and self.pick.random() < 0.3:
            del holder[key]
        else:
            holder[key] = self._odd()
        return message

    def _odd(self) -> Any:
        if self.pick.random() < _HUGE_SHARE * 2:
            return self.pick.choice(
                ("x" * _HUGE_CHARS, _DEEP, _DEEP, _DEEP, ["x"] * 300_000, {str(n): n for n in range(100_000)})
            )
        return self.pick.choice((
            None, True, -1, 0, 2**63, 2**200, -(2**31), 1e308, float("nan"), float("inf"), "", "\0",
            "\ud800", "\udfff\ud800", "x", "../../etc",
            "\u2028", "👩‍👩‍👧", "%", "'; DROP TABLE chunks; --", "\"", "(", "[", "NEAR(", "*" * 300, [], [[]], {},
            [None], {"": ""}, {"__class__": "x"},
            {"self": 1, "cls": 2, "if": 3}, [1, "a", None],
        ))  # fmt: skip

    def _uri(self) -> str:
        return self.pick.choice(
            (
                *self.files * 3,
                "untitled:1",
                "file:///etc/hostname",
                "file:///%00",
                "file:",
                "",
                "http://x/y.py",
                "file://host/x",
                f"{self.files[0]}/../../x",
                "x:" + "y" * 3000,
            )
        )

    def _position(self) -> dict[str, Any]:
        far = (0, 1, 2, 5, 10**6, 2**31 - 1, 2**31, 2**63, -1)
        return {"line": self.pick.choice(far), "character": self.pick.choice(far)}

    def _encoded(self, message: Any) -> bytes:
        body = json.dumps(message, ensure_ascii=self.pick.random() < 0.5).encode("utf-8", "surrogatepass")
        opening, closing = self.pick.choice(((b"[", b"]"), (b'{"a":', b"}")))
        depth = self.pick.choice(_DEPTHS)
        deep = opening * depth + b"1" + (closing * depth if self.pick.random() < 0.8 else b"")
        body = body.replace(json.dumps(_DEEP).encode(), deep)
        if self.pick.random() < 0.02:
            at = self.pick.randrange(len(body) + 1)
            body = (
                body[:at]
                + self.pick.choice((b"\xff", b"\0", b"\xed\xa0\x80", b'"', b"}", b"\\u12", b""))
                + body[at + 1 :]
            )
        return body

    def _framed(self, body: bytes) -> bytes:
        if self.pick.random() < 0.985:
            return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        length = self.pick.choice(
            (str(len(body) - 2), str(len(body) + 3), "-1", "x", "", "0", "9" * 40, "1e3", "\u0661", "1000000")
        )
        headers = self.pick.choice(
            (
                f"Content-Length: {length}\r\n\r\n",
                f"content-length:{length}\r\nContent-Type: x\r\n\r\n",
                f"Content-Length: {length}\n\n",
                "\r\n\r\n",
                f"Content-Length {length}\r\n\r\n",
            )
        )
        return self._cut(headers.encode() + body)

    def _line(self, body: bytes) -> bytes:
        ending = b"\n" if self.pick.random() < 0.99 else self.pick.choice((b"", b"\r\n", b"\n\n", b"\0\n"))
        return self._cut(body.replace(b"\n", b" ") + ending)

    def _cut(self, message: bytes) -> bytes:
        return message if self.pick.random() < 0.995 else message[: self.pick.randrange(len(message) + 1)]


def _holders(value: Any) -> Iterator[Any]:
    """The objects and arrays in a value that are not empty."""
    if isinstance(value, dict | list) and value:
        yield value
        for each in value.values() if isinstance(value, dict) else value:
            yield from _holders(each)
