"""Situations of the engine's process: it is still starting, it is ending, its code is replaced while it runs."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from filelock import FileLock

import rag_ls
from rag_ls.config.engine_settings import HttpSettings
from rag_ls.daemon import connecting
from rag_ls.daemon.background import HttpHost
from rag_ls.daemon.channel import PROTOCOL_VERSION, Channel, Refused, greet
from rag_ls.daemon.connecting import Mode, find_engine, start_and_connect
from rag_ls.daemon.engine_files import ReplacedCode, take_lock
from rag_ls.daemon.paths import engine_paths, make_private
from rag_ls.daemon.server import EngineServer, Patience, Succession
from rag_ls.engine.engine import Engine
from tests.commands import start_command
from tests.daemon.engines import answer, engine, is_reachable, raw, run
from tests.support import IS_ROOT, PATIENCE_S, engine_pid, python, until, write

pytestmark = pytest.mark.slow

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


def test_an_engine_that_is_starting_greets_the_clients_that_came_meanwhile(home: Path, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    process = subprocess.Popen([sys.executable, "-c", _SLOW_START, str(gate)], stderr=subprocess.DEVNULL)
    try:
        assert until(lambda: Path(f"{gate}.importing").exists())
        waiting = Channel(raw())
        waiting.send({"rag_ls": PROTOCOL_VERSION, "version": "0", "token": "", "surface": "cli", "pid": os.getpid()})
        # The import goes on once somebody opens the other end.
        gate.write_bytes(b"")
        greeting = waiting.receive()
        assert greeting is not None
        assert (greeting["ok"], greeting["pid"]) == (True, process.pid)
        waiting.hang_up()
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def test_an_engine_that_says_nothing_is_not_waited_for_without_end() -> None:
    ours, theirs = socket.socketpair()
    with pytest.raises(Refused, match="has not answered"):
        greet(ours, "", "cli", {}, answer_s=0.01)
    theirs.close()


def test_stopping_ends_an_engine_whose_start_hangs(home: Path, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    process = subprocess.Popen([sys.executable, "-c", _SLOW_START, str(gate)], stderr=subprocess.DEVNULL)
    try:
        assert until(lambda: Path(f"{gate}.importing").exists())
        done = run("stop")
        assert (done.returncode, done.stdout) == (0, f"rag-ls: the engine {process.pid} ended\n")
        assert process.wait(PATIENCE_S) is not None
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def held_lock(home: Path) -> Iterator[FileLock]:
    """The lock of an engine that a test plays."""
    make_private(engine_paths().folder)
    lock = take_lock(engine_paths())
    assert lock is not None
    yield lock
    lock.release()
    Path(engine_paths().pid).unlink(missing_ok=True)


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[str]]:
    """A process that has nothing to do with engines, and whose PID the file of an engine names."""
    process = python("import sys; print('up', flush=True); sys.stdin.read()")
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    Path(engine_paths().pid).write_text(f"{process.pid}\n")
    yield process
    process.kill()
    process.communicate()


def _accept_stop(listener: socket.socket) -> Channel:
    listener.settimeout(PATIENCE_S)
    channel = Channel(listener.accept()[0])
    hello = channel.receive()
    assert hello is not None
    assert hello["surface"] == "stop"
    return channel


def test_stopping_is_done_when_the_next_engine_has_the_lock(
    held_lock: FileLock, bystander: subprocess.Popen[str]
) -> None:
    paths = engine_paths()
    listening = connecting.listen(paths)
    command = start_command("stop")
    channel = _accept_stop(listening.socket)
    # The next engine took the lock between two looks, and the PID of the former is somebody else's by now.
    Path(paths.pid).write_text("999999999\n")
    channel.send({"ok": True, "pid": bystander.pid})
    assert command.communicate(timeout=PATIENCE_S)[0] == f"rag-ls: the engine {bystander.pid} ended\n"
    assert bystander.poll() is None
    listening.socket.close()


def test_stopping_asks_an_engine_that_does_not_listen_yet(
    held_lock: FileLock, bystander: subprocess.Popen[str]
) -> None:
    paths = engine_paths()
    command = start_command("stop")
    assert until(lambda: os.path.exists(paths.stopped))
    listening = connecting.listen(paths)
    channel = _accept_stop(listening.socket)
    channel.send({"ok": True, "pid": 7})
    held_lock.release()
    assert command.communicate(timeout=PATIENCE_S)[0] == "rag-ls: the engine 7 ended\n"
    assert bystander.poll() is None
    listening.socket.close()


@pytest.mark.skipif(not IS_ROOT, reason="only root can give a folder to another user")
def test_stopping_trusts_no_folder_of_another_user(
    held_lock: FileLock, bystander: subprocess.Popen[str], tmp_path: Path
) -> None:
    paths = engine_paths()
    precious = tmp_path / "precious"
    precious.write_text("precious")
    os.symlink(precious, paths.stopped)
    os.chown(paths.folder, 65534, 65534)
    done = run("stop")
    assert done.returncode == 1
    assert "belongs to another user" in done.stderr
    assert precious.read_text() == "precious"
    assert bystander.poll() is None


def test_stopping_follows_no_link(held_lock: FileLock, tmp_path: Path) -> None:
    paths = engine_paths()
    precious = tmp_path / "precious"
    precious.write_text("precious")
    os.symlink(precious, paths.stopped)
    listening = connecting.listen(paths)
    command = start_command("stop")
    channel = _accept_stop(listening.socket)
    held_lock.release()
    channel.send({"ok": True, "pid": 7})
    assert command.communicate(timeout=PATIENCE_S)[0] == "rag-ls: the engine 7 ended\n"
    assert precious.read_text() == "precious"
    listening.socket.close()


def test_a_client_starts_an_engine_again_where_the_one_in_its_way_ended_later(held_lock: FileLock) -> None:
    paths = engine_paths()
    listening = connecting.listen(paths)
    me = psutil.Process()
    before = set(me.children())

    def connect() -> socket.socket | None:
        if held_lock.is_locked:
            if not set(me.children()) - before:
                # The engine that was started has met one that listened, and left the place to it.
                listening.socket.close()
                held_lock.release()
            return None
        found = connecting.connect(paths, PATIENCE_S)
        return found[0] if found else None

    connection = start_and_connect(connect)
    assert connection is not None
    connection.close()
    assert run("stop").returncode == 0


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
        assert until(lambda: connecting.connect(engine_paths(), PATIENCE_S) is None)
        assert answer("status", folder=repository)["engine"]["pid"] == engine_pid() != process.pid
        assert process.wait(PATIENCE_S) is not None
        assert run("stop").returncode == 0


def test_an_engine_whose_code_is_replaced_ends_and_the_next_is_of_the_new_code(home: Path, tmp_path: Path) -> None:
    """What it imports later would be of another version: `AttributeError`."""
    package = shutil.copytree(Path(rag_ls.__file__).parent, tmp_path / "rag_ls")
    start = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from rag_ls.cli.main import main; main(['serve', '--background'])"
    process = subprocess.Popen([sys.executable, "-c", start], stderr=subprocess.DEVNULL)
    try:
        # Before that, a command would start an engine of its own.
        assert until(lambda: engine_pid() == process.pid and is_reachable())
        assert answer("status")["engine"]["pid"] == process.pid
        # While it is installed anew there is no code at all, and the engine goes on.
        marked = package / "__init__.py"
        code = marked.read_text()
        marked.unlink()
        assert answer("status")["engine"]["pid"] == process.pid
        marked.write_text(code + "# of the next version\n")
        # The next look comes with a client.
        assert until(lambda: answer("status")["engine"]["pid"] != process.pid)
        assert process.wait(PATIENCE_S) == 0
        assert run("stop").returncode == 0
    finally:
        process.kill()
        process.wait()


def test_new_code_counts_once_its_installation_is_over(tmp_path: Path) -> None:
    file, seconds = tmp_path / "__init__.py", 0.0
    file.write_text("old")
    is_replaced = ReplacedCode(str(file), lambda: seconds)
    seconds = 100.0
    assert not is_replaced()
    file.write_text("newer")
    assert not is_replaced()
    seconds = 104.0
    assert not is_replaced()
    file.write_text("newest of all")
    seconds = 106.0
    assert not is_replaced()
    seconds = 111.0
    assert is_replaced()
    file.unlink()
    seconds = 120.0
    assert not is_replaced()


@pytest.mark.parametrize(
    ("is_by_hand", "is_asked_for", "ends"), [(False, False, True), (True, False, False), (False, True, False)]
)
def test_only_an_engine_that_clients_start_again_ends_for_new_code(
    home: Path, *, is_by_hand: bool, is_asked_for: bool, ends: bool
) -> None:
    http = HttpHost(Engine(), HttpSettings())
    http.is_asked_for = is_asked_for
    server = EngineServer(
        Engine(), connecting.Listening(socket.socket(), "", ""), Patience(1, 1),
        Succession(make_way=lambda: None, has_other_settings=lambda: False, has_other_code=lambda: True, is_reachable=lambda: True),
        http=http, is_by_hand=is_by_hand,
    )  # fmt: skip
    server._end_if_replaced()
    assert server.is_stopping == ends
