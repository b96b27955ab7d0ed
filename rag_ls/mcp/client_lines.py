"""The agent's end of a pipe: JSON-RPC messages as lines, of which each request gets its answer, whatever else comes.

A line that is no message is answered here, a batch (which MCP had in 2025-03-26 alone) among them. When the agent closes
its end, its open requests are answered before the input ends.
"""

from __future__ import annotations

import json
import select
import threading
import time
from collections import deque
from typing import IO, Any

from rag_ls.util.json_rpc import INVALID_REQUEST, PARSE_ERROR, Message, write_all
from rag_ls.util.patterns import lazy_pattern

# If no answer comes for this long after the agent's last message, none will come.
_LAST_WORDS_S = 600.0
_LOOK_S = 0.2
_MARK = b"\xef\xbb\xbf"
# Escaped backslashes and whole characters stay. They are matched before halves of characters, which agents leave when they cut
# texts.
_HALF = lazy_pattern(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


class ClientLines:
    """Both directions of a pipe: `readline` is the input, `write` the output. One thread reads, several may write."""

    def __init__(self, source: IO[bytes], output: IO[bytes]) -> None:
        self._source = source
        self._output = output
        self._ready: deque[bytes] = deque()
        self.has_begun = False
        """Whether a message has come."""
        # Guards the fields below; notified when something was answered. Nothing is written while it is held, because the agent
        # may read only after it has written everything.
        self._change = threading.Condition()
        self._unanswered: set[str] = set()
        self._writing = 0
        self._is_gone = False
        self._output_lock = threading.Lock()

    def readline(self, limit: int = -1) -> bytes:
        """The next message with a newline; empty when the agent has left and all is answered.

        A line of `limit` bytes that does not end comes as it is.
        """
        while not self._ready:
            line = self._source.readline(limit)
            if not line:
                self._wait_for_answers()
                return b""
            if len(line) == limit and not line.endswith(b"\n"):
                return line
            if line.strip():
                self._take(line)
        return self._ready.popleft()

    def write(self, data: bytes) -> int:
        """Write one message."""
        message = _read(data)
        with self._change:
            if isinstance(message, dict) and "method" not in message:
                self._unanswered.discard(_key(message.get("id")))
            self._writing += 1
        try:
            self._send(data)
        finally:
            with self._change:
                self._writing -= 1
                self._change.notify_all()
        return len(data)

    def flush(self) -> None:
        """Do nothing: `write` does not buffer."""

    def fileno(self) -> int:
        """The descriptor of the input."""
        return self._source.fileno()

    def close(self) -> None:
        self._output.close()

    def _take(self, line: bytes) -> None:
        """Note a line, and queue its message or answer it."""
        line = _HALF.sub(lambda found: rb"\ufffd" if found["half"] else found[0], line.removeprefix(_MARK))
        # A message with bytes that are no UTF-8 would be refused without its id, so its client would wait for ever.
        line = line.decode("utf-8", "replace").encode()
        try:
            message = _read(line)
        except ValueError as error:
            self._send(_encode(_refusal(None, PARSE_ERROR, f"this line is no JSON: {error}")))
            return
        except RecursionError:
            self._send(_encode(_refusal(None, INVALID_REQUEST, "this line is nested too deeply")))
            return
        self.has_begun = True
        if isinstance(message, dict) and _fill_objects(message):
            line = _encode(message)
        with self._change:
            reason = _why_invalid(message) or self._why_doubled(message)
            if not reason:
                self._note(message)
        if reason:
            self._send(_encode(_refusal(_id_of(message), INVALID_REQUEST, reason)))
        else:
            self._ready.append(line if line.endswith(b"\n") else line + b"\n")

    def _why_doubled(self, message: Message) -> str:
        is_doubled = _is_request(message) and _key(message["id"]) in self._unanswered
        return "another request has this id, and is not answered yet" if is_doubled else ""

    def _note(self, message: Message) -> None:
        """Note a request that is to be answered, or one that the agent takes back."""
        params = message.get("params")
        if _is_request(message):
            self._unanswered.add(_key(message["id"]))
        elif message.get("method") == "notifications/cancelled" and isinstance(params, dict):
            self._unanswered.discard(_key(params.get("requestId")))

    def _send(self, data: bytes) -> None:
        try:
            with self._output_lock:
                write_all(self._output, data)
        except (OSError, ValueError):
            self._is_gone = True
            raise

    def _wait_for_answers(self) -> None:
        with self._change:
            since, left = time.monotonic(), len(self._unanswered)
            while (self._unanswered or self._writing) and not self._is_gone and not self._hung_up():
                self._change.wait(_LOOK_S)
                if len(self._unanswered) != left:
                    since, left = time.monotonic(), len(self._unanswered)
                if time.monotonic() - since > _LAST_WORDS_S:
                    return

    def _hung_up(self) -> bool:
        """Whether nobody reads the output any more."""
        try:
            poll = select.poll()
            poll.register(self._output.fileno(), 0)
            return any(event & (select.POLLERR | select.POLLHUP | select.POLLNVAL) for _, event in poll.poll(0))
        except (AttributeError, OSError, ValueError):
            # Windows has no `poll`; a stream in memory has no descriptor.
            return False


def _read(line: bytes) -> Any:
    """The JSON of a line. Raises ValueError; bytes that are no UTF-8 are replaced."""
    return json.loads(bytes(line).decode("utf-8", "replace"))


def _fill_objects(message: Message) -> bool:
    """Drop what is no object where one belongs (some languages write an empty one as `[]`) and tokens that are none; whether any was."""
    params = message.get("params")
    if params == []:
        del message["params"]
        return True
    if not isinstance(params, dict):
        return False
    about, is_changed = params.get("_meta", {}), False
    if params.get("arguments") == []:
        del params["arguments"]
        is_changed = True
    if not isinstance(about, dict):
        del params["_meta"]
        is_changed = True
    elif not _is_token(about.get("progressToken", "")):
        del about["progressToken"]
        is_changed = True
    return is_changed


def _is_token(value: object) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool)


def _why_invalid(message: Any) -> str:
    """The reason why a value is no JSON-RPC message of MCP; empty if it is one."""
    if not isinstance(message, dict):
        return "a message is one JSON object; send each of a batch by itself"
    if message.get("jsonrpc") != "2.0":
        return 'a message has "jsonrpc": "2.0"'
    request_id = message.get("id")
    if "id" in message and not _is_token(request_id):
        return "" if "method" not in message and request_id is None else "an id is a string or a whole number"
    if "method" not in message:
        return "" if "id" in message and ("result" in message or "error" in message) else "a request has a method"
    if not isinstance(message["method"], str):
        return "a method is a string"
    is_object = isinstance(message.get("params", {}), dict)
    return "" if is_object or "id" not in message else "params are an object"


def _is_request(message: Message) -> bool:
    return "method" in message and "id" in message


def _id_of(message: Any) -> object:
    found = message.get("id") if isinstance(message, dict) else None
    return found if _is_token(found) else None


def _encode(message: Message) -> bytes:
    return json.dumps(message).encode() + b"\n"


def _refusal(request_id: object, code: int, reason: str) -> Message:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": reason}}


def _key(request_id: object) -> str:
    """An id as text: 1 and "1" are two."""
    return json.dumps(request_id)
