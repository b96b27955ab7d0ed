"""The engine's life: it starts once, is found, heals what a crash left, and ends without a trace."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from rag_ls.daemon import connecting
from rag_ls.daemon import paths as paths_module
from rag_ls.daemon.channel import Channel, Refused, greet
from rag_ls.daemon.connecting import Mode, find_engine
from rag_ls.daemon.engine_files import Mark
from rag_ls.daemon.paths import engine_paths, user_config_file
from rag_ls.daemon.server import as_numbers
from rag_ls.locations import user_config_file as config_file_of_project
from tests.commands import RAG_LS
from tests.daemon.engines import answer, engine, hello, is_reachable, raw, run
from tests.support import IS_ROOT, PATIENCE_S, engine_pid, finished, python, until, write

_NOBODY = 65534


def _mode(path: str) -> int:
    return stat.S_IMODE(os.lstat(path).st_mode)


@pytest.mark.parametrize("end", ["SIGTERM", "SIGINT", "stop"])
def test_an_engine_leaves_no_socket_and_no_pid_file_behind(end: str) -> None:
    with engine() as process:
        paths = engine_paths()
        assert [_mode(path) for path in (paths.folder, paths.socket, paths.pid)] == [0o700, 0o600, 0o600]
        assert until(lambda: os.path.exists(paths.log))
        assert _mode(paths.log) == 0o600
        if end == "stop":
            done = run("stop")
            assert (done.returncode, done.stdout) == (0, f"rag-ls: the engine {process.pid} ended\n")
        else:
            process.send_signal(getattr(signal, end))
        _, said = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0
        assert f"PID {process.pid}" in said
        assert not os.path.exists(paths.socket)
        assert not os.path.exists(paths.pid)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no signal stops a process there")
def test_stopping_ends_an_engine_that_does_not_answer() -> None:
    with engine() as process:
        process.send_signal(signal.SIGSTOP)
        done = run("stop")
        assert (done.returncode, done.stdout) == (0, f"rag-ls: the engine {process.pid} ended\n")
        assert process.wait(PATIENCE_S) == -signal.SIGKILL
    assert run("stop").stderr == "rag-ls: no engine runs\n"


def test_stopping_where_none_runs_says_so() -> None:
    done = run("stop")
    assert (done.returncode, done.stderr) == (0, "rag-ls: no engine runs\n")


def test_a_second_engine_says_that_one_runs_and_where() -> None:
    with engine() as process:
        for arguments in (["serve"], ["serve", "--detach"]):
            done = run(*arguments)
            assert done.returncode == 1
            assert f"PID {process.pid}" in done.stderr
            assert engine_paths().socket in done.stderr
        assert is_reachable()


def test_a_detached_engine_outlives_the_command_that_started_it() -> None:
    done = run("serve", "--detach")
    assert done.returncode == 0, done.stderr
    assert f"PID {engine_pid()}" in done.stdout
    assert is_reachable()


@pytest.mark.slow
def test_five_commands_at_once_start_one_engine(repository: Path) -> None:
    commands = [
        subprocess.Popen([RAG_LS, "status", "--json"], cwd=repository, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(5)
    ]
    outputs = [command.communicate(timeout=PATIENCE_S) for command in commands]
    assert [errors for _, errors in outputs] == [b""] * 5
    pids = {status.split(b'"pid": ')[1].split(b",")[0] for status, _ in outputs}
    assert pids == {str(engine_pid()).encode()}


def test_what_a_killed_engine_left_is_recognised_and_replaced(repository: Path) -> None:
    with engine() as process:
        process.kill()
        process.wait()
        assert os.path.exists(engine_paths().socket)
        assert not is_reachable()
        assert answer("status", folder=repository)["engine"]["pid"] == engine_pid() != process.pid


def test_a_pid_file_that_names_somebody_else_s_process_harms_nobody(repository: Path) -> None:
    bystander = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    paths = engine_paths()
    os.makedirs(paths.folder)
    Path(paths.pid).write_text(f"{bystander.pid}\n")
    Path(paths.socket).write_text("rubbish")
    assert run("stop").returncode == 0
    assert answer("status", folder=repository)["engine"]["pid"] == engine_pid() != bystander.pid
    assert run("stop").returncode == 0
    assert bystander.poll() is None
    bystander.communicate()


def test_an_engine_without_clients_ends_by_itself(repository: Path) -> None:
    with engine(RAG_LS_DAEMON_IDLE_MINUTES="0.01") as process:
        assert process.wait(PATIENCE_S) == 0
        assert not os.path.exists(engine_paths().socket)


def test_a_project_that_nobody_has_open_is_closed_after_a_while(repository: Path) -> None:
    with engine(RAG_LS_DAEMON_PROJECT_IDLE_MINUTES="0.01"):
        answer("status", folder=repository)
        script = "import psutil, sys; print(*[file.path for file in psutil.Process(int(sys.argv[1])).open_files()])"
        assert until(lambda: str(repository) not in finished(python(script, engine_pid())))


def test_an_older_engine_makes_way_for_a_newer_once_its_clients_left(repository: Path) -> None:
    with engine() as old:
        client = Channel(raw())
        assert hello(client)["ok"]
        newer = Channel(raw())
        assert hello(newer, version="99.0")["reason"] == "leaving"
        # The next engine takes its place at once, while the old one goes on for those who are in.
        with engine() as new:
            assert new.poll() is None
            client.send({"operation": "list_memories", "folder": str(repository), "arguments": {}})
            assert client.receive()["result"]["memories"] == []
            assert old.poll() is None
            client.hang_up()
            assert old.wait(PATIENCE_S) == 0
            assert engine_pid() == new.pid
            assert is_reachable()


def test_versions_are_compared_as_numbers() -> None:
    assert as_numbers("0.10.0") > as_numbers("0.9.9")
    assert as_numbers("1.0rc1") < as_numbers("1.0.1")
    assert as_numbers("rubbish") == (0,)


def test_a_client_that_cannot_be_understood_is_told_what_to_do() -> None:
    with engine():
        connection = raw()
        with pytest.raises(Refused, match="rag-ls stop"):
            greet(connection, "", "cli", {"rag_ls": 99})
        assert is_reachable()


def test_the_folder_s_name_may_be_of_any_length(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = tmp_path / ("long" * 40)
    home.mkdir()
    monkeypatch.setenv("RAG_LS_HOME", str(home))
    with engine():
        assert len(engine_paths().socket) < 104
        assert _mode(engine_paths().folder) == 0o700


def test_a_folder_of_somebody_else_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if not IS_ROOT:
        pytest.skip("only root can give a folder to another user")
    monkeypatch.setenv("RAG_LS_HOME", str(tmp_path))
    (tmp_path / "run").mkdir()
    os.chown(tmp_path / "run", _NOBODY, _NOBODY)
    done = run("serve")
    assert done.returncode == 1
    assert "belongs to another user" in done.stderr


_INTRUDER = """
import os, socket, sys
os.setgid(65534)
os.setuid(65534)
connection = socket.socket(socket.AF_UNIX)
try:
    connection.connect(sys.argv[1])
    connection.sendall(b'{"rag_ls": 1, "version": "0.0.1", "token": "", "surface": "cli"}\\n')
    print(connection.recv(100))
