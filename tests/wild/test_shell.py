"""Situations of the shell: options that name another place, terminals, limits of the system."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.daemon.engines import run
from tests.support import git_repository

pytestmark = [pytest.mark.slow, pytest.mark.shared_engine]


def test_a_project_that_an_option_names_is_set_up_and_the_current_folder_is_left_alone(
    home: Path, tmp_path: Path
) -> None:
    target = git_repository(tmp_path / "target", {"cart.py": "def total_price(): ...\n"})
    current = git_repository(tmp_path / "current", {"mail.py": "def send(): ...\n", "post.py": "def post(): ...\n"})
    done = run("rules", "setup", "--project-root", str(target), folder=current)
    assert "read 1 file" in done.stdout
    assert (target / ".rag-ls").exists()
    assert not (current / ".rag-ls").exists()
