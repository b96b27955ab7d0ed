"""Relays of real editors, agents and commands, whose engine is killed under them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rag_ls.daemon.paths import engine_paths
from tests.commands import COLD, RAG_LS
from tests.daemon.engines import answer, run
from tests.e2e.clients import Editor, agent, editor, eventually
from tests.support import PATIENCE_S, engine_pid, has_ended, until, write


def _kill_engine() -> int:
    pid = engine_pid()
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert until(lambda: has_ended(pid))
    return pid


@pytest.mark.slow
async def test_an_editor_an_agent_and_the_shell_share_one_engine(repository: Path) -> None:
    async with editor(repository) as ed, agent(repository) as ag:
        status = await ed.until_complete()
        await ag.until_complete()
        shown = answer("status", folder=repository)
        assert status["engine"]["pid"] == shown["engine"]["pid"] == engine_pid()
        clients = {(client["surface"], client["name"]) for client in shown["engine"]["clients"]}
        assert {surface for surface, _ in clients} == {"lsp", "mcp", "cli"}
        assert ("mcp", "mcp") in clients
        assert [project["clients"] for project in shown["projects"]] == [3]
        assert {"search_code", "engine_status"} & set(shown["engine"]["latency"])


@pytest.mark.shared_engine
async def test_what_is_typed_in_one_window_is_found_by_agent_shell_and_other_window(repository: Path) -> None:
    file = repository / "src/cart.py"
    async with editor(repository) as ed, editor(repository) as other, agent(repository) as ag:
        await ed.until_complete()
        ed.open(file)
        ed.type(file, "def unsaved_pelican():\n    return 'beak'\n\n\n")

        async def found() -> bool:
            hits = (await ag.call("search_code", query="unsaved_pelican"))["results"]
            return bool(hits) and hits[0]["freshness"] == "buffer" and "unsaved_pelican" in hits[0]["text"]

        assert await eventually(found)
        hits = (await other.command("searchCode", query="unsaved_pelican"))["results"]
        assert "unsaved_pelican" in hits[0]["text"]
        shown = answer("search", "unsaved_pelican", "--in", "code", folder=repository)
        assert shown["results"][0]["freshness"] == "buffer"
    # It fails where nothing is close.
    left = json.loads(run("search", "pelican", "--json", folder=repository).stdout)
    assert all("pelican" not in hit["text"] for hit in left["results"])


@pytest.mark.shared_engine
async def test_two_windows_hold_the_same_document_and_each_sees_its_own(repository: Path) -> None:
    file = repository / "src/cart.py"
    async with editor(repository) as one, editor(repository) as two:
        await one.until_complete()
        await two.until_complete()
        for window, name in ((one, "first_walrus"), (two, "second_walrus")):
            window.open(file)
            window.replace_all(file, f"def {name}():\n    return 1\n")
            window.open("untitled:Untitled-1", f"def {name}_untitled():\n    return 1\n")

        async def own(window: Any, name: str) -> bool:
            names = {symbol.name for symbol in await window.symbols("walrus")}
            return {name, f"{name}_untitled"} <= names and not any("walrus" in n and name not in n for n in names)

        assert await eventually(lambda: own(one, "first_walrus"))
        assert await eventually(lambda: own(two, "second_walrus"))
        two.close(file)
        two.close("untitled:Untitled-1")
        assert await eventually(lambda: own(one, "first_walrus"))


@pytest.mark.shared_engine
async def test_session_memories_belong_to_the_session_that_stored_them(repository: Path) -> None:
    async with agent(repository) as one, agent(repository) as two:
        await one.call("store_memory", content="only mine", scope="session")
        await one.call("store_memory", content="ours alone", scope="project")
        assert {item["content"] for item in (await one.call("list_memories"))["memories"]} == {
            "only mine",
            "ours alone",
        }
        assert {item["content"] for item in (await two.call("list_memories"))["memories"]} == {"ours alone"}


@pytest.mark.slow
async def test_an_agent_notices_nothing_but_a_delay_when_its_engine_is_killed(repository: Path) -> None:
    async with agent(repository) as ag:
        await ag.until_complete()
        stored = await ag.call("store_memory", content="Carts are net of tax", scope="project")
        for _ in range(3):
            _kill_engine()
            assert (await ag.call("get_memory", id=stored["id"]))["content"] == "Carts are net of tax"


@pytest.mark.slow
async def test_requests_in_flight_are_answered_by_the_next_engine(repository: Path) -> None:
    async with agent(repository) as ag:
        await ag.until_complete()
        asked = [asyncio.create_task(ag.call("search_code", query=f"discount {number}")) for number in range(40)]
        await asyncio.sleep(0.05)
        await asyncio.to_thread(_kill_engine)
        answers = await asyncio.gather(*asked)
        assert [item["query"] for item in answers] == [f"discount {number}" for number in range(40)]


@pytest.mark.slow
async def test_an_editor_s_open_documents_are_known_to_the_next_engine(repository: Path) -> None:
    file = repository / "src/cart.py"
    async with editor(repository) as ed:
        await ed.until_complete()
        ed.open(file)
        ed.type(file, "def typed_before():\n    return 1\n\n\n")
        first = await asyncio.to_thread(_kill_engine)
        ed.type(file, "def typed_after():\n    return 1\n\n\n")

        async def both() -> bool:
            for name in ("typed_before", "typed_after"):
                hits = (await ed.command("searchCode", query=name))["results"]
                if all(name not in hit["text"] for hit in hits):
                    return False
            return True

        assert await eventually(both)
        assert engine_pid() != first


# Engines, and no other process, die as a grammar's parser may, of a text that an editor gives them.
_DIES = """
import os, signal, sys
if "serve" in sys.orig_argv:
    from rag_ls.lsp import text_buffer
    init = text_buffer.TextBuffer.__init__
    def dying(self, text, *rest):
        if "deadly" in text:
            os.kill(os.getpid(), signal.SIGSEGV)
        init(self, text, *rest)
    text_buffer.TextBuffer.__init__ = dying
