"""The engine's page in a real Chromium, with the hands of a person, looked at by axe."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rag_ls import http

ROOT = Path(__file__).parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_WALK_S = 500


@pytest.mark.long
@pytest.mark.skipif(not any(map(shutil.which, BROWSERS)), reason="no Chromium is installed")
def test_a_person_finds_everything_on_the_page(tmp_path: Path) -> None:
    repository = Path(http.__file__).parent
    walk = subprocess.run(
        [sys.executable, ROOT / "scripts/e2e_page.py", repository, tmp_path / "shots"],
        capture_output=True, text=True, timeout=_WALK_S, check=False,
    )  # fmt: skip
    assert walk.returncode == 0, walk.stdout + walk.stderr
    assert "not ok" not in walk.stdout
