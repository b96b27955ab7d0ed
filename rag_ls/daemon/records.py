"""Records a relayed session, so that another engine can take it over.

A record sees every message in both directions. `replay` returns the messages that bring a new engine to the session's
present state: the handshake, the open documents and the unanswered requests.
"""

from __future__ import annotations

import json
from typing import IO, Any

from rag_ls.daemon.unfinished import OpenDocuments, PendingRequests
from rag_ls.errors import EngineFailed
from rag_ls.util.json_rpc import (
    LOST_MEMORIES,
    REQUEST_FAILED,
    Message,
    framed,
    parsed,
    read_framed,
    read_line,
    refuse_unreadable,
)

# LSP, `ErrorCodes` and `MessageType`.
_SERVER_CANCELLED_CODE = -32802
_WARNING_TYPE = 2


class McpRecord:
    """An MCP session: its handshake, its unanswered requests, and whether it keeps memories that end with the engine."""

    surface = "mcp"
    is_over = False
    """Whether the client ended the session."""

    def __init__(self, initialize_result: Any) -> None:
        """`initialize_result` makes the answer to the client's `initialize` from its params."""
        self.name = ""
        """The name that the client gave in its handshake."""
        self._initialize_result = initialize_result
        self.requests = PendingRequests()
        self._initialize: Message | None = None
        self._initialized: Message | None = None
        self._storing: set[str] = set()
        self._has_memories = False

    def read(self, source: IO[bytes]) -> bytes | None:
        """Read the next message, or None at the end. Raises `MessageTooLong`."""
        return read_line(source)

    def frame(self, message: Message) -> bytes:
        """Encode a message for sending."""
        return json.dumps(message).encode() + b"\n"

    def from_client(self, body: bytes) -> tuple[bytes | None, list[Message]]:
        """Note a client's message: (what to send to the engine, messages to answer the client with at once)."""
        message = parsed(body)
        if message is None:
            return body, []
        method = message.get("method")
        if method == "initialize" and "id" in message and self._initialize is None:
            self._initialize, self.name = message, _client_name(message)
            self.requests.answer_here(message)
            return body, [_answer(message, self._initialize_result(message.get("params")))]
        if method == "notifications/initialized":
            self._initialized = message
        if method == "notifications/cancelled" and isinstance(message.get("params"), dict):
            self.requests.forget(message["params"].get("requestId"))
        if "id" in message and (reason := self.requests.why_refused(message)):
            return None, [_tool_refusal(message, reason)]
        if _stores_for_session(message):
            self._storing.add(json.dumps(message.get("id")))
        return body if self.requests.from_client(message) else None, []

    def from_engine(self, body: bytes) -> bool:
        """Note an engine's message; whether to send it to the client."""
        message = parsed(body)
        if message is not None and (key := json.dumps(message.get("id"))) in self._storing:
            self._storing.discard(key)
            self._has_memories = True
        return message is None or self.requests.from_engine(message)

    def answer_without_engine(self) -> list[Message]:
        """Return answers to requests that are not worth starting an engine for, used while none is connected."""
        return []

    def engine_died(self, log: str, *, keeps_dying: bool) -> list[Message]:
        """Note that an engine died; returns what the client is told.

        These are refusals of requests that were pending at too many deaths, or of all pending ones if engines keep dying,
        and a note on a text that is withheld. `log` is the file that says why.
        """
        return [_tool_refusal(*each) for each in self.requests.engine_died(log, keeps_dying=keeps_dying)]

    def replay(self) -> tuple[list[Message], list[Message]]:
        """Return the messages that bring a new engine, and those that bring the client, to the session's present state."""
        if self._initialize is None:
            return [*self.requests.list_unanswered()], []
        self.requests.answer_here(self._initialize)
        initialize = _mark_loss(self._initialize) if self._has_memories else self._initialize
        self._has_memories = False
        handshake = [message for message in (initialize, self._initialized) if message is not None]
        return [*handshake, *self.requests.list_unanswered()], []


