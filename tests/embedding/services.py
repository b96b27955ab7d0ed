"""A server that speaks Ollama's API and OpenAI's `/v1/embeddings` as their references describe them, refusals included.

Neither server can be had here; vectors are hashes of the texts.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

DIMENSIONS = 16
DIGEST = "0a109f422b47e3a30ba2b10eca18548e944e8a23073ee3f3e947efcf3c45e59f"


@dataclass
class EmbeddingService:
    """What the server does, and what it was asked."""

    models: dict[str, str] = field(default_factory=lambda: {"nomic-embed-text:v1.5": DIGEST})
    """Ollama's models by name, with their digests."""
    key: str = ""
    """The key that OpenAI's API asks for; empty for none."""
    max_characters: int = 1_000_000
    """A request with more is refused as too long."""
    refused: str = ""
    """A request with this text in it is refused as too long, whatever its length."""
    bad: tuple[str, int, object] | None = None
    """A request with this text in it gets this status and body, whatever its length."""
    dimensions: int = DIMENSIONS
    answers: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)
    """Given out first, one to each request for vectors: status, headers, body."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    """The bodies of requests for vectors."""
    port: int = 0
    connections: list[socket.socket] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def texts(self) -> list[str]:
        return [text for body in self.asked for text in body["input"]]


@contextmanager
def serving(service: EmbeddingService) -> Iterator[EmbeddingService]:
    """Serve until the block ends, at the same port as before if it had one."""
    server = ThreadingHTTPServer(("127.0.0.1", service.port), _handler(service))
    server.daemon_threads = True
    service.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        for connection in service.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        service.connections.clear()
        thread.join()


def vector_of(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    digest = hashlib.sha256(text.encode()).digest()
    return (np.frombuffer(digest[:dimensions], dtype=np.uint8).astype(float) - 127.5).tolist()


def _handler(service: EmbeddingService) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            service.connections.append(self.connection)

        def do_GET(self) -> None:
            if self.path == "/api/tags":
                models = [{"name": name, "model": name, "digest": digest} for name, digest in service.models.items()]
                self._answer(200, {"models": models})
            else:
                self._answer(404, {"error": "not found"})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if self.path == "/api/show":
                known = body["model"] in service.models
                self._answer(*((200, {"model_info": {"nomic-bert.context_length": 2048}}) if known else (404, {})))
            elif self.path in ("/api/embed", "/v1/embeddings"):
                service.asked.append(body)
                if service.answers:
                    status, headers, content = service.answers.pop(0)
                    self._send(status, content, headers)
                elif service.bad and any(service.bad[0] in text for text in body["input"]):
                    self._answer(*service.bad[1:])
                elif self.path == "/api/embed":
                    self._ollama(body)
                else:
                    self._openai(body)
            else:
                self._answer(404, {"error": "not found"})

        def _ollama(self, body: dict[str, Any]) -> None:
            if not {body["model"], f"{body['model']}:latest"} & set(service.models):
                self._answer(404, {"error": f'model "{body["model"]}" not found, try pulling it first'})
            elif self._is_too_long(body):
                self._answer(400, {"error": "the input length exceeds the context length"})
            else:
                vectors = [vector_of(text, service.dimensions) for text in body["input"]]
                self._answer(200, {"model": body["model"], "embeddings": vectors, "prompt_eval_count": 7})

        def _openai(self, body: dict[str, Any]) -> None:
            if service.key and self.headers.get("authorization") != f"Bearer {service.key}":
                self._answer(401, {"error": {"message": "Incorrect API key provided", "type": "invalid_request_error"}})
            elif body["model"] != "small":
                self._answer(404, {"error": {"message": f"The model `{body['model']}` does not exist"}})
            elif self._is_too_long(body):
                self._answer(400, {"error": {"message": "This model's maximum context length is 8192 tokens"}})
            else:
                vectors = list(enumerate(vector_of(text, service.dimensions) for text in body["input"]))
                # The order is not promised: `index` says which is which.
                data = [{"object": "embedding", "index": at, "embedding": vector} for at, vector in reversed(vectors)]
                self._answer(200, {"object": "list", "data": data, "model": "small", "usage": {"total_tokens": 5}})

        def _is_too_long(self, body: dict[str, Any]) -> bool:
            is_refused = bool(service.refused) and any(service.refused in text for text in body["input"])
            return is_refused or sum(map(len, body["input"])) > service.max_characters

        def _answer(self, status: int, body: object) -> None:
            self._send(status, json.dumps(body).encode(), {"content-type": "application/json"})

        def _send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    return Handler
