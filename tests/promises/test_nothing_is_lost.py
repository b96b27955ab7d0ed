"""Nothing precious is lost: what people and git do to a folder, and what its memories say afterwards.

Real git and the real command. Each situation is one that happened to somebody.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.engines import RAG_LS
from tests.support import PATIENCE_S, SHOP, git_repository

pytestmark = pytest.mark.slow

_NET = "Cart prices are net of tax"
_REFUNDS = "Refunds take fourteen days"


class TestAPlaceThatCannotBeRead:
    """A memory about a file in a folder that is closed just now (permissions, as of a drive that is away)."""

    @pytest.fixture
    def folder(self, home: Path) -> Iterator[Path]:
        """A repository and user-level state of somebody whom permissions bind, as they do not bind root."""
        folder = Path(tempfile.mkdtemp(prefix="rag-ls-promise-"))
        try:
            git_repository(folder / "shop", {**SHOP, "drive/notes.py": "def note():\n    return 1\n"})
            (folder / "home").mkdir()
            if os.geteuid() == 0:
                for each in (folder, *folder.rglob("*")):
                    os.chown(each, 65534, 65534, follow_symlinks=False)
            yield folder
        finally:
            (folder / "shop/drive").chmod(0o700)
            shutil.rmtree(folder)

    def _ask(self, folder: Path, *arguments: str) -> Any:
        another = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups") if os.geteuid() == 0 else ()
        done = subprocess.run(
            [*another, RAG_LS, *arguments, "--standalone", "--json"], cwd=folder / "shop", capture_output=True, text=True,
            timeout=PATIENCE_S, check=False,
            env={**os.environ, "RAG_LS_HOME": str(folder / "home"), "HOME": str(folder / "home")},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    @pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="permissions do not bind root")
    def test_hides_no_other_memory(self, folder: Path) -> None:
        self._ask(folder, "add", _NET)
        self._ask(folder, "add", _REFUNDS, "--at", "drive/notes.py")
        self._ask(folder, "add", "Notes are numbered", "--at", "drive/notes.py:1")
        (folder / "shop/drive").chmod(0)
        listed = self._ask(folder, "list")["memories"]
        states = {item["content"]: (item["anchor"] or {}).get("state") for item in listed}
        assert states == {_NET: None, _REFUNDS: "unknown", "Notes are numbered": "unknown"}
        found = self._ask(folder, "search", "refunds and notes", "--in", "memory")["results"]
        assert {_REFUNDS, "Notes are numbered"} <= {item["content"] for item in found}
        (folder / "shop/drive").chmod(0o700)
        states = {
            item["content"]: (item["anchor"] or {}).get("state") for item in self._ask(folder, "list")["memories"]
        }
        assert states == {_NET: None, _REFUNDS: "fresh", "Notes are numbered": "fresh"}
