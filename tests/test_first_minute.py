"""The questions that `scripts/dev.py try` asks about rag-ls itself: their answers come first."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import git_repository

_SOURCE = Path(__file__).parents[1]
_QUESTIONS = json.loads((_SOURCE / "scripts/first_questions.json").read_text(encoding="utf-8"))
_RAG_LS = Path(sys.executable).with_name("rag-ls")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """What a checkout holds."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=_SOURCE, capture_output=True, text=True, check=True,
    )  # fmt: skip
    folder = tmp_path / "rag-ls"
    for name in filter(None, listed.stdout.split("\0")):
        if (_SOURCE / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(_SOURCE / name, folder / name)
    return git_repository(folder, {})


@pytest.mark.long
def test_the_first_questions_are_answered_right_from_the_words_alone(home: Path, copy: Path) -> None:
    def ask(*arguments: str) -> str:
        done = subprocess.run([_RAG_LS, *arguments], cwd=copy, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    ask("index", "--words-only")
    for asked in _QUESTIONS:
        first = json.loads(ask("search", asked["question"], "--json"))["results"][0]
        assert (first["path"], asked["symbol"] in first["symbol"]) == (asked["path"], True), asked


def test_the_first_questions_stand_in_no_file_that_a_search_finds() -> None:
    ignored = (_SOURCE / ".ragignore").read_text(encoding="utf-8")
    assert "scripts/first_questions.json" in ignored.splitlines()
    files = [_SOURCE / name for name in ("README.md", "CHANGELOG.md", "scripts/dev.py", "scripts/first_minute.py")]
    for file in (*files, *(_SOURCE / "docs").rglob("*.md")):
        text = file.read_text(encoding="utf-8")
        assert not [asked for asked in _QUESTIONS if asked["question"] in text], file
