"""Nothing swells: what is open and not used costs next to nothing, and few file handles are enough for many projects."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from rag_ls.daemon.channel import Channel
from tests.commands import RAG_LS
from tests.daemon.engines import hello, is_reachable, raw
from tests.support import PATIENCE_S, engine_pid, until, write

pytestmark = pytest.mark.skipif(os.name != "posix", reason="other systems count handles in another way")

# What macOS gives a process.
_HANDLES = 256
_PROJECTS = 100


@contextlib.contextmanager
def _engine_with_few_handles() -> Iterator[psutil.Process]:
    """A running engine that may not have more than `_HANDLES` files open."""
    import resource

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (_HANDLES, _HANDLES))

    process = subprocess.Popen(
        [RAG_LS, "serve"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=limit
    )
    try:
        assert until(lambda: (engine_pid() == process.pid and is_reachable()) or process.poll() is not None)
        yield psutil.Process(process.pid)
    finally:
        process.kill()
        _, complaints = process.communicate()
    assert "Traceback" not in complaints, complaints


class _Shell:
    """A client that keeps open whatever it asked."""

    def __init__(self) -> None:
        self._channel = Channel(raw())
        answer = hello(self._channel)
        assert answer is not None
        assert answer["ok"], answer

    def ask(self, operation: str, folder: Path, **arguments: Any) -> Any:
        """An operation's result; it must succeed, and warn of nothing."""
        self._channel.send({"operation": operation, "folder": str(folder), "arguments": arguments})
        while (message := self._channel.receive()) is not None and not {"result", "error"} & message.keys():
            pass
        assert message is not None, f"the engine ended at {folder}"
        assert "error" not in message, (folder, message)
        return message["result"]

    def finds_its_own(self, folder: Path) -> None:
        """Ask a project for what only it has."""
        word = folder.name.capitalize()
        found = self.ask("search_code", folder, query=f"class {word}", project=str(folder))
        assert [hit["path"] for hit in found["results"]][:1] == [f"{folder.name}.py"], found

    def leave(self) -> None:
        """Hang up."""
        self._channel.hang_up()


def _projects(folder: Path) -> list[Path]:
    numbers = range(_PROJECTS)
    return [
        write(
            folder / f"shop{number}",
            {f"shop{number}.py": f"class Shop{number}:\n    till = {number}\n", ".git/HEAD": ""},
        )
        for number in numbers
    ]


@pytest.mark.long
def test_a_hundred_projects_work_with_256_handles(tmp_path: Path) -> None:
    projects = _projects(tmp_path)
    with _engine_with_few_handles() as engine:
        before = _Held.by(engine)
        for project in projects:
            _use(project)
        shell = _Shell()
        for project in (*projects, projects[0]):
            shell.finds_its_own(project)
        # At rest a project has no handle, and one thread at most: that which watches its files.
        assert until(lambda: _Held.by(engine).handles <= before.handles + 20, 2 * PATIENCE_S), engine.open_files()
        assert until(lambda: _Held.by(engine).threads <= before.threads + _PROJECTS + 20), engine.threads()
        shell.finds_its_own(projects[50])
        shell.leave()


@pytest.mark.slow
def test_projects_that_are_closed_give_their_handles_and_threads_back(tmp_path: Path, home: Path) -> None:
    write(home, {"config/config.toml": "[daemon]\nproject_idle_minutes = 0.01\n"})
    first, *others = _projects(tmp_path)[:11]
    with _engine_with_few_handles() as engine:
        _use(first)
        assert until(lambda: not _files_below(engine, tmp_path)), engine.open_files()
        before = _Held.by(engine)
        _use(*others)
        assert until(lambda: not _files_below(engine, tmp_path)), engine.open_files()
        # The engine's own threads come as they are needed: fewer than one a project.
        assert until(lambda: _Held.by(engine).threads < before.threads + len(others)), engine.threads()
        assert until(lambda: _Held.by(engine).handles < before.handles + len(others)), engine.open_files()


def _use(*projects: Path) -> None:
    """Index some projects and ask each, as one client that keeps them open until it leaves."""
    shell = _Shell()
    for project in projects:
        shell.ask("scan", project, project=[str(project)])
        shell.finds_its_own(project)
    shell.leave()


@dataclass(frozen=True, slots=True)
class _Held:
    """What a process holds."""

    handles: int
    threads: int

    @classmethod
    def by(cls, process: psutil.Process) -> _Held:
        """What it holds now."""
        return cls(process.num_fds(), process.num_threads())


def _files_below(engine: psutil.Process, folder: Path) -> list[str]:
    return [file.path for file in engine.open_files() if file.path.startswith(str(folder))]