except OSError as error:
    print(type(error).__name__)
"""


@pytest.mark.skipif(not IS_ROOT, reason="only root can become another user")
def test_another_user_of_the_machine_gets_neither_in_nor_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as shared:
        os.chmod(shared, 0o755)
        monkeypatch.setenv("RAG_LS_HOME", shared)
        with engine():
            paths = engine_paths()
            command = [sys.executable, "-c", _INTRUDER, paths.socket]

            def intrude() -> str:
                return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

            assert intrude() == "PermissionError"
            # Even if the permissions were wrong, the system says who is there.
            os.chmod(paths.folder, 0o755)
            os.chmod(paths.socket, 0o777)
            assert intrude() in ("b''", "ConnectionResetError", "BrokenPipeError")
            assert "another user" in Path(paths.log).read_text()


def test_over_a_port_only_who_knows_the_token_gets_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_LS_HOME", str(tmp_path))
    paths = engine_paths()
    listening = connecting.listen(paths, unix=False)
    assert _mode(paths.socket) == 0o600
    connected = connecting.connect(paths, PATIENCE_S, unix=False)
    assert connected is not None
    assert connected[1] == listening.token
    assert len(listening.token) > 30
    Path(paths.socket).write_text("{")
    assert connecting.connect(paths, 1.0, unix=False) is None
    connected[0].close()
    listening.socket.close()


@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_the_relay_finds_the_same_settings_file_as_everybody(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform != system:
        pytest.skip("a path of another system")
    assert user_config_file() == str(config_file_of_project())
    monkeypatch.delenv("RAG_LS_HOME")
    assert user_config_file() == str(config_file_of_project())
    assert paths_module.engine_paths().folder.startswith("/")


@pytest.mark.slow
def test_never_means_that_no_engine_is_started(repository: Path, home: Path) -> None:
    for setting in ('daemon = "never"\n', '[daemon]\nmode = "never"\n'):
        (home / "config").mkdir(exist_ok=True)
        (home / "config/config.toml").write_text(setting)
        assert answer("status", folder=repository)["engine"]["mode"] == "standalone"
    assert engine_pid() is None
    assert answer("status", "--standalone", folder=repository)["engine"]["mode"] == "standalone"


def test_manual_means_that_only_a_running_engine_is_used(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_LS_DAEMON", "manual")
    done = run("list", folder=repository)
    assert (done.returncode, done.stderr) == (0, "rag-ls: no engine runs; working without it\n")
    with engine():
        assert answer("status", folder=repository)["engine"]["mode"] == "shared"


def test_an_engine_that_cannot_start_is_done_without(repository: Path, home: Path) -> None:
    (home / "run").write_text("in the way")
    done = run("list", folder=repository)
    assert (done.returncode, done.stdout.strip()) == (0, "no memories")
    assert done.stderr.count("\n") == 1
    assert "working without it" in done.stderr


def test_a_command_relays_without_importing_what_is_heavy(repository: Path) -> None:
    with engine():
        assert run("index", folder=repository).returncode == 0
        heavy = {"numpy", "sqlite3", "asyncio", "logging", "pygls", "mcp", "onnxruntime", "dataclasses", "rich"}
        assert not heavy & _imported_by(repository, "search", "discount", "--json")
        # In a folder that is not trusted, too.
        assert not {"numpy", "sqlite3", "asyncio", "tree_sitter", "rag_ls.storage"} & _imported_by(repository, "status")


def _imported_by(folder: Path, *arguments: str) -> set[str]:
    script = (
        "import sys; from rag_ls.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as ended: assert not ended.code\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=True, text=True)
    return set(done.stderr.split())


@pytest.mark.slow
def test_the_process_that_started_an_engine_keeps_no_zombie_of_it(repository: Path) -> None:
    channel = find_engine("cli", Mode.AUTO)
    assert channel is not None
    channel.hang_up()
    pid = engine_pid()
    assert pid is not None
    assert psutil.Process(pid).ppid() == os.getpid()
    assert run("stop").returncode == 0
    assert until(lambda: not psutil.pid_exists(pid))


_IMPOSTOR = """
import os, socket, sys
folder = sys.argv[1]
os.setgid(65534)
os.setuid(65534)
os.mkdir(folder)
os.chmod(folder, 0o777)
listener = socket.socket(socket.AF_UNIX)
listener.bind(folder + "/engine.sock")
os.chmod(folder + "/engine.sock", 0o777)
listener.listen()
print("listening", flush=True)
while True:
    connection, _ = listener.accept()
    print("heard", connection.recv(1000), flush=True)
