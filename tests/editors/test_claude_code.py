"""Claude Code, as `rag-ls connect claude-code --write` sets it up: the real client checks the real server's health."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.daemon.engines import engine, until_served

pytestmark = pytest.mark.long

CLAUDE = shutil.which("claude")
RAG_LS = str(Path(sys.executable).with_name("rag-ls"))


@pytest.mark.skipif(CLAUDE is None, reason="Claude Code is not installed")
def test_claude_code_reaches_the_server_that_is_written_for_it(repository: Path, tmp_path: Path) -> None:
    subprocess.run([RAG_LS, "connect", "claude-code", "--write"], cwd=repository, check=True, timeout=60)
    assert "Connected" in _servers(repository, tmp_path / "home")


@pytest.mark.skipif(CLAUDE is None, reason="Claude Code is not installed")
def test_claude_code_reaches_the_engine_over_http(repository: Path, tmp_path: Path, http_settings: str) -> None:
    with engine():
        until_served(http_settings)
        done = subprocess.run(
            [RAG_LS, "connect", "claude-code", "--http", "--write"], cwd=repository, check=True, timeout=60,
            capture_output=True, text=True,
        )  # fmt: skip
        line = next(line for line in (done.stdout + done.stderr).splitlines() if "export RAG_LS_TOKEN=" in line)
        assert "Connected" in _servers(repository, tmp_path / "home", RAG_LS_TOKEN=line.rpartition("=")[2])


def _servers(repository: Path, home: Path, **environment: str) -> str:
    """What the real client says of the servers of a project that its user approved."""
    folder = repository / ".claude"
    folder.mkdir(exist_ok=True)
    # A server of the project waits for the user's approval in a session; this is what approving writes.
    (folder / "settings.local.json").write_text(json.dumps({"enabledMcpjsonServers": ["rag-ls"]}))
    home.mkdir()
    (home / ".claude.json").write_text(json.dumps({"projects": {str(repository): {"hasTrustDialogAccepted": True}}}))
    quiet = {"DISABLE_TELEMETRY": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    done = subprocess.run(
        [str(CLAUDE), "mcp", "list"], cwd=repository, env={**os.environ, **quiet, **environment, "HOME": str(home)},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    return done.stdout + done.stderr
