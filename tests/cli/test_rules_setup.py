"""`rag-ls rules setup` at a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import PATIENCE_S, write

_COMMAND = Path(sys.executable).with_name("rag-ls")


@pytest.mark.slow
def test_without_an_engine_too_what_was_shown_is_written_without_reading_the_files_again(tmp_path: Path) -> None:
    write(tmp_path, {".git/HEAD": "", "app.js": "const app = require('express')();\napp.get('/x', auth, show);\n"})
    ours, theirs = pytest.importorskip("pty").openpty()
    try:
        os.write(ours, b"y\nn\n")
        done = subprocess.run(
            [str(_COMMAND), "rules", "setup", "--standalone"], stdin=theirs, capture_output=True, text=True,
            timeout=PATIENCE_S, cwd=tmp_path, check=False,
        )  # fmt: skip
    finally:
        os.close(ours)
        os.close(theirs)
    assert (done.returncode, (tmp_path / "ARCHITECTURE.yml").exists()) == (0, True), done.stderr
    assert done.stderr.count("reading the files of this project") == 1