"""


@pytest.mark.slow
async def test_a_text_that_engines_die_of_is_kept_from_the_next_and_the_editor_is_told(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "site", {"sitecustomize.py": _DIES})
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    innocent, deadly = repository / "src/cart.py", repository / "src/auth.py"
    async with editor(repository) as ed, agent(repository) as ag:
        await ed.until_complete()
        ed.open(innocent, "def innocent_walrus():\n    return 1\n")
        ed.open(deadly, "deadly = 1\n")

        async def told() -> bool:
            return bool(ed.client.messages)

        assert await eventually(told)
        (message,) = ed.client.messages
        log = Path(engine_paths().log)
        assert deadly.as_uri() in message.message
        assert str(log) in message.message
        assert await eventually(lambda: _finds(ed, "innocent_walrus"))
        living = engine_pid()
        assert (await ag.call("search_code", query="innocent_walrus"))["results"]
        ed.replace_all(deadly, "def harmless_walrus():\n    return 1\n")
        assert await eventually(lambda: _finds(ed, "harmless_walrus"))
        assert (engine_pid(), len(ed.client.messages)) == (living, 1)
        logged = log.read_text()
        assert message.message in logged
        assert "Fatal Python error: Segmentation fault" in logged


async def _finds(window: Editor, name: str) -> bool:
    hits = (await window.command("searchCode", query=name))["results"]
    return any(name in hit["text"] for hit in hits)


@pytest.mark.slow
async def test_an_engine_that_was_stopped_comes_back_when_something_is_asked(repository: Path) -> None:
    async with agent(repository) as ag:
        await ag.until_complete()
        first = engine_pid()
        assert run("stop").returncode == 0
        await asyncio.sleep(1.0)
        assert engine_pid() is None, "a relay that nobody asks anything starts no engine that somebody stopped"
        assert (await ag.call("index_status"))["engine"]["pid"] == engine_pid() != first


@pytest.mark.slow
@pytest.mark.shared_engine
async def test_a_killed_relay_leaves_no_unsaved_text_and_harms_nobody(repository: Path) -> None:
    script = (
        "import asyncio, sys\nfrom pathlib import Path\nfrom tests.e2e.clients import editor\n"
        "async def main():\n"
        "    async with editor(Path(sys.argv[1])) as ed:\n"
        "        await ed.until_complete()\n"
        "        ed.open(Path(sys.argv[1]) / 'src/cart.py')\n"
        "        ed.type(Path(sys.argv[1]) / 'src/cart.py', 'def orphan_walrus(): return 1\\n')\n"
        "        await ed.until_complete()\n"
        "        print('typed', flush=True)\n"
        "        await asyncio.sleep(1000)\n"
        "asyncio.run(main())\n"
    )
    window = subprocess.Popen(
        [sys.executable, "-c", script, str(repository)], stdout=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, COLD: "1"},
    )  # fmt: skip
    assert window.stdout is not None
    assert window.stdout.readline() == "typed\n"
    async with agent(repository) as ag:
        hits = (await ag.call("search_code", query="orphan_walrus"))["results"]
        assert hits[0]["freshness"] == "buffer"
        os.killpg(window.pid, signal.SIGKILL)
        window.wait()

        async def gone() -> bool:
            found = (await ag.call("search_code", query="orphan_walrus"))["results"]
            return all("walrus" not in hit["text"] for hit in found)

        assert await eventually(gone)
        assert (await ag.call("index_status"))["projects"][0]["unsaved_buffers"] == 0


@pytest.mark.slow
def test_a_command_whose_engine_dies_meanwhile_does_the_work_itself(tmp_path: Path) -> None:
    body = "def walrus_{a}_{b}(pool):\n    return pool.resize({b})\n\n\n"
    for a in range(60):
        (tmp_path / f"module_{a}.py").write_text("".join(body.format(a=a, b=b) for b in range(60)))
    command = subprocess.Popen(
        [RAG_LS, "index", "--words-only", "--json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert until(lambda: (tmp_path / ".rag-ls/index.db").exists())
    _kill_engine()
    output, errors = command.communicate(timeout=PATIENCE_S)
    assert command.returncode == 0, errors
    assert "going on without it" in errors
    assert '"documents": 60' in output


def _ask_of_all(folder: Path, *question: str) -> dict[str, Any]:
    """The answer once all files are compared: a process of its own waits a second or two for that, and answers from what it has."""
    found: dict[str, Any] = {}

    def is_complete() -> bool:
        found.update(json.loads(run(*question, "--json", folder=folder).stdout))
        return bool(found["stats"]["complete"])

    assert until(is_complete)
    return found


@pytest.mark.shared_engine
# Memories that folders of other tests left are told of once, by each process.
@pytest.mark.own_engine
def test_results_are_the_same_with_and_without_an_engine(repository: Path) -> None:
    assert run("index", folder=repository).returncode == 0
    for question in ("how much do the goods cost", "refresh_token"):
        shared, alone = (_ask_of_all(repository, "search", question, *more) for more in ((), ("--standalone",)))
        for item in (shared, alone):
            item["stats"].pop("took_ms")
        assert shared == alone
    for arguments in (["show", "unknown"], ["search", "x", "-k", "0"]):
        shared_run, alone_run = run(*arguments, folder=repository), run(*arguments, "--standalone", folder=repository)
        assert (shared_run.returncode, shared_run.stderr) == (alone_run.returncode, alone_run.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["--standalone", "never", "impossible"])
async def test_editor_and_agent_work_the_same_without_a_shared_engine(
    repository: Path, home: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    options = ["--standalone"] if way == "--standalone" else []
    if way == "never":
        monkeypatch.setenv("RAG_LS_DAEMON", "never")
    if way == "impossible":
        (home / "run").write_text("in the way")
    file = repository / "src/cart.py"
    async with editor(repository, options=options) as ed, agent(repository, *options) as ag:
        assert (await ed.until_complete())["engine"]["mode"] == "standalone"
        await ag.until_complete()
        ed.open(file)
        ed.type(file, "def unsaved_pelican():\n    return 'beak'\n\n\n")

        async def found() -> bool:
            hits = (await ag.call("search_code", query="unsaved_pelican"))["results"]
            return bool(hits) and hits[0]["freshness"] == "buffer"

        assert await eventually(found)
        stored = await ag.call("store_memory", content="Carts are net of tax", scope="project")
        listed = await ed.command("listMemories")
        assert [item["id"] for item in listed["memories"]] == [stored["id"]]
    assert engine_pid() is None


@pytest.mark.slow
@pytest.mark.shared_engine
async def test_an_agent_that_waits_for_the_index_is_told_how_far_it_is(tmp_path: Path) -> None:
    body = "def walrus_{a}_{b}(pool):\n    return pool.resize({b})\n\n\n"
    for a in range(60):
        (tmp_path / f"module_{a}.py").write_text("".join(body.format(a=a, b=b) for b in range(40)))
    told: list[str] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    async with agent(tmp_path) as ag:
        arguments = {"wait_s": 2}
        result = await ag.session.call_tool("index_status", arguments, progress_callback=on_progress)
        assert result.structured_content is not None
        assert result.structured_content["projects"][0]["root"] == str(tmp_path)
    assert told
    assert all(message.startswith(tmp_path.name) for message in told)


@pytest.mark.slow
async def test_what_an_editor_cannot_set_in_a_shared_engine_is_said(repository: Path) -> None:
    async with editor(repository, ragLs={"embedding": {"threads": 1}}) as ed:
        await ed.until_complete()

        async def said() -> bool:
            return any("not an editor's to set" in message.message for message in ed.client.messages)

        assert await eventually(said)


@pytest.mark.slow
def test_an_engine_whose_settings_changed_makes_way_for_one_that_has_them(repository: Path, home: Path) -> None:
    first = answer("status", folder=repository)["engine"]["pid"]
    (home / "config").mkdir()
    (home / "config/config.toml").write_text("[search]\ncode_k = 3\n")
    assert answer("status", folder=repository)["engine"]["pid"] == first
    (home / "config/config.toml").write_text("[embedding]\nbatch_size = 4\n")
    second = answer("status", folder=repository)["engine"]["pid"]
    assert second != first
    assert until(lambda: has_ended(first))
    assert answer("status", folder=repository)["engine"]["pid"] == second
