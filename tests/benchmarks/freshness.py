"""How often a question that is asked right after a change misses it: 0 ms later, by another process."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.commands import RAG_LS
from tests.e2e.clients import Agent, Editor, agent, editor


def freshness(work: Path, *, rounds: int = 100) -> dict[str, Any]:
    """Misses among `rounds` questions each: unsaved text, a new file, a new folder's first file, another branch."""
    root = work / "project"
    _files(root)
    with tempfile.TemporaryDirectory(dir=work) as home:
        os.environ["RAG_LS_HOME"] = home
        try:
            return asyncio.run(_measure(root, rounds))
        finally:
            subprocess.run([RAG_LS, "stop"], check=False, capture_output=True)


async def _measure(root: Path, rounds: int) -> dict[str, Any]:
    async with editor(root) as ed, agent(root) as ag:
        await ed.until_complete()
        await ag.until_complete()
        await asyncio.sleep(2)
        ed.open(root / "module_0.py")
        steps = {"buffer": _type, "file": _write, "folder": _make_folder, "branch": _switch}
        missed: dict[str, int] = {}
        waits: list[float] = []
        for name, step in steps.items():
            missed[name] = 0
            for number in range(rounds):
                word = f"zebra{name}{number}"
                step(ed, root, word)
                asked = time.perf_counter()
                missed[name] += not await _finds(ag, word)
                waits.append((time.perf_counter() - asked) * 1000)
                await asyncio.sleep(0.02)
    waits.sort()
    return {
        "rounds_each": rounds,
        "missed": missed,
        "p50_ms": waits[len(waits) // 2],
        "p95_ms": waits[len(waits) * 95 // 100],
    }


async def _finds(ag: Agent, word: str) -> bool:
    hits = (await ag.call("search_code", query=word, k=3))["results"]
    return any(word in hit["text"] for hit in hits)


def _type(ed: Editor, root: Path, word: str) -> None:
    ed.type(root / "module_0.py", f"def {word}():\n    return 1\n\n\n", at=(0, 0))


def _write(_: Editor, root: Path, word: str) -> None:
    (root / f"{word}.py").write_text(_text(word))


def _make_folder(_: Editor, root: Path, word: str) -> None:
    folder = root / "packages" / word / "inner"
    folder.mkdir(parents=True)
    (folder / "first.py").write_text(_text(word))


def _switch(_: Editor, root: Path, word: str) -> None:
    _git(root, "checkout", "-q", "-b", word)
    (root / "branch.py").write_text(_text(word))
    _git(root, "add", "branch.py")
    _git(root, "commit", "-q", "-m", word)
    _git(root, "checkout", "-q", "main")
    _git(root, "checkout", "-q", word)


def _text(word: str) -> str:
    return f"def {word}():\n    return 1\n"


def _files(root: Path) -> None:
    root.mkdir(parents=True)
    for number in range(60):
        (root / f"module_{number}.py").write_text(f"def handle_{number}(request):\n    return request + {number}\n")
    _git(root, "init", "-q", "-b", "main")
    _git(root, "add", ".")
    _git(root, "commit", "-q", "-m", "first")


def _git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=rag-ls", "-c", "user.email=rag-ls@localhost")
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)
