"""What an engine survives: being killed, full disks, damaged files, vanished folders, and clients of every kind."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import psutil
import pytest

from rag_ls.config.memory_homes import FOLDER as MEMORY_HOMES
from rag_ls.daemon.channel import Channel, EngineLost, call
from rag_ls.daemon.connecting import Mode, find_engine
from rag_ls.errors import ProjectUnavailable, RagLsError, StoreFull, StoreUnavailable
from tests.commands import RAG_LS
from tests.daemon.engines import answer, engine, hello, raw, run, until_served
from tests.support import PATIENCE_S, SHOP, engine_pid, memories_file, until, write

pytestmark = pytest.mark.slow


def _ask(folder: Path, operation: str, **arguments: Any) -> Any:
    """One operation, of the engine and nobody else."""
    channel = find_engine("cli", Mode.of(argparse.Namespace()))
    if channel is None:
        raise EngineLost("no engine runs")
    return call(channel, operation, str(folder), arguments)


def _contents(folder: Path) -> list[str]:
    return sorted(item["content"] for item in _ask(folder, "list_memories", limit=5000)["memories"])


def _rows(folder: Path) -> list[tuple[str, ...]]:
    """What an index holds, whatever the order in which it was made."""
    with contextlib.closing(sqlite3.connect(folder / ".rag-ls/index.db")) as connection:
        return sorted(
            connection.execute(
                "SELECT d.path, d.sha256, c.uid, c.text, c.embedded = 1 FROM chunks c "
                "JOIN documents d ON d.id = c.document_id WHERE d.session = ''"
            )
        )


def _big(folder: Path) -> Path:
    body = (
        'def walrus_{a}_{b}(pool, header):\n    """Refresh token {b} of the pool {a}."""\n    return pool.resize({b})\n'
    )
    files = {f"module_{a}.py": "\n\n".join(body.format(a=a, b=b) for b in range(8)) for a in range(12)}
    return write(folder, files)


def _busy(folder: Path, name: str, acknowledged: list[str]) -> None:
    """Index, search and store until the engine dies."""
    with contextlib.suppress(RagLsError, OSError):
        for number in range(1000):
            content = f"{name} fact {number}"
            _ask(folder, "store_memory", content=content, scope="project")
            acknowledged.append(content)
            _ask(folder, "search", query=f"walrus {number}", kinds=["code", "memory"])


def test_killed_at_many_moments_it_loses_no_memory_and_its_index_comes_out_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: Callable[[int], int]
) -> None:
    monkeypatch.setenv("RAG_LS_DAEMON", "manual")
    folder, untouched = _big(tmp_path / "killed"), _big(tmp_path / "untouched")
    moments, acknowledged = random.Random(3), list[str]()
    for round_ in range(times(20)):
        with engine() as process:
            clients = [
                threading.Thread(target=_busy, args=(folder, f"{round_}.{number}", acknowledged)) for number in range(2)
            ]
            indexing = subprocess.Popen(
                [RAG_LS, "index"], cwd=folder, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )
            for client in clients:
                client.start()
            known = len(acknowledged)
            if round_ % 4:
                # Most die at work, some while they start.
                assert until(lambda known=known: len(acknowledged) > known)
            time.sleep(moments.uniform(0.02, 0.5))
            indexing.kill()
            indexing.wait()
            process.send_signal(signal.SIGKILL)
            process.wait()
            for client in clients:
                client.join()
    monkeypatch.delenv("RAG_LS_DAEMON")
    for project in (folder, untouched):
        assert run("index", folder=project).returncode == 0
    assert set(acknowledged) <= set(_contents(folder))
    assert len(acknowledged) > times(20)
    assert _rows(folder) == _rows(untouched) != []


@pytest.fixture
def small_disk(home: Path, tmp_path: Path) -> Iterator[Path]:
    """A project on a file system of a few megabytes, which holds its memories, too."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        (place / "homes").mkdir(mode=0o700)
        (home / "data").mkdir(mode=0o700)
        (home / "data" / MEMORY_HOMES).symlink_to(place / "homes")
        yield write(place / "project", SHOP)
    finally:
        run("stop")
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_on_a_full_disk_nothing_is_half_written_and_all_goes_on_when_there_is_space(small_disk: Path) -> None:
    assert run("index", folder=small_disk).returncode == 0
    _ask(small_disk, "store_memory", content="stored before", scope="project")
    kept = ["stored before"]
    filler = small_disk / "filler.bin"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"\0" * 4096)
    reasons: list[str] = []
    for number in range(5):
        content = f"while full {number} " + "x" * 60_000
        try:
            _ask(small_disk, "store_memory", content=content, scope="project")
            kept.append(content)
        except StoreFull as error:
            reasons.append(str(error))
    assert len(reasons) >= 3
    assert all("full" in reason for reason in reasons)
    assert _contents(small_disk) == sorted(kept)
    filler.unlink()
    write(small_disk, {"src/new.py": "def zebra():\n    return 1\n"})
    _ask(small_disk, "store_memory", content="stored afterwards", scope="project")
    assert _contents(small_disk) == sorted([*kept, "stored afterwards"])

    def found() -> bool:
        hits = _ask(small_disk, "search", query="zebra", kinds=["code"])["results"]
        return bool(hits) and hits[0]["path"] == "src/new.py"

    assert until(found)


