"""One engine for all against one each: start-up and latency as ratios, memory, throughput, a branch switch, idle cost."""

from __future__ import annotations

import functools
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from rag_ls.daemon.channel import call
from rag_ls.daemon.connecting import Mode, find_engine
from tests.benchmarks.measure import percentiles, timed
from tests.benchmarks.startup import RAG_LS, first_answers, lsp_session, mcp_session
from tests.support import engine_pid, until

QUERY = "where is the session cookie set"
RUNS = 7
_IDLE_S = 60.0
_FILES_OF_BRANCH = 400


def sharing(folder: Path) -> dict[str, Any]:
    """All of it, on an indexed repository."""
    results: dict[str, Any] = {"commands": _commands(folder), "startup": _startup(folder), "memory": _memory(folder)}
    with _shared():
        results["searchers"] = {str(count): _searchers(folder, count) for count in (1, 8, 32)}
        results["idle_cpu_percent"] = _idle(folder)
    return results


def switching(folder: Path) -> dict[str, Any]:
    """From `git checkout` of another branch to correct answers, there (new text) and back (text embedded before)."""
    _git(folder, "init", "--quiet")
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--message", "main")
    _git(folder, "checkout", "--quiet", "-b", "other")
    files = sorted(folder.rglob("*.py"))[:_FILES_OF_BRANCH]
    for number, file in enumerate(files):
        file.write_text(file.read_text(errors="replace") + f"\n\ndef other_branch_{number}():\n    return {number}\n")
    _git(folder, "commit", "--quiet", "--all", "--message", "other")
    _git(folder, "checkout", "--quiet", "-")
    with _shared(), _editor_like(folder):
        until(lambda: _ask(folder, "status")["sync"] == "watching", 120)
        last = f"other_branch_{_FILES_OF_BRANCH - 1}"
        there = _switch(folder, "other", lambda: _names(folder, last))
        back = _switch(folder, "-", lambda: not _names(folder, last))
    return {"files": len(files), "there": there, "back": back}


def _switch(folder: Path, branch: str, is_right: Callable[[], bool]) -> dict[str, float]:
    started = time.perf_counter()
    _git(folder, "checkout", "--quiet", branch)
    checked_out = time.perf_counter()
    _until(is_right)
    right = time.perf_counter()
    _until(lambda: _ask(folder, "status")["queued_documents"] == 0)
    return {
        "checkout_s": round(checked_out - started, 2),
        "first_right_answer_s": round(right - checked_out, 2),
        "all_files_s": round(time.perf_counter() - checked_out, 2),
    }


def _until(condition: Callable[[], bool]) -> None:
    """Ask now and then: questions without a pause would keep the indexer waiting."""
    while not condition():
        time.sleep(0.2)


def _names(folder: Path, name: str) -> bool:
    hits = _ask(folder, "search", query=name, kinds=["code"])["results"]
    return any(name in hit["text"] for hit in hits)


def _commands(folder: Path) -> dict[str, Any]:
    """`rag-ls search` as a whole process."""
    with _shared():
        _command(folder, f"{QUERY} 0")
        # Each query is new: a cached answer would say nothing.
        relayed = [timed(functools.partial(_command, folder, f"{QUERY} {n}")) for n in range(1, RUNS)]
    alone = [timed(functools.partial(_command, folder, f"{QUERY} {n}", "--standalone")) for n in range(1, RUNS)]
    return {"relayed": percentiles(relayed), "standalone": percentiles(alone), "ratio": _ratio(alone, relayed)}


def _startup(folder: Path) -> dict[str, Any]:
    """The servers' `initialize` and first dense answer."""
    results: dict[str, Any] = {}
    for name, session in (("lsp", lsp_session), ("mcp", mcp_session)):
        with _shared():
            first_answers(session, folder)
            relayed = [first_answers(session, folder) for _ in range(RUNS)]
        alone = [first_answers(session, folder, "--standalone") for _ in range(RUNS)]
        results[name] = {
            step: {
                "relayed": percentiles([row[step] for row in relayed]),
                "standalone": percentiles([row[step] for row in alone]),
                "ratio": _ratio([row[step] for row in alone], [row[step] for row in relayed]),
            }
            for step in relayed[0]
        }
    return results


