"""The verbs on memories, as a process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.shared_engine

_COMMAND = Path(sys.executable).with_name("rag-ls")
_VERBS = ("update", "restore", "consolidate", "summarize", "stats", "optimize", "vacuum", "export", "import")


def _run(folder: Path, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(_COMMAND), *arguments], cwd=folder, input=typed, capture_output=True, text=True, timeout=120, check=False
    )


def _json(folder: Path, *arguments: str, code: int = 0, typed: str = "") -> Any:
    done = _run(folder, *arguments, "--json", typed=typed)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("verb", _VERBS)
def test_every_verb_explains_itself(tmp_path: Path, verb: str) -> None:
    done = _run(tmp_path, verb, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: rag-ls {verb}")


def test_a_memory_s_life_at_the_shell(repository: Path) -> None:
    stored = _json(
        repository, "add", "--content", "Use async everywhere", "--scope", "project", "--tags", "rust, async"
    )
    assert _json(repository, "show", stored["id"])["metadata"]["tags"] == ["rust", "async"]
    updated = _json(
        repository, "update", stored["id"][:8], "--content", "-", "--tag", "rust", typed="Use async for I/O\n"
    )
    assert (updated["status"], updated["version"]) == ("updated", 2)
    _json(repository, "update", stored["id"], "--content", "too late", "--expected-version", "1", code=1)
    shown = _run(repository, "show", stored["id"], "--history").stdout
    assert "Use async for I/O" in shown
    assert "version 1, updated" in shown
    assert "Use async everywhere" in shown
    assert _run(repository, "update", stored["id"]).returncode == 2
    other = _json(repository, "add", "Second of its kind")
    done = _run(repository, "delete", stored["id"], "no-such-memory", other["id"])
    assert (done.returncode, done.stdout.count("brings it back")) == (1, 2)
    assert "no memory has the id 'no-such-memory'" in done.stderr
    assert _json(repository, "restore", stored["id"][:8])["id"] == stored["id"]
    assert [item["id"] for item in _json(repository, "list")["memories"]] == [stored["id"]]


def test_what_is_exported_to_standard_output_comes_back_from_standard_input(repository: Path) -> None:
    _json(repository, "add", "Ünïcode — and\n---\nlines of it", "--tag", "odd")
    exported = _run(repository, "export").stdout
    assert json.loads(exported)["memories"][0]["content"] == "Ünïcode — and\n---\nlines of it"
    taken = _json(repository, "import", "--input", "-", "--scope", "global", typed=exported)
    assert (taken["inserted"], taken["scope"]) == (1, "global")
    done = _run(repository, "import", "--input", "-", typed=exported[:-20])
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_secret_is_refused_and_said_nowhere(repository: Path, home: Path) -> None:
    secret = "AKIA" + "IOSFODNN7EXAMPLE"
    done = _run(repository, "add", f"The deploy key is {secret}")
    assert done.returncode == 2
    assert "AWS" in done.stderr
    assert secret not in done.stderr + done.stdout
    logs = [file.read_text(errors="replace") for file in home.rglob("*.log")]
    assert all(secret not in text for text in logs)
    assert _run(repository, "add", f"The deploy key is {secret}", "--force").returncode == 0
