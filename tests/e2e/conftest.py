"""End-to-end tests run rag-ls with its default settings and the real default model."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import git_repository

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


@pytest.fixture(autouse=True)
def _default_settings(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default backend."""
    monkeypatch.delenv("RAG_LS_EMBEDDING_BACKEND")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git repository in several languages."""
    return git_repository(tmp_path / "project", FILES)
