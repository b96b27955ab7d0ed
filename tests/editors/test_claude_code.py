"""Claude Code, as `rag-ls connect claude-code --write` sets it up: the real client checks the real server's health."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CLAUDE = shutil.which("claude")
RAG_LS = str(Path(sys.executable).with_name("rag-ls"))


@pytest.mark.skipif(CLAUDE is None, reason="Claude Code is not installed")
def test_claude_code_reaches_the_server_that_is_written_for_it(repository: Path, tmp_path: Path) -> None:
    subprocess.run([RAG_LS, "connect", "claude-code", "--write"], cwd=repository, check=True, timeout=60)
    # A server of the project waits for the user's approval in a session; this is what approving writes.
    home = tmp_path / "home"
    (repository / ".claude" / "settings.local.json").write_text(json.dumps({"enabledMcpjsonServers": ["rag-ls"]}))
    home.mkdir()
    (home / ".claude.json").write_text(json.dumps({"projects": {str(repository): {"hasTrustDialogAccepted": True}}}))
    quiet = {"DISABLE_TELEMETRY": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    done = subprocess.run(
        [str(CLAUDE), "mcp", "list"], cwd=repository, env={**os.environ, **quiet, "HOME": str(home)},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert "Connected" in done.stdout, done.stdout + done.stderr