def test_over_http_a_full_disk_is_507_while_questions_are_answered(small_disk: Path, http_settings: str) -> None:
    with engine():
        assert run("index", folder=small_disk).returncode == 0
        secret = answer("token", "add", "full")["token"]
        until_served(http_settings)
        with httpx.Client(base_url=http_settings, headers={"x-rag-token": secret}, timeout=PATIENCE_S) as caller:
            filler = small_disk / "filler.bin"
            with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
                while True:
                    file.write(b"\0" * 4096)
            memory = {"content": "too much " + "x" * 60_000, "scope": "project"}
            answers = [
                caller.post("/api/store_memory", json={**memory, "content": f"{n} {memory['content']}"})
                for n in range(5)
            ]
            full = [each for each in answers if each.status_code == 507]
            assert len(full) >= 3
            assert {each.json()["error"]["type"] for each in full} == {"StoreFull"}
            assert caller.post("/api/search_code", json={"query": "refund"}).status_code == 200
            filler.unlink()
            again = caller.post("/api/store_memory", json={"content": "stored afterwards", "scope": "project"})
            assert again.status_code == 200, again.text


def _truncate(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def _overwrite(file: Path) -> None:
    with file.open("r+b") as view:
        view.write(os.urandom(file.stat().st_size))


def _replace(file: Path) -> None:
    file.unlink()
    file.write_bytes(b"garbage" * 1000)


def _delete(file: Path) -> None:
    file.unlink()


@pytest.mark.shared_engine
@pytest.mark.parametrize("damage", [_truncate, _overwrite, _replace, _delete])
def test_an_index_that_is_damaged_in_use_is_made_anew_and_memories_stay(
    repository: Path, damage: Callable[[Path], None]
) -> None:
    assert run("index", folder=repository).returncode == 0
    _ask(repository, "store_memory", content="precious words", scope="project")
    with contextlib.closing(sqlite3.connect(repository / ".rag-ls/index.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    damage(repository / ".rag-ls/index.db")

    def found() -> bool:
        try:
            hits = _ask(repository, "search", query="total_price", kinds=["code"])["results"]
        except StoreUnavailable:
            return False
        return bool(hits) and hits[0]["path"] == "src/cart.py"

    assert until(found)
    assert _contents(repository) == ["precious words"]
    assert run("index", folder=repository).returncode == 0
    assert answer("status", folder=repository)["complete"]


def test_damaged_memories_name_the_newest_good_backup_and_all_else_works(repository: Path) -> None:
    assert run("index", folder=repository).returncode == 0
    _ask(repository, "store_memory", content="precious words", scope="project")
    run("stop")
    file = memories_file(repository)
    file.write_bytes(b"garbage" * 1000)
    with pytest.raises(StoreUnavailable, match="backup"):
        _ask(repository, "store_memory", content="more words", scope="project")
    assert _ask(repository, "search", query="discount", kinds=["code"])["results"]
    assert _ask(repository, "store_memory", content="stored elsewhere", scope="global")["status"] == "inserted"
    assert file.read_bytes() == b"garbage" * 1000


def test_a_deleted_project_is_said_to_be_gone_and_is_there_again_when_it_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The engine looks for what is gone as often as for what is idle.
    monkeypatch.setenv("RAG_LS_DAEMON_PROJECT_IDLE_MINUTES", "0.01")
    folder = write(tmp_path / "shop", SHOP)
    assert run("index", folder=folder).returncode == 0
    with engine_session(folder) as ask:
        assert ask("search_code", query="discount")["results"]
        shutil.rmtree(folder)
        with pytest.raises(ProjectUnavailable, match=r"gone|not a folder"):
            ask("search_code", query="discount")
        assert not folder.exists(), "a question brings no folder back"
        write(folder, SHOP)
        assert until(lambda: ask("search_code", query="discount")["results"])
        # The very same folder, away and back.
        folder.rename(tmp_path / "away")
        with pytest.raises(ProjectUnavailable):
            ask("search_code", query="discount")
        time.sleep(2.0)
        (tmp_path / "away").rename(folder)
        assert until(lambda: ask("search_code", query="discount")["results"])


@pytest.mark.shared_engine
def test_a_moved_project_is_found_where_it_is_now_with_its_memories(tmp_path: Path) -> None:
    folder, moved = write(tmp_path / "shop", SHOP), tmp_path / "moved"
    assert run("index", folder=folder).returncode == 0
    with engine_session(folder) as ask:
        ask("store_memory", content="carts are net of tax", scope="project")
        folder.rename(moved)
        with pytest.raises(ProjectUnavailable, match=r"gone|not a folder"):
            ask("search_code", query="discount")
        assert _contents(moved) == ["carts are net of tax"]
        hits = _ask(moved, "search", query="total_price", kinds=["code"])["results"]
        assert hits[0]["path"] == "src/cart.py"


def test_an_unmounted_project_is_gone_and_the_engine_goes_on(small_disk: Path, repository: Path) -> None:
    assert run("index", folder=small_disk).returncode == 0
    with engine_session(small_disk) as ask:
        subprocess.run(["umount", "-l", str(small_disk.parent)], check=True)
        # An empty folder, as the mount point of a project is.
        small_disk.mkdir()
        assert until(lambda: ask("search_code", query="discount")["results"] == [])
        assert _ask(repository, "search", query="discount", kinds=["code"])["results"]
    # For the fixture to unmount.
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small_disk.parent)], check=True)


