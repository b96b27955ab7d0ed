"""From nothing to the first answer: an environment made by uv, its size, and a question about a repository never seen.

`python -m tests.benchmarks installing FOLDER` also does it with semble, whose own model is fetched by its users; here a static
one stands in for it (`code/semble_answers.py`). What is downloaded is in uv's cache by the second run, whose times are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

_SOURCE = Path(__file__).parents[2]
_QUESTION = "where is the session cookie set"
_GOALS = "goals: 500 MB, 12 s from nothing to the first answer"


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that answers questions about code."""

    name: str
    packages: tuple[str, ...]
    ask: Callable[[Path, Path, Path], object]
    """Asks with the programs of a folder about a copy, with a folder to keep data in; its answer, empty for none."""


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks installing", description=__doc__)
    parser.add_argument("folder", type=Path, help="a repository to ask about; it is copied")
    folder = parser.parse_args(arguments).folder
    uv = shutil.which("uv") or str(_SOURCE / ".venv/bin/uv")
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        wheels = _wheels(uv, work / "wheels")
        for tool in (Tool("rag-ls", wheels, _ask_us), Tool("semble", ("semble", "wordllama"), _ask_semble)):
            for number in range(2):
                line = _measure(uv, tool, folder, work / f"{tool.name}-{number}")
            print(f"{tool.name:8}{line}", flush=True)
    print(_GOALS)


def _wheels(uv: str, folder: Path) -> tuple[str, ...]:
    for package in (_SOURCE, _SOURCE / "packages/rag-ls-model"):
        subprocess.run([uv, "build", "--quiet", "--wheel", "--out-dir", folder, package], check=True)
    return tuple(str(wheel) for wheel in sorted(folder.glob("*.whl")))


def _measure(uv: str, tool: Tool, folder: Path, work: Path) -> str:
    project, environment = work / "project", work / "environment"
    shutil.copytree(folder, project, ignore=shutil.ignore_patterns(".rag-ls"))
    started = time.perf_counter()
    subprocess.run([uv, "venv", "--quiet", environment], check=True)
    subprocess.run(
        [uv, "pip", "install", "--quiet", "--python", environment / "bin/python", *tool.packages], check=True
    )
    installed_s = time.perf_counter() - started
    (work / "home").mkdir()
    answer = tool.ask(environment / "bin", project, work / "home")
    answered_s = time.perf_counter() - started
    size = sum(file.lstat().st_size for file in environment.rglob("*") if not file.is_symlink())
    return f"{size / 1e6:6.0f} MB  installed {installed_s:5.1f} s  answered {answered_s:5.1f} s  {answer}"


def _ask_us(programs: Path, project: Path, home: Path) -> object:
    environment = {**os.environ, "RAG_LS_HOME": str(home)}

    def run(*arguments: str) -> str:
        command = [str(programs / "rag-ls"), *arguments]
        return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False).stdout

    try:
        return [hit["path"] for hit in json.loads(run("search", _QUESTION, "--json"))["results"]][:3]
    finally:
        run("stop")


def _ask_semble(programs: Path, project: Path, home: Path) -> object:
    script = Path(__file__).parent / "code/semble_answers.py"
    done = subprocess.run(
        [str(programs / "python"), str(script), "words", str(project)], input=json.dumps([_QUESTION]),
        env={**os.environ, "HOME": str(home)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [path for path, *_ in json.loads(done.stdout)[_QUESTION]][:3]
