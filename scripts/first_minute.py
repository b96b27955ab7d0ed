"""What `dev.py try` does once rag-ls is installed: it indexes a repository, asks, and tells how to go on."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path

QUESTIONS = Path(__file__).with_name("first_questions.json")
# The program by which an editor or agent is recognised, and what `rag-ls connect` calls it.
_CLIENTS = {"claude": "claude-code", "code": "vscode", "nvim": "neovim", "zed": "zed", "emacs": "emacs", "hx": "helix"}


class FirstMinute:
    """The steps after the installation, each a line with its time."""

    def __init__(self, rag_ls: Path, folder: Path, source: Path) -> None:
        """`source` is the checkout of rag-ls, about which the questions have known answers."""
        self._rag_ls, self._folder, self._source = rag_ls, folder, source

    def show(self) -> int:
        """Index, ask three questions about rag-ls itself, and print the lines that come next; the exit status."""
        started = time.monotonic()
        if code := self._run("index", "--words-only", str(self._folder), quiet=True):
            return code
        show_step("the words of all files are indexed", time.monotonic() - started)
        asks_about_us = self._folder == self._source
        for asked in json.loads(QUESTIONS.read_text(encoding="utf-8")) if asks_about_us else ():
            show_step(f'"{asked["question"]}"')
            if code := self._run("search", asked["question"], "-k", "1"):
                return code
        self._say_what_next()
        return 0

    def _run(self, *arguments: str, quiet: bool = False) -> int:
        # What went wrong is on standard error, which is not hidden.
        return subprocess.call(
            [str(self._rag_ls), *arguments], cwd=self._folder, stdout=subprocess.DEVNULL if quiet else None
        )

    def _say_what_next(self) -> None:
        name = "rag-ls" if shutil.which("rag-ls") else str(self._rag_ls)
        found = [client for program, client in _CLIENTS.items() if shutil.which(program)]
        connect = " and ".join(f"`{name} connect {client}`" for client in found) or f"`{name} connect` lists them"
        print(f"\nAsk more:   cd {self._folder} && {name} search 'your question'")
        if name != "rag-ls":
            print(f"On PATH:    {path_command(self._source, self._rag_ls)}")
        print(f"Connect:    {connect}")


def show_step(text: str, seconds: float | None = None) -> None:
    """Print a line for a step, with the time that it took."""
    took = "" if seconds is None else f"{seconds:6.1f} s"
    print(f"{took:>8}  {text}", flush=True)


def path_command(source: Path, rag_ls: Path) -> str:
    """The command that puts `rag-ls` onto the user's PATH, by what is installed here."""
    if shutil.which("uv"):
        return f"uv tool install {source}"
    return f"ln -s {rag_ls} ~/.local/bin/rag-ls"