class LspRecord:
    """An LSP session: its handshake, settings, folders, open documents, unanswered requests and shown progress.

    Its methods are those of `McpRecord`.
    """

    surface = "lsp"

    def __init__(self, initialize_result: Any) -> None:
        """`initialize_result` makes the answer to the client's `initialize` from its params."""
        self.name = ""
        self.is_over = False
        self.process_id: int | None = None
        self.was_shut_down = False
        self._initialize_result = initialize_result
        self.requests = PendingRequests()
        self._initialize: Message | None = None
        self._later: dict[str, Message] = {}
        self._folders: list[Message] = []
        self._documents = OpenDocuments()
        self._progress: dict[str, object] = {}
        self._was_replayed = False

    def read(self, source: IO[bytes]) -> bytes | None:
        return read_framed(source)

    def frame(self, message: Message) -> bytes:
        return framed(json.dumps(message).encode())

    def from_client(self, body: bytes) -> tuple[bytes | None, list[Message]]:
        message = parsed(body)
        if message is None:
            # The relay answers it: an engine that is just starting would never see it.
            return None, [refuse_unreadable(body)]
        method, params = message.get("method"), message.get("params")
        params = params if isinstance(params, dict) else {}
        if method == "initialize" and "id" in message and self._initialize is None:
            return body, [self._note_initialize(message, params)]
        if method in ("initialized", "workspace/didChangeConfiguration"):
            self._later[method] = message
        elif method == "workspace/didChangeWorkspaceFolders":
            self._folders.append(message)
        elif method == "shutdown":
            self.was_shut_down = True
        elif method == "exit":
            self.is_over = True
        elif isinstance(method, str) and method.startswith("textDocument/did"):
            told = self._documents.note_change(message)
            return body if told is message else None if told is None else json.dumps(told).encode(), []
        if "id" in message and (reason := self.requests.why_refused(message)):
            return None, [_refusal(message, reason)]
        return body if self.requests.from_client(message) else None, []

    def from_engine(self, body: bytes) -> bool:
        message = parsed(body)
        if message is None:
            return True
        if message.get("method") == "$/progress" and isinstance(message.get("params"), dict):
            self._note_progress(message["params"])
        return self.requests.from_engine(message)

    def answer_without_engine(self) -> list[Message]:
        asked = self.requests.take_requests("shutdown")
        return [_answer(message, None) for message in asked]

    def engine_died(self, log: str, *, keeps_dying: bool) -> list[Message]:
        notes = [_warning(note) for note in self._documents.engine_died(log)]
        # It waits for a change for hours, so no engine ended because of it; the client asks again (LSP 3.17).
        withdrawn = [_make_withdrawal(asked) for asked in self.requests.take_requests("workspace/diagnostic")]
        refused = self.requests.engine_died(log, keeps_dying=keeps_dying)
        if refused and not keeps_dying:
            # The engines died of these requests, and not of the withheld texts.
            self._documents.clear_blame()
        return [*withdrawn, *(_refusal(*each) for each in refused), *notes]

    def replay(self) -> tuple[list[Message], list[Message]]:
        if self._initialize is None:
            return [*self.requests.list_unanswered()], []
        self.requests.answer_here(self._initialize)
        ended = [
            {"jsonrpc": "2.0", "method": "$/progress", "params": {"token": token, "value": {"kind": "end"}}}
            for token in self._progress.values()
        ]
        self._progress.clear()
        initialize = _drop_file_watching(self._initialize) if self._was_replayed else self._initialize
        self._was_replayed = True
        state = [initialize, *self._later.values(), *self._folders, *self._documents.replay()]
        return [*state, *self.requests.list_unanswered()], ended

    def _note_initialize(self, message: Message, params: Message) -> Message:
        self._initialize, self.name = message, _client_name(message)
        process_id = params.get("processId")
        self.process_id = process_id if isinstance(process_id, int) else None
        self.requests.answer_here(message)
        result = self._initialize_result(params)
        self._documents.encoding = result["capabilities"]["positionEncoding"]
        return _answer(message, result)

    def _note_progress(self, params: Message) -> None:
        value, token = params.get("value"), params.get("token")
        kind = value.get("kind") if isinstance(value, dict) else None
        if kind == "begin":
            self._progress[json.dumps(token)] = token
        elif kind == "end":
            self._progress.pop(json.dumps(token), None)


Record = McpRecord | LspRecord
"""A session of one protocol."""


def _drop_file_watching(initialize: Message) -> Message:
    """The handshake without the client's offer to watch files, which the former engine already accepted."""
    try:
        params = initialize["params"]
        workspace = {**params["capabilities"]["workspace"], "didChangeWatchedFiles": {"dynamicRegistration": False}}
    except (KeyError, TypeError):
        return initialize
    return {**initialize, "params": {**params, "capabilities": {**params["capabilities"], "workspace": workspace}}}


def _stores_for_session(message: Message) -> bool:
    """Whether a message has a memory stored that ends with the engine."""
    params = message.get("params")
    if message.get("method") != "tools/call" or not isinstance(params, dict) or params.get("name") != "store_memory":
        return False
    arguments = params.get("arguments")
    return isinstance(arguments, dict) and arguments.get("scope") == "session"


def _mark_loss(initialize: Message) -> Message:
    params = initialize.get("params")
    if not isinstance(params, dict):
        return initialize
    meta = params["_meta"] if isinstance(params.get("_meta"), dict) else {}
    return {**initialize, "params": {**params, "_meta": {**meta, LOST_MEMORIES: True}}}


def _answer(request: Message, result: object) -> Message:
    return {"jsonrpc": "2.0", "id": request["id"], "result": result}


def _refusal(request: Message, reason: str) -> Message:
    error = {"code": REQUEST_FAILED, "message": reason, "data": {"type": EngineFailed.__name__}}
    return {"jsonrpc": "2.0", "id": request["id"], "error": error}


def _make_withdrawal(request: Message) -> Message:
    error = {
        "code": _SERVER_CANCELLED_CODE,
        "message": "the engine ended; ask again",
        "data": {"retriggerRequest": True},
    }
    return {"jsonrpc": "2.0", "id": request["id"], "error": error}


def _warning(text: str) -> Message:
    return {
        "jsonrpc": "2.0",
        "method": "window/showMessage",
        "params": {"type": _WARNING_TYPE, "message": f"rag-ls: {text}"},
    }


def _tool_refusal(request: Message, reason: str) -> Message:
    """As a tool's own error, which the model reads; MCP, "Tools", "Error Handling"."""
    if request.get("method") != "tools/call":
        return _refusal(request, reason)
    return _answer(request, {"content": [{"type": "text", "text": reason}], "isError": True})


def _client_name(initialize: Message) -> str:
    params = initialize.get("params")
    info = params.get("clientInfo") if isinstance(params, dict) else None
    return str(info.get("name", "")) if isinstance(info, dict) else ""
