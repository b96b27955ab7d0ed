"""Neovim, as docs/editors/neovim.md sets it up: the real editor, headless, with the real server."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.editors.steps import ROOT, block, run
from tests.support import git

pytestmark = pytest.mark.long

NEOVIM = shutil.which("nvim", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))


@pytest.mark.skipif(NEOVIM is None, reason="Neovim is not installed")
def test_a_person_searches_hovers_and_remembers_in_neovim(shop: Path, tmp_path: Path) -> None:
    git(shop, "init", "-q")
    init = block(ROOT / "docs" / "editors" / "neovim.md", "lua")
    init = init.replace("vim.fn.expand('~/src/rag-ls')", json.dumps(str(ROOT)))
    # The page knows one place for the command; a test may run from another environment.
    init = init.replace("rag_ls .. '/.venv/bin/rag-ls'", json.dumps(str(Path(sys.executable).with_name("rag-ls"))))
    (tmp_path / "init.lua").write_text(init)
    steps = Path(__file__).with_name("steps.lua")
    command = [str(NEOVIM), "--headless", "-n", "-i", "NONE", "-u", str(tmp_path / "init.lua"), "src/cart.py"]
    told = run([*command, "-c", f"luafile {steps}"], shop, tmp_path)
    assert told["modified"], "unsaved text was found"
    assert told["place"][0] == "auth.py"
    assert told["picked"][0].startswith("src/auth.py:")
    assert all("\n" not in row and "  " not in row and len(row) <= 80 for row in told["picked"])
    assert any(title.startswith("Remember a note about this: def total_price") for title in told["actions"])
    assert "What do we know about this?" in told["actions"]
    assert "carts are priced net of tax" in told["hover"]
    # K shows what each server says.
    assert "carts are priced net of tax" in told["shown"]
    assert "total_price: a function of carts" in told["shown"]
    assert any("is remembered" in notice for notice in told["notices"])
    assert told["prompts"][0].startswith("Remember about def total_price")
    assert len([notice for notice in told["notices"] if "is remembered" in notice]) == 2
    assert told["related"]
    assert not any("cart.py" in picked for picked in told["related"])
    assert "cart.py" in told["quickfix"]
