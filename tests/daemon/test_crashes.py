"""A process that crashes says where, in its log and never to the protocol."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from rag_ls.daemon.paths import engine_paths
from tests.commands import RAG_LS
from tests.daemon.engines import answer, engine, run
from tests.e2e.clients import agent
from tests.support import PATIENCE_S, engine_pid, has_ended, until, write

_SAID = "Fatal Python error: Segmentation fault"


def _crash(pid: int | None) -> None:
    assert pid is not None
    os.kill(pid, signal.SIGSEGV)
    assert until(lambda: has_ended(pid))


def _log() -> str:
    file = Path(engine_paths().log)
    return file.read_text() if file.exists() else ""


@pytest.mark.slow
def test_an_engine_that_crashes_says_where_and_the_next_one_and_doctor_say_that_it_did(repository: Path) -> None:
    pid = answer("status", folder=repository)["engine"]["pid"]
    assert until(lambda: "PID" in _log())
    _crash(engine_pid())
    said = _log()
    assert _SAID in said
    assert 'File "' in said[said.index(_SAID) :], "each thread's place"
    assert f"PID {pid}, ended suddenly, see {engine_paths().log}" in run("doctor", folder=repository).stdout
    assert answer("status", folder=repository)["engine"]["pid"] != pid
    assert until(lambda: f"PID {pid}, ended suddenly" in _log())
    run("stop")
    assert "ended suddenly" not in run("doctor", folder=repository).stdout


def test_what_an_engines_children_say_when_they_crash_is_in_its_log_too(repository: Path) -> None:
    pid = answer("status", folder=repository)["engine"]["pid"]
    assert until(lambda: "PID" in _log())
    assert os.path.samefile(f"/proc/{pid}/fd/2", engine_paths().log)
    assert psutil.Process(pid).environ()["PYTHONFAULTHANDLER"]


def test_an_engine_in_a_terminal_crashes_into_its_log() -> None:
    with engine() as process:
        assert until(lambda: "PID" in _log())
        _crash(process.pid)
        assert process.wait() == -signal.SIGSEGV
        assert _SAID in _log()


def test_a_log_that_is_full_is_renamed_and_the_crash_is_in_the_new_one(tmp_path: Path) -> None:
    script = (
        "import logging, os, signal, sys\nfrom pathlib import Path\n"
        "from rag_ls.config import logs; from rag_ls.config.settings import LogSettings\n"
        "logs._MAX_FILE_BYTES = 1000\n"
        "logs.to_rotating_file(Path(sys.argv[1]), LogSettings(), also_stderr=False)\n"
        "for number in range(20):\n    logging.getLogger('rag_ls').warning('line %d %s', number, 'x' * 200)\n"
        "print('printed', file=sys.stderr, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGSEGV)\n"
    )
    file = tmp_path / "log" / "engine.log"
    done = subprocess.run(
        [sys.executable, "-c", script, str(file)], capture_output=True, timeout=PATIENCE_S, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGSEGV, b"", b"")
    said = file.read_text()
    assert _SAID in said
    assert "printed" in said
    assert "line 19" in said
    assert _SAID not in Path(f"{file}.1").read_text()


@pytest.mark.parametrize("line", [("mcp",), ("lsp",), ("mcp", "--standalone"), ("lsp", "--standalone")])
def test_a_relay_or_a_server_of_its_own_crashes_to_standard_error_alone(line: tuple[str, ...], shop: Path) -> None:
    with subprocess.Popen(
        [RAG_LS, *line], cwd=shop, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        # It reads by then.
        assert until(lambda: _is_enabled(process.pid))
        process.send_signal(signal.SIGSEGV)
        output, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, output) == (-signal.SIGSEGV, b"")
    assert _SAID.encode() in errors


def _is_enabled(pid: int) -> bool:
    """Whether a process catches SIGSEGV (proc(5), `SigCgt`)."""
    status = Path(f"/proc/{pid}/status").read_text()
    mask = next(line for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(mask.split()[1], 16) >> (signal.SIGSEGV - 1) & 1)


def test_a_log_file_of_the_settings_has_the_crash(repository: Path, home: Path, tmp_path: Path) -> None:
    log = tmp_path / "mine.log"
    write(home / "config", {"config.toml": f'[log]\nfile = "{log}"\nlevel = "info"\n'})
    assert answer("status", folder=repository)["engine"]["mode"] == "shared"
    assert until(log.exists)
    _crash(engine_pid())
    assert _SAID in log.read_text()


@pytest.mark.slow
async def test_an_agent_is_told_once_that_its_session_s_memories_ended_with_the_engine(repository: Path) -> None:
    async with agent(repository) as helper:
        assert "id" in await helper.call(
            "store_memory", content="The cart is open in the other window", scope="session"
        )
        assert "note" not in await helper.call("list_memories", scope="session")
        _crash(engine_pid())
        assert "memories of scope session" in (await helper.call("list_memories", scope="session"))["note"]
        assert "note" not in await helper.call("list_memories", scope="session")
