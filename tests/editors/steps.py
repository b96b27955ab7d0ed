"""Runs real editors through their steps, as their pages in docs/editors set them up."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def block(page: Path, language: str, number: int = 0) -> str:
    """A block of a language on a page, the first one where no number is given."""
    found: list[str] = re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)
    assert len(found) > number, f"{page} has no block {number} of {language}"
    return found[number]


def run(command: Sequence[str], folder: Path, scratch: Path) -> dict[str, Any]:
    """What the steps tell. An editor that says nothing, or meets a problem, fails the test with what it printed."""
    result = scratch / "result.json"
    environment = {**os.environ, "STEPS_RESULT": str(result), "XDG_STATE_HOME": str(scratch / "state")}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL
    )
    assert result.exists(), done.stderr
    told: dict[str, Any] = json.loads(result.read_text())
    assert "problem" not in told, (told["problem"], done.stderr[-2000:])
    return told
