"""Situations of the engine's process: it is still starting, it is ending, its code is replaced while it runs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import rag_ls
from rag_ls.daemon import transport
from rag_ls.daemon.channel import ALIVE, PROTOCOL, Channel, greet
from rag_ls.daemon.find import Mode, find_engine
from rag_ls.daemon.paths import engine_paths
from tests.daemon.engines import answer, engine, raw, run
from tests.support import PATIENCE_S, engine_pid, until, write

# On a busy machine, the imports of an engine take longer than a client waits for one that hangs.
_SLOW_START = """
import sys
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "rag_ls.engine.engine":
            open(sys.argv[1] + ".importing", "w").close()
            open(sys.argv[1]).close()
sys.meta_path.insert(0, Slow())
from rag_ls.cli.main import main
main(["serve"])
"""


@pytest.mark.slow
def test_a_client_of_an_engine_that_is_starting_is_told_that_it_lives(home: Path, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    process = subprocess.Popen([sys.executable, "-c", _SLOW_START, str(gate)], stderr=subprocess.DEVNULL)
    try:
        assert until(lambda: Path(f"{gate}.importing").exists())
        waiting = Channel(raw())
        assert waiting.receive() == {"alive": True}
        # The import goes on once somebody opens the other end.
        gate.write_bytes(b"")
        waiting.send({"rag_ls": PROTOCOL, "version": "0", "token": "", "surface": "cli", "pid": os.getpid()})
        greeting = next(message for message in iter(waiting.receive, None) if "alive" not in message)
        assert (greeting["ok"], greeting["pid"]) == (True, process.pid)
        waiting.hang_up()
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def test_signs_of_life_before_the_greeting_are_waited_for() -> None:
    ours, theirs = transport.socket.socketpair()
    theirs.sendall(ALIVE + ALIVE + b'{"ok": true, "pid": 7}\n')
    assert greet(ours, "", "cli", {}).greeting["pid"] == 7
    theirs.close()


@pytest.mark.slow
def test_a_command_that_meets_an_engine_that_ends_starts_the_next(repository: Path, tmp_path: Path) -> None:
    hanging = write(tmp_path / "bin", {"git": "#!/bin/sh\nexec sleep 1000\n"})
    os.chmod(hanging / "git", 0o755)
    with engine(PATH=f"{hanging}:{os.environ['PATH']}") as process:
        channel = find_engine("cli", Mode.AUTO)
        assert channel is not None
        channel.send({"operation": "index", "folder": str(repository), "arguments": {"force": True}})
        assert until(lambda: (repository / ".rag-ls/index.db").exists())
        # It lets the answer that git keeps it from arrive, and closes its files, before it ends.
        process.send_signal(signal.SIGTERM)
        assert until(lambda: transport.connect(engine_paths(), PATIENCE_S) is None)
        assert answer("status", folder=repository)["engine"]["pid"] == engine_pid() != process.pid
        assert process.wait(PATIENCE_S) is not None
        assert run("stop").returncode == 0


@pytest.mark.slow
def test_an_engine_whose_code_is_replaced_ends_and_the_next_is_of_the_new_code(home: Path, tmp_path: Path) -> None:
    """What it imports later would be of another version: `AttributeError`."""
    package = shutil.copytree(Path(rag_ls.__file__).parent, tmp_path / "rag_ls")
    start = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from rag_ls.cli.main import main; main(['serve'])"
    process = subprocess.Popen([sys.executable, "-c", start], stderr=subprocess.DEVNULL)
    try:
        assert until(lambda: answer("status")["engine"]["pid"] == process.pid)
        # While it is installed anew there is no code at all, and the engine goes on.
        marked = package / "__init__.py"
        code = marked.read_text()
        marked.unlink()
        assert answer("status")["engine"]["pid"] == process.pid
        marked.write_text(code + "# of the next version\n")
        assert answer("status")["engine"]["pid"] == engine_pid() != process.pid
        assert process.wait(PATIENCE_S) == 0
        assert run("stop").returncode == 0
    finally:
        process.kill()
        process.wait()
