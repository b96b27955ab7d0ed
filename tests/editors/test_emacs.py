"""Emacs with Eglot, as docs/editors/emacs.md sets it up: the real editor, in batch mode, with the real server."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.editors.steps import ROOT, block, run
from tests.support import git

EMACS = shutil.which("emacs")


@pytest.mark.skipif(EMACS is None, reason="Emacs is not installed")
def test_a_person_searches_hovers_and_remembers_in_emacs(shop: Path, tmp_path: Path) -> None:
    git(shop, "init", "-q")
    rag_ls = json.dumps(str(Path(sys.executable).with_name("rag-ls")))
    init = block(ROOT / "docs" / "editors" / "emacs.md", "elisp").replace('"~/src/rag-ls/.venv/bin/rag-ls"', rag_ls)
    (tmp_path / "init.el").write_text(f"(package-initialize)\n{init}")
    steps = Path(__file__).with_name("steps.el")
    told = run([str(EMACS), "--batch", "-l", str(tmp_path / "init.el"), "-l", str(steps)], shop, tmp_path)
    assert told["unsaved"]
    assert told["modified"]
    assert any(title.startswith("Remember this: def total_price") for title in told["actions"])
    assert "total_price" in told["hover"]
    assert any("is remembered" in message for message in told["messages"])