@contextlib.contextmanager
def engine_session(folder: Path) -> Iterator[Callable[..., Any]]:
    """One client that stays connected, as an agent does."""
    channel = find_engine("cli", Mode.AUTO)
    assert channel is not None

    def ask(operation: str, **arguments: Any) -> Any:
        channel.send({"operation": operation, "folder": str(folder), "arguments": arguments})
        # A project that is indexed for the first time tells how far it is before it answers.
        while "progress" in (message := channel.receive() or {}):
            pass
        if "error" in message:
            from rag_ls import errors

            raise getattr(errors, message["error"]["type"])(message["error"]["message"])
        return message["result"]

    try:
        yield ask
    finally:
        channel.hang_up()


@pytest.mark.shared_engine
def test_a_clock_that_was_set_back_hides_no_change(repository: Path) -> None:
    """Files and index of "tomorrow": what is written now has older times than what is known."""
    tomorrow = time.time() + 86_400
    for path in SHOP:
        os.utime(repository / path, (tomorrow, tomorrow))
    assert run("index", folder=repository).returncode == 0
    write(repository, {"src/cart.py": "def zebra_price():\n    return 1\n"})

    def found() -> bool:
        hits = _ask(repository, "search", query="zebra_price", kinds=["code"])["results"]
        return bool(hits) and hits[0]["freshness"] == "disk" and "zebra_price" in hits[0]["text"]

    assert until(found)


