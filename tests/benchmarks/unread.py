"""An agent's questions while a repository is read for the first time, and the shell's first answer in an unread one.

    python -m tests.benchmarks unread FOLDER...

Each folder is copied without its index; FOLDER should hold a thousand files and more.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from tests.benchmarks.startup import RAG_LS, mcp_session

QUESTIONS = 45
_PAUSE_S = 0.5
_WORDS = (
    "how is the help text of an option formatted", "where are chunks of a zip file decompressed", "cookie expiry date parsed",
    "retry a connection after a timeout", "parse a date with a time zone", "where is the cache invalidated",
    "compile a pattern to byte code", "who closes the socket", "quote arguments of a shell command", "walk a folder tree",
)  # fmt: skip


def main(folders: list[str]) -> None:
    """Print a line for each folder."""
    for folder in folders:
        with tempfile.TemporaryDirectory() as temporary:
            project = Path(temporary, "project")
            shutil.copytree(
                folder, project, symlinks=True, ignore=shutil.ignore_patterns(".rag-ls", ".git", "__pycache__")
            )
            subprocess.run(["git", "init", "-q", str(project)], check=True)
            os.environ["RAG_LS_HOME"] = str(Path(temporary, "home"))
            first = _ask_shell(project)
            shutil.rmtree(Path(temporary, "home"))
            shutil.rmtree(project / ".rag-ls", ignore_errors=True)
            print(f"{Path(folder).name}: shell {first}; agent {_describe(_ask_agent(project))}", flush=True)


def _ask_shell(project: Path) -> str:
    """The time of the whole process that answers first, and its processor time with that of its children."""
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [RAG_LS, "search", "--standalone", _WORDS[0]]
    subprocess.run(command, cwd=project, check=False, capture_output=True)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return f"{wall:.2f} s, {after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.2f} s of processor"


def _ask_agent(project: Path) -> list[float]:
    """The seconds that each question took, from the first one on, which the agent asks at once."""
    session, took = mcp_session(project, "--standalone"), []
    try:
        for number in range(QUESTIONS):
            started = time.perf_counter()
            session.ask("tools/call", {"name": "search_code", "arguments": {"query": _WORDS[number % len(_WORDS)]}})
            took.append(time.perf_counter() - started)
            time.sleep(_PAUSE_S)
    finally:
        session.leave()
    return took


def _describe(took: list[float]) -> str:
    ordered = sorted(took)
    p50, p95 = (ordered[int(share * len(ordered))] for share in (0.5, 0.95))
    return f"first {took[0]:.2f} s, p50 {p50:.2f}, p95 {p95:.2f}, most {ordered[-1]:.2f} (question {took.index(ordered[-1]) + 1})"
