"""An agent finds its way through a small project with the tools for code."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

import pytest

from tests.e2e.clients import PATIENCE_S, RAG_LS, agent, eventually
from tests.support import write

pytestmark = pytest.mark.shared_engine

TESTS = {
    "tests/test_invoice.py": (
        "from src.billing.invoice import round_amount\n\n\n"
        "def test_half_a_cent_is_rounded_up():\n    assert round_amount(0.125) == 0.13\n"
    ),
    "tests/test_button.py": "def test_nothing():\n    assert True\n",
}


@pytest.mark.slow
async def test_the_agent_searches_reads_lists_and_finds_tests(project: Path) -> None:
    write(project, TESTS)
    async with agent(project) as ag:
        await ag.until_complete()
        hits = (await ag.call("search_code", query="where are invoice amounts rounded", kind="function"))["results"]
        hit = next(hit for hit in hits if hit["symbol"] == "round_amount")
        assert Path(hit["file"]) == project / "src/billing/invoice.py"
        declaration = await ag.call("get_chunk", id=hit["id"], context="declaration")
        assert declaration["text"].startswith("def round_amount")
        assert declaration["text"].rstrip().endswith("return cents / 100")
        listed = await ag.call("list_symbols", path="src/billing/invoice.py")
        assert [item["symbol"] for item in listed["symbols"]] == ["round_amount", "total_with_tax"]
        assert (await ag.call("list_symbols", query="retryWithBackoff"))["total"] == 2
        tests = (await ag.call("related_tests", path=declaration["path"], line=declaration["start_line"]))["tests"]
        assert tests[0]["path"] == "tests/test_invoice.py"
        assert len(tests[0]["why"]) >= 3
        files = (await ag.call("search_code", query="round amount", files_only=True))["results"]
        assert len({file["path"] for file in files}) == len(files)
        repos = (await ag.call("list_repos"))["repos"]
        assert str(project) in {repo["root"] for repo in repos}
        assert (await ag.call("search_code", query="round amount", project=repos[0]["name"]))["results"]
        assert "the nearest is python" in await ag.refusal("search_code", query="x", language="phyton")


@pytest.mark.slow
async def test_an_edited_chunk_s_id_names_the_new_one(project: Path) -> None:
    async with agent(project) as ag:
        await ag.until_complete()
        (hit, *_) = (await ag.call("search_code", query="round_amount"))["results"]
        file = Path(hit["file"])
        file.write_text(file.read_text().replace("0.5", "0.49"))

        async def refused() -> str:
            result = await ag.session.call_tool("get_chunk", {"id": hit["id"]})
            return result.content[0].text if result.is_error else ""

        assert "was edited" in await eventually(refused)


@pytest.mark.slow
async def test_a_long_answer_is_cut_for_agents(project: Path) -> None:
    body = "".join(f"    amount_{n} = compute_amount({n}, rate, currency, customer)\n" for n in range(30))
    write(project, {f"src/long{n}.py": f"def long_{n}(rate, currency, customer):\n{body}" for n in range(12)})
    async with agent(project) as ag:
        await ag.until_complete()
        cut = await ag.call("search_code", query="compute_amount of a customer", k=50)
        whole = await ag.call("search_code", query="compute_amount of a customer", k=50, budget_tokens=0)
        assert len(str(cut)) < len(str(whole)) - 1000
        assert any(hit.get("truncated") for hit in cut["results"]) or "did not fit" in cut["stats"]["note"]


@pytest.mark.slow
async def test_the_first_question_hears_how_far_the_first_index_is(project: Path) -> None:
    write(
        project,
        {f"src/gen/module_{n}.py": f"def function_{n}(value):\n    return value + {n}\n" * 20 for n in range(1500)},
    )
    heard: list[str] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        heard.append(message or "")

    async with agent(project) as ag:
        result = await ag.session.call_tool("search_code", {"query": "round_amount"}, progress_callback=progress)
        assert not result.is_error
        assert result.structured_content["results"]
        assert any(project.name in message for message in heard)


@pytest.mark.slow
async def test_an_agent_hears_how_far_the_set_up_of_rules_is(project: Path) -> None:
    write(
        project, {f"src/gen/module_{n}.py": f"def function_{n}(value):\n    return value + {n}\n" for n in range(150)}
    )
    heard: list[str] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        heard.append(message or "")

    async with agent(project) as ag:
        arguments = {"project_root": str(project.resolve())}
        result = await ag.session.call_tool("rag_setup", arguments, progress_callback=progress)
        assert result.structured_content["status"] == "success"
        assert any(f"{project.name}: reading" in message and "files" in message for message in heard)


@pytest.mark.slow
async def test_a_cancelled_request_is_not_answered_and_others_are(project: Path) -> None:
    write(
        project,
        {f"src/gen/module_{n}.py": f"def function_{n}(value):\n    return value + {n}\n" * 20 for n in range(1500)},
    )
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    server = await asyncio.create_subprocess_exec(
        RAG_LS, "mcp", cwd=project, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=2**24
    )

    def send(method: str, params: dict, number: int | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params} | ({"id": number} if number else {})
        server.stdin.write(json.dumps(message).encode() + b"\n")

    async def answered() -> int:
        return json.loads(await asyncio.wait_for(server.stdout.readline(), PATIENCE_S)).get("id")

    try:
        send("initialize", hello, 1)
        assert await answered() == 1
        send("notifications/initialized", {})
        send("tools/call", {"name": "index_status", "arguments": {"wait_s": 600}}, 2)
        send("notifications/cancelled", {"requestId": 2})
        send("tools/call", {"name": "index_status", "arguments": {"wait_s": 3}}, 3)
        # Both wait for the same: had the first not been cancelled, it would be answered too.
        assert await answered() == 3
        send("tools/list", {}, 4)
        assert await answered() == 4
    finally:
        server.kill()
        await server.wait()
