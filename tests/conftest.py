"""Fixtures: user-level state in a temporary folder, little projects on disk, a client over them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from rag_ls.engine.client import Client, local_client
from rag_ls.storage.sqlite.checkout import SqliteCheckout
from tests.support import SHOP, end_engine, git_repository, open_checkout, write

settings.register_profile("rag-ls", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("rag-ls")


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """All user-level state of a test; no test sees the user's own, nor settings of the environment.

    An engine that the test started ends with it.
    """
    folder = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith(("RAG_LS_", "GIT_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("RAG_LS_HOME", str(folder))
    # The quick model is up in half a second, a torch process in ten; the vectors agree.
    monkeypatch.setenv("RAG_LS_EMBEDDING_BACKEND", "onnx")
    yield folder
    end_engine()


@pytest.fixture
def exported(home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Exported models that all tests share: an export takes as long as ten tests."""
    shared = tmp_path_factory.getbasetemp() / "openvino"
    shared.mkdir(exist_ok=True)
    models = home / "data" / "models"
    models.mkdir(parents=True, mode=0o700, exist_ok=True)
    (models / "openvino").symlink_to(shared)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A little project that no version control knows."""
    return write(tmp_path / "shop", SHOP)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The same project as a git repository."""
    return git_repository(tmp_path / "repository", SHOP)


@pytest.fixture
def client() -> Iterator[Client]:
    """A client with no project open."""
    client = local_client()
    yield client
    client.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteCheckout]:
    """An empty index in a file."""
    store = open_checkout(tmp_path / "index.db")
    yield store
    store.close()
