"""An engine that serves HTTP on a free port, its projects, and callers with tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from rag_ls.config.engine_settings import HttpSettings
from rag_ls.engine.engine import Engine
from rag_ls.http.server import HttpServer
from rag_ls.http.tokens import Access, TokenFile
from rag_ls.locations import user_data_folder
from tests.conftest import IndexedProjects
from tests.support import PATIENCE_S, SHOP

QUIET = HttpSettings(address="127.0.0.1:0")
CLINIC = {"clinic.py": "def book_appointment(patient):\n    return diary.add(patient)\n"}


@dataclass
class Served:
    """A server, and how to call it."""

    engine: Engine
    server: HttpServer
    tokens: TokenFile
    clients: list[httpx.Client] = field(default_factory=list)

    def token(self, name: str = "tester", access: Access = Access.ADMIN, projects: tuple[str, ...] = ()) -> str:
        """The secret of a new token."""
        return self.tokens.add(name, access, projects)[1]

    def caller(self, token: str = "", **headers: str) -> httpx.Client:
        """A client that shows a token, if any."""
        shown = {"x-rag-token": token} if token else {}
        client = httpx.Client(base_url=self.server.url, headers={**shown, **headers}, timeout=PATIENCE_S)
        self.clients.append(client)
        return client

    def ask(self, caller: httpx.Client, operation: str, **arguments: Any) -> Any:
        """The answer of an operation that must succeed."""
        answer = caller.post(f"/api/{operation}", json=arguments)
        assert answer.status_code == 200, answer.text
        return answer.json()


Serve = Callable[..., Served]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts servers; ends them after the test."""
    running: list[Served] = []

    def start(settings: HttpSettings = QUIET, **changes: Any) -> Served:
        engine, tokens = Engine(), TokenFile(user_data_folder())
        served = Served(engine, HttpServer(engine, replace(settings, **changes), tokens), tokens)
        served.server.start()
        running.append(served)
        return served

    yield start
    for served in running:
        for client in served.clients:
            client.close()
        served.server.stop()
        served.engine.close()


@pytest.fixture
def served(serve: Serve) -> Served:
    """A server with the settings' defaults."""
    return serve()


@pytest.fixture
def two_projects(served: Served, indexed_projects: IndexedProjects, tmp_path: Path) -> Served:
    """The same, with two indexed projects: shop and clinic."""
    caller = served.caller(served.token("setup"))
    for name, files in (("shop", SHOP), ("clinic", CLINIC)):
        root = indexed_projects.copy(files, tmp_path / name)
        served.engine.registry.add(root, name)
        answer = caller.post("/api/index", json={}, headers={"x-rag-project": name})
        assert answer.json().get("complete"), answer.text
    return served
