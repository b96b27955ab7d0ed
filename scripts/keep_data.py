#!/usr/bin/env python3
"""Keep what this version writes on disk, so that later ones are tested with it (tests/upgrading).

python3 scripts/keep_data.py [NAME [FOLDER]]   writes tests/upgrading/NAME.tar.xz (the version's) with the rag_ls in FOLDER
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "tests" / "upgrading"
SOURCES = {
    "auth.py": 'def renew(session):\n    """Renew the token of a session before it expires."""\n    session.token = issue()\n',
    "cart.py": 'def total(items):\n    """The price of everything in the cart, with taxes."""\n    return sum(items)\n',
    "README.md": "# Shop\n\nSells things.\n",
}
# The log, caches of models, and what only a running engine has.
LEFT_OUT = ("log", "run", "models", "openvino", "hooks", "__pycache__")


def main() -> int:
    name, source = (*sys.argv[1:], *("", "")[len(sys.argv) - 1 :])[:2]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        version = Version(Path(folder), Path(source or ROOT).resolve())
        version.write()
        target = KEPT / f"{name or version.number()}.tar.xz"
        with tarfile.open(target, "w:xz") as archive:
            for part in ("shop", "home", "expected.json"):
                archive.add(Path(folder) / part, part, filter=_wanted)
    print(f"{target}: {target.stat().st_size / 1e3:.0f} kB")
    return 0


def _wanted(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return None if not set(Path(member.name).parts).isdisjoint(LEFT_OUT) else member


@dataclass(frozen=True, slots=True)
class Version:
    """The rag-ls in `source`, with a home and a project in `folder`."""

    folder: Path
    source: Path

    def write(self) -> None:
        """Index a project, store memories, change and delete some, and write down what should be there."""
        shop = self.folder / "shop"
        shop.mkdir()
        for name, text in SOURCES.items():
            (shop / name).write_text(text)
        self._git("init", "--quiet")
        self._git("add", ".")
        self._git(
            "-c", "user.name=Shop", "-c", "user.email=shop@example.com", "commit", "--quiet", "-m", "Begin the shop"
        )
        self._run("index", ".")
        rule = "Tokens are renewed a minute before they expire, since clocks of customers are wrong"
        self._add(rule, "--at", "auth.py:1", "--tags", "auth,clock", "--type", "procedural", "--importance", "0.9")
        changed = self._add("Prices are shown without taxes")
        self._run("update", changed, "--content", "Prices are shown with taxes, as the law of the country asks")
        self._add("Mistaken: the cart is kept for ever")
        self._run("delete", self._ids()["Mistaken: the cart is kept for ever"])
        self._add("We write commit messages in English", "--scope", "global", "--tags", "style")
        memories = [self._described(memory) for memory in self._memories()]
        expected = {"memories": memories, "question": "when are tokens renewed", "answer": rule, "changed": changed}
        (self.folder / "expected.json").write_text(json.dumps(expected, indent=1))
        self._run("stop")

    def number(self) -> str:
        return self._run("--version").split()[-1]

    def _add(self, text: str, *options: str) -> str:
        self._run("add", text, *options)
        return self._ids()[text]

    def _ids(self) -> dict[str, str]:
        return {memory["content"]: memory["id"] for memory in self._memories()}

    def _memories(self) -> list[dict[str, Any]]:
        found = [json.loads(self._run("list", "--scope", scope, "--json")) for scope in ("project", "global")]
        return [memory for answer in found for memory in answer["memories"]]

    def _described(self, memory: dict[str, Any]) -> dict[str, Any]:
        return {name: memory.get(name) for name in ("id", "content", "scope", "version")}

    def _run(self, *arguments: str) -> str:
        environment = {**os.environ, "RAG_LS_HOME": str(self.folder / "home"), "PYTHONPATH": str(self.source)}
        command = [sys.executable, "-m", "rag_ls.cli.main", *arguments]
        done = subprocess.run(command, cwd=self.folder / "shop", env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"error: `rag-ls {' '.join(arguments)}` failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def _git(self, *arguments: str) -> None:
        subprocess.run([shutil.which("git") or "git", *arguments], cwd=self.folder / "shop", check=True)


if __name__ == "__main__":
    sys.exit(main())
