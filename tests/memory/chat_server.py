"""A language model on this machine that says what it is told to, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class ChatServer:
    """`status` and `answer` are what it says to every request; bytes go out as they are."""

    url: str = ""
    status: int = 200
    answer: Any = None
    delay: threading.Event = field(default_factory=threading.Event)
    """Answers wait for it."""
    asked: list[tuple[str, Mapping[str, str], Any]] = field(default_factory=list)
    """Path, headers and body of each request."""

    def speaks_openai(self, text: object) -> None:
        """Answer as "Create chat completion" of OpenAI's API reference has it."""
        self.answer = {
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1767225600, "model": "small",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text, "refusal": None}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18},
        }  # fmt: skip

    def speaks_ollama(self, text: object) -> None:
        """Answer as "Generate a chat completion" of Ollama's API has it, with `stream` false."""
        self.answer = {
            "model": "small", "created_at": "2026-01-01T00:00:00.0Z", "message": {"role": "assistant", "content": text},
            "done": True, "done_reason": "stop", "total_duration": 1, "eval_count": 9,
        }  # fmt: skip


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    """A server while it lasts."""
    told = ChatServer()
    told.delay.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            told.asked.append((self.path, dict(self.headers), json.loads(body)))
            told.delay.wait(10)
            data = told.answer if isinstance(told.answer, bytes) else json.dumps(told.answer).encode()
            if told.status == 0:
                self.wfile.write(data)
                return
            self.send_response(told.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        told.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield told
        finally:
            told.delay.set()
            server.shutdown()
            thread.join()