def test_a_hundred_clients_at_once_are_all_answered(repository: Path) -> None:
    assert run("index", folder=repository).returncode == 0
    pid = engine_pid()
    assert pid is not None
    before = psutil.Process(pid).num_fds()
    found: list[str] = []
    start = threading.Barrier(100)

    def client(number: int) -> None:
        start.wait()
        hits = _ask(repository, "search", query=f"total_price {number}", kinds=["code"])["results"]
        found.append(hits[0]["path"])

    threads = [threading.Thread(target=client, args=(number,)) for number in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["src/cart.py"] * 100
    assert until(lambda: psutil.Process(pid).num_fds() <= before + 60), "connections are given back"
    assert len(answer("status", folder=repository)["engine"]["clients"]) == 1


@pytest.mark.shared_engine
@pytest.mark.parametrize(
    "said",
    [b"", b'{"rag_ls": 1, "ver', b'{"rag_ls": 1}\n', b"GET / HTTP/1.1\r\n\r\n", b"\0" * 100, b"[]\n", b"x" * 2_000_000],
)
def test_a_client_that_greets_with_half_a_message_or_rubbish_harms_nobody(repository: Path, said: bytes) -> None:
    first = answer("status", folder=repository)["engine"]["pid"]
    silent = raw()
    with contextlib.suppress(OSError):
        silent.sendall(said)
    assert answer("status", folder=repository)["engine"]["pid"] == first
    silent.close()


@pytest.mark.shared_engine
@pytest.mark.parametrize("surface", ["lsp", "mcp", "cli"])
@pytest.mark.parametrize("said", [b"Content-Length: 1000\r\n\r\n{", b'{"half', b"Content-Length: 1000000000\r\n\r\n{}"])
def test_a_client_that_stops_in_the_middle_harms_nobody(repository: Path, surface: str, said: bytes) -> None:
    first = answer("status", folder=repository)["engine"]["pid"]
    client = Channel(raw())
    assert hello(client, surface=surface, folder=str(repository))["ok"]
    client.socket.sendall(said)
    assert answer("status", folder=repository)["engine"]["pid"] == first
    client.hang_up()
    assert until(lambda: len(answer("status", folder=repository)["engine"]["clients"]) == 1)


def test_a_gigabyte_announced_ends_that_session_and_takes_no_memory(repository: Path) -> None:
    with engine() as process:
        relay = subprocess.Popen([RAG_LS, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        _, errors = relay.communicate(b"Content-Length: 1000000000\r\n\r\n{", timeout=PATIENCE_S)
        assert relay.returncode == 1
        assert b"1,000,000,000" in errors
        client = Channel(raw())
        assert hello(client, surface="lsp")["ok"]
        client.socket.sendall(b"Content-Length: 1000000000\r\n\r\n{")
        assert client.input.read() == b"", "the engine hung up"
        assert psutil.Process(process.pid).memory_info().rss < 600_000_000


@pytest.mark.shared_engine
def test_a_line_without_end_ends_that_session_and_takes_no_memory_for_long(repository: Path) -> None:
    first = answer("status", folder=repository)["engine"]["pid"]
    client = Channel(raw())
    assert hello(client, surface="mcp", folder=str(repository))["ok"]
    with contextlib.suppress(OSError):
        for _ in range(200):
            client.socket.sendall(b"x" * 1_000_000)
    with contextlib.suppress(ConnectionResetError):
        assert client.input.read() == b"", "the engine hung up"
    assert answer("status", folder=repository)["engine"]["pid"] == first


@pytest.mark.shared_engine
def test_an_agent_that_leaves_while_it_waits_is_no_client_any_more(repository: Path) -> None:
    (repository / "big.py").write_text("\n\n".join(f"def walrus_{n}(pool):\n    return {n}\n" for n in range(3000)))
    assert answer("status", folder=repository)["engine"]["mode"] == "shared"
    agent = Channel(raw())
    assert hello(agent, surface="mcp", folder=str(repository))["ok"]
    initialize = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "f", "version": "1"}}
    agent.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize})
    agent.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    call_ = {"name": "index_status", "arguments": {"wait_s": 600}}
    agent.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call_})
    assert until(lambda: len(answer("status", folder=repository)["engine"]["clients"]) == 2)
    time.sleep(1.0)
    agent.hang_up()
    assert until(lambda: len(answer("status", folder=repository)["engine"]["clients"]) == 1)


@pytest.mark.shared_engine
def test_a_client_that_floods_and_reads_nothing_keeps_nobody_else_waiting(repository: Path) -> None:
    assert run("index", folder=repository).returncode == 0
    flood = Channel(raw())
    assert hello(flood, surface="mcp", folder=str(repository))["ok"]
    flood.socket.settimeout(0.5)
    initialize = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "f", "version": "1"}}
    flood.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize})
    flood.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    request = {"method": "tools/call", "params": {"name": "search_code", "arguments": {"query": "price"}}}
    with contextlib.suppress(TimeoutError):
        for number in range(1, 5000):
            flood.send({"jsonrpc": "2.0", "id": number, **request})
    for _ in range(5):
        assert _ask(repository, "search", query="total_price", kinds=["code"])["results"][0]["path"] == "src/cart.py"
    flood.hang_up()
    assert until(lambda: len(answer("status", folder=repository)["engine"]["clients"]) == 1)


def test_an_engine_whose_log_cannot_be_written_logs_beside_its_socket(home: Path, repository: Path) -> None:
    # As in a container whose home is read-only. A file in the folder's place stops root too.
    write(home, {"log": "in the way"})
    with engine():
        status = answer("status", folder=repository)["engine"]
    log = home / "run" / "engine.log"
    assert (status["mode"], status["log"]) == ("shared", str(log))
    assert "at " + status["address"] in log.read_text()


def test_an_engine_that_hangs_is_done_without(repository: Path) -> None:
    with engine() as process:
        process.send_signal(signal.SIGSTOP)
        done = run("list", folder=repository)
        process.send_signal(signal.SIGCONT)
        assert (done.returncode, done.stdout.strip()) == (0, "no memories")
        assert "has not answered" in done.stderr


def test_a_call_whose_engine_ends_says_so() -> None:
    ours, theirs = socket.socketpair()
    theirs.sendall(json.dumps({"progress": {}}).encode() + b"\n")
    theirs.close()
    with pytest.raises(EngineLost):
        call(Channel(ours), "search", "/", {})
