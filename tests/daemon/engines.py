"""Engines for tests: the installed `rag-ls serve` as a process."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx

from rag_ls.daemon import connecting
from rag_ls.daemon.channel import PROTOCOL_VERSION, Channel, EngineLost, Refused, greet
from rag_ls.daemon.paths import engine_paths
from tests.commands import Command, run_command, start_command
from tests.support import PATIENCE_S, engine_pid, until


def run(*arguments: str, folder: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """One command, to its end."""
    return run_command(*arguments, folder=folder, timeout_s=PATIENCE_S, environment={**os.environ, **environment})


def answer(*arguments: str, folder: Path | None = None) -> Any:
    """What a command prints with `--json`; it must succeed, and complain of nothing."""
    done = run(*arguments, "--json", folder=folder)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return json.loads(done.stdout)


@contextlib.contextmanager
def engine(**environment: str) -> Iterator[subprocess.Popen[str] | Command]:
    """A running `rag-ls serve`, which takes clients."""
    process = start_command("serve", environment={**os.environ, **environment})
    try:
        assert until(lambda: (engine_pid() == process.pid and is_reachable()) or process.poll() is not None)
        yield process
    finally:
        process.kill()
        process.communicate()


def is_reachable() -> bool:
    """Whether an engine answers clients. It listens earlier, while it imports what it answers with."""
    found = connecting.connect(engine_paths(), PATIENCE_S)
    if found is None:
        return False
    try:
        greet(*found, "cli", {}).hang_up()
    except (Refused, EngineLost):
        return False
    return True


def free_port() -> int:
    """A port of loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until_served(url: str) -> None:
    """Wait until an engine serves HTTP at an address: it does so a moment after it takes clients."""

    def is_served() -> bool:
        try:
            return httpx.get(f"{url}/health", timeout=5).status_code == 200
        except httpx.HTTPError:
            return False

    assert until(is_served)


def raw() -> socket.socket:
    """A bare connection to the engine."""
    found = connecting.connect(engine_paths(), PATIENCE_S)
    assert found is not None
    return found[0]


def hello(channel: Channel, **changes: Any) -> dict[str, Any] | None:
    """Greet as a shell command, or as something stranger; the engine's answer."""
    channel.socket.settimeout(PATIENCE_S)
    channel.send({"rag_ls": PROTOCOL_VERSION, "version": "0.0.1", "token": "", "surface": "cli", "pid": 1, **changes})
    return channel.receive()