"""


@pytest.mark.skipif(not IS_ROOT, reason="only root can become another user")
def test_an_engine_of_another_user_is_told_nothing(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as shared:
        os.chmod(shared, 0o1777)
        monkeypatch.setenv("TMPDIR", shared)
        monkeypatch.setenv("XDG_DATA_HOME", str(repository / ".data"))
        monkeypatch.setenv("XDG_STATE_HOME", str(repository / ".state"))
        monkeypatch.delenv("RAG_LS_HOME")
        monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
        impostor = subprocess.Popen(
            [sys.executable, "-c", _IMPOSTOR, engine_paths().folder], stdout=subprocess.PIPE, text=True
        )
        assert impostor.stdout is not None
        assert impostor.stdout.readline() == "listening\n"
        done = run("search", "discount", folder=repository)
        impostor.kill()
        assert impostor.communicate()[0] == ""
        assert done.returncode == 0
        assert "belongs to another user" in done.stderr
        assert "src/cart.py" in done.stdout


def test_an_engine_whose_socket_was_cleared_away_is_done_without_and_makes_way(repository: Path) -> None:
    with engine(RAG_LS_DAEMON_PROJECT_IDLE_MINUTES="0.01") as process:
        os.unlink(engine_paths().socket)
        assert run("list", folder=repository).returncode == 0
        # It looks after itself at least as often as it closes projects.
        assert process.wait(PATIENCE_S) == 0
        assert answer("status", folder=repository)["engine"]["pid"] == engine_pid() != process.pid


def test_an_engine_whose_socket_was_cleared_away_before_it_looked_knows_that_it_is_gone(tmp_path: Path) -> None:
    paths = engine_paths()._replace(
        folder=str(tmp_path), socket=str(tmp_path / "engine.sock"), pid=str(tmp_path / "pid")
    )
    mark = Mark(paths)
    assert not mark.is_there()
    listening = mark.make()
    assert mark.is_there()
    listening.socket.close()
    mark.clean_up()
    assert not mark.is_there()


@pytest.mark.skipif(sys.platform != "linux", reason="no other system limits a running process")
def test_a_client_for_whom_the_engine_has_no_handles_is_told_so_and_works_without_it(repository: Path) -> None:
    with engine() as process:
        about = psutil.Process(process.pid)
        before = about.rlimit(psutil.RLIMIT_NOFILE)
        about.rlimit(psutil.RLIMIT_NOFILE, (about.num_fds() + 12, before[1]))
        done = run("search", "discount", folder=repository)
        assert done.returncode == 0
        assert "the engine has no file handle left (its limit is" in done.stderr
        assert "src/cart.py" in done.stdout
        about.rlimit(psutil.RLIMIT_NOFILE, before)
        assert answer("status", folder=repository)["engine"]["pid"] == process.pid


def test_an_engine_that_cannot_listen_says_so_and_leaves_no_pid(home: Path) -> None:
    paths = engine_paths()
    os.makedirs(paths.socket)
    done = run("serve")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert paths.socket in done.stderr
    assert "RAG_LS_HOME" in done.stderr
    assert engine_pid() is None, "the next would take it for an engine that ended suddenly"


def test_an_engine_that_cannot_finish_is_ended_by_a_second_signal(repository: Path, tmp_path: Path) -> None:
    hanging = write(tmp_path / "bin", {"git": "#!/bin/sh\nsleep 1000\n"})
    os.chmod(hanging / "git", 0o755)
    with engine(PATH=f"{hanging}:{os.environ['PATH']}") as process:
        channel = find_engine("cli", Mode.AUTO)
        assert channel is not None
        channel.send({"operation": "index", "folder": str(repository), "arguments": {"force": True}})
        assert until(lambda: (repository / ".rag-ls/index.db").exists())
        process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) is not None
        assert not os.path.exists(engine_paths().socket)
