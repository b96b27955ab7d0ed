"""Emacs with Eglot and with lsp-mode, as docs/editors/emacs.md sets it up: the real editor, in batch mode, with the real server."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.editors.steps import ROOT, block, run
from tests.support import git

pytestmark = pytest.mark.long

EMACS = shutil.which("emacs")
PAGE = ROOT / "docs" / "editors" / "emacs.md"
RAG_LS = json.dumps(str(Path(sys.executable).with_name("rag-ls")))


@pytest.mark.skipif(EMACS is None, reason="Emacs is not installed")
def test_a_person_searches_hovers_and_remembers_in_emacs(shop: Path, tmp_path: Path) -> None:
    git(shop, "init", "-q")
    init = block(PAGE, "elisp").replace('"~/src/rag-ls/.venv/bin/rag-ls"', RAG_LS)
    (tmp_path / "init.el").write_text(f"(package-initialize)\n{init}")
    steps = Path(__file__).with_name("steps.el")
    told = run([str(EMACS), "--batch", "-l", str(tmp_path / "init.el"), "-l", str(steps)], shop, tmp_path)
    assert told["unsaved"]
    assert told["modified"]
    assert any(title.startswith("Remember this: Sum of the items") for title in told["actions"])
    assert "total_price" in told["hover"]
    assert any("is remembered" in message for message in told["messages"])


def _has_lsp_mode() -> bool:
    command = [str(EMACS), "--batch", "--eval", "(progn (package-initialize) (require 'lsp-mode))"]
    return EMACS is not None and subprocess.run(command, capture_output=True, check=False, timeout=60).returncode == 0


def test_it_runs_beside_other_servers_with_lsp_mode(shop: Path, tmp_path: Path) -> None:
    if not _has_lsp_mode():
        pytest.skip("lsp-mode is not installed")
    git(shop, "init", "-q")
    init = block(PAGE, "elisp", 1).replace('"/path/to/rag-ls"', RAG_LS)
    (tmp_path / "init.el").write_text(f"(package-initialize)\n{init}")
    steps = Path(__file__).with_name("steps-lsp-mode.el")
    told = run([str(EMACS), "--batch", "-l", str(tmp_path / "init.el"), "-l", str(steps)], shop, tmp_path)
    assert told["unsaved"]
    assert any(title.startswith("Remember this: Sum of the items") for title in told["actions"])
    assert "total_price" in told["hover"]