def _memory(folder: Path) -> dict[str, Any]:
    """Five agents, with one engine and with one each: private memory of all processes, in MB."""

    def total(*arguments: str) -> float:
        with _agents(folder, 5, *arguments) as agents:
            pids = [agent.pid for agent in agents]
            engine = engine_pid()
            return round(sum(map(_private_mb, [*pids, *([engine] if engine else [])])), 1)

    with _shared():
        shared = total()
    alone = total("--standalone")
    return {"engine_and_5_relays_mb": shared, "5_standalone_mb": alone, "ratio": round(alone / shared, 2)}


def _searchers(folder: Path, count: int) -> dict[str, Any]:
    """So many clients that ask without a pause, while the rest of the repository is embedded."""
    durations: list[float] = []
    until_s = time.perf_counter() + 10.0

    def client(number: int) -> None:
        asked = 0
        while time.perf_counter() < until_s:
            asked += 1
            query = f"{QUERY} {number} {asked}"
            durations.append(timed(functools.partial(_ask, folder, "search_code", query=query)))

    with _editor_like(folder):
        started = time.perf_counter()
        threads = [threading.Thread(target=client, args=(number,)) for number in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        elapsed = time.perf_counter() - started
    ordered = sorted(durations)
    p99 = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    return {
        **percentiles(durations),
        "p99_ms": round(1000 * p99, 1),
        "searches_per_s": round(len(durations) / elapsed, 1),
    }


def _idle(folder: Path) -> float:
    """CPU that an engine uses in a minute in which nobody asks anything, with an agent connected; 100 is one core."""
    with _agents(folder, 1, RAG_LS_INDEX_ON_OPEN="false"):
        pid = engine_pid()
        assert pid is not None
        time.sleep(15.0)
        before = psutil.Process(pid).cpu_times()
        time.sleep(_IDLE_S)
        after = psutil.Process(pid).cpu_times()
    return round(100 * (after.user + after.system - before.user - before.system) / _IDLE_S, 3)


@contextmanager
def _agents(folder: Path, count: int, *arguments: str, **environment: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Agents that asked one question each and stay."""
    agents = []
    for _ in range(count):
        session = mcp_session(folder, *arguments, **{"RAG_LS_INDEX_ON_OPEN": "false", **environment})
        session.until_dense(QUERY)
        agents.append(session.process)
    try:
        yield agents
    finally:
        for agent in agents:
            agent.kill()
            agent.communicate()


@contextmanager
def _editor_like(folder: Path) -> Iterator[None]:
    """A client that has the project open, so that its indexing goes on."""
    session = mcp_session(folder)
    session.ask("tools/call", {"name": "index_status", "arguments": {}})
    try:
        yield
    finally:
        session.process.kill()
        session.process.communicate()


@contextmanager
def _shared() -> Iterator[None]:
    # A benchmark before this one may have left an engine.
    subprocess.run([RAG_LS, "stop"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run([RAG_LS, "serve", "--detach"], check=True, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        subprocess.run([RAG_LS, "stop"], check=True, stdout=subprocess.DEVNULL)


def _ask(folder: Path, operation: str, **arguments: Any) -> Any:
    channel = find_engine("cli", Mode.MANUAL)
    assert channel is not None
    return call(channel, operation, str(folder), arguments)


def _command(folder: Path, query: str, *options: str) -> None:
    command = [RAG_LS, "search", query, "--in", "code", *options]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _private_mb(pid: int) -> float:
    """Memory of a process and its children that no other process shares."""
    process = psutil.Process(pid)
    return sum(one.memory_full_info().uss for one in (process, *process.children(recursive=True))) / 1e6


def _ratio(slow: list[float], fast: list[float]) -> float:
    return round(statistics.median(slow) / statistics.median(fast), 1)


def _git(folder: Path, *arguments: str) -> None:
    command = ["git", "-C", str(folder), "-c", "user.name=Bench", "-c", "user.email=bench@example.org", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=sys.stderr, env=dict(os.environ))
