"""End-to-end tests run the installed command with its default settings and the real default model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_ls.config import Settings
from rag_ls.model import Scope
from rag_ls.storage import open_memories
from tests.support import end_engine, git_repository, use_home

FILES = {
    "src/billing/invoice.py": (
        '"""Invoices."""\n\n\ndef round_amount(amount: float) -> float:\n'
        '    """Round an invoice amount half up to whole cents, as the tax office wants it."""\n'
        "    cents = int(amount * 100 + 0.5)\n    return cents / 100\n\n\n"
        "def total_with_tax(net: float, rate: float) -> float:\n"
        '    """Add the value added tax to a net price and round the sum to cents."""\n'
        "    return round_amount(net * (1 + rate))\n"
    ),
    "src/net/client.py": (
        "import time\n\n\ndef retry_with_backoff(call, attempts=5):\n"
        '    """Call a flaky network function again, waiting twice as long after each failure."""\n'
        "    delay = 0.1\n    for attempt in range(attempts):\n        try:\n            return call()\n"
        "        except ConnectionError:\n            time.sleep(delay)\n            delay *= 2\n"
        '    raise TimeoutError("gave up")\n\n\n'
        "class Session:\n    def refresh_token(self, token):\n"
        '        """Exchange an expired access token for a new one at the login server."""\n'
        "        return retry_with_backoff(lambda: self.post('/token', token))\n"
    ),
    "src/ui/Button.tsx": (
        "import React from 'react';\n\n/** A round button that shows a spinner while its action runs. */\n"
        "export function SpinnerButton(props: { onPress: () => Promise<void> }) {\n"
        "  const [busy, setBusy] = React.useState(false);\n"
        "  return <button disabled={busy} onClick={() => props.onPress()}>{busy ? '...' : 'Go'}</button>;\n}\n"
    ),
    "src/queue/retry.go": (
        "package queue\n\n// RetryWithBackoff calls a flaky network function again and waits twice as long after each failure.\n"
        "func RetryWithBackoff(call func() error, attempts int) error {\n\tdelay := 100\n"
        "\tfor i := 0; i < attempts; i++ {\n\t\tif err := call(); err == nil {\n\t\t\treturn nil\n\t\t}\n"
        "\t\tsleep(delay)\n\t\tdelay *= 2\n\t}\n\treturn errGaveUp\n}\n"
    ),
    "docs/decisions.md": (
        "# Decisions\n\n## Money\n\nAmounts are rounded half up to cents, never to even.\n\n"
        "## Network\n\nRetries wait at most thirty seconds in all.\n"
    ),
    ".gitignore": "build/\n",
}


@pytest.fixture(scope="session")
def engine_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The user-level state of the one engine that most of these tests share: starting one takes as long as a test."""
    folder = tmp_path_factory.mktemp("engine_home")
    yield folder
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAG_LS_HOME", str(folder))
        end_engine()


@pytest.fixture(autouse=True)
def home(
    request: pytest.FixtureRequest,
    engine_home: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Path]:
    """All user-level state of a test. What it told the engine that others share is forgotten after it."""
    owns = request.node.get_closest_marker("own_engine") is not None
    folder = tmp_path_factory.mktemp("home") if owns else engine_home
    use_home(folder, monkeypatch)
    yield folder
    if owns:
        end_engine()
    else:
        _forget_all(folder)


def _forget_all(home: Path) -> None:
    """Remove the memories and project names that a test left with the user."""
    data = home / "data"
    (data / "projects.json").unlink(missing_ok=True)
    if (data / "memories.db").exists():
        memories = open_memories(data, Scope.GLOBAL, Settings())
        memories.clear()
        memories.close()


@pytest.fixture(autouse=True)
def _default_settings(exported: None) -> None:
    """The default backend, whose exported model all tests share."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git repository in several languages."""
    return git_repository(tmp_path / "project", FILES)
