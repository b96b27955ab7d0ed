"""Each operation's answer reaches its caller over every surface, in every branch of its type.

The surfaces are the real ones, on a real client; the operations answer what the test hands them.
"""

from __future__ import annotations

import contextlib
import copy
import io
import itertools
import json
from collections.abc import Callable, Collection, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2 as httpx
import jsonschema
import pytest
from mcp import Client as McpClient

from rag_ls.cli import backend
from rag_ls.cli.main import find_function
from rag_ls.cli.tree import make_shell
from rag_ls.cli.verbs import VERBS
from rag_ls.config.engine_settings import HttpSettings
from rag_ls.engine.client import Client
from rag_ls.engine.engine import Engine
from rag_ls.errors import NotConfirmed
from rag_ls.http.server import HttpServer
from rag_ls.http.tokens import Access, TokenFile
from rag_ls.locations import user_data_folder
from rag_ls.mcp.code_text import is_text, render_answer, render_whole
from rag_ls.mcp.compact import compact
from rag_ls.mcp.server import create_server
from rag_ls.operations import OPERATIONS, ClientSession, Json, Operation, Operations
from rag_ls.operations.fields import make_json
from rag_ls.operations.tools import TOOLSETS
from scripts.surfaces import answer_schema
from tests.agents import describe_tool, tool_operations
from tests.lsp.in_process import in_process_editor
from tests.operations.every_answer import every_answer
from tests.support import PATIENCE_S

# What is typed for each verb; an operation's answer goes through all lines that ask for it.
_LINES = """
add text
consolidate --dry-run
consolidate --yes
consolidate --undo
delete ID
delete ID ID --yes
delete ID ID
export --output memories.json
import --input memories.json --dry-run
import --input memories.json --yes
import --input memories.json
index
refs text
list
optimize
project add .
project list
project prune
project prune --yes
project remove shop
project remove shop --yes
restore --backup latest --dry-run
restore --backup latest --yes
restore --backup latest
restore ID
rules check change
rules health
rules impact src/cart.py
rules index
rules setup
rules status
scan shop
search --published shop total
search total
show ID
stats
status
status --skipped
summarize --start 2026-01-01 --dry-run
summarize --start 2026-01-01 --yes
summarize --start 2026-01-01
undo --dry-run
undo --yes
undo
update ID --confirm
vacuum
why src/cart.py:1
""".strip().splitlines()


# Answers of an operation that go over the wire, where nothing looks into them: the usual one, and that without what may be
# left out among them.
_SOME = 3
# Operations that verbs of others ask.
_ASKED_BY_VERBS = ("delete_memories", "remove_projects", "restore_memory")


class Answering:
    """Answers every operation with what it was told to, else with the usual answer of its type."""

    def __init__(self) -> None:
        self.operation = ""
        self.answer: object = None

    def __call__(self, operation: str, render: Callable[[object], Json] = make_json) -> Json:
        is_told = operation == self.operation
        return render(self.answer if is_told else every_answer(OPERATIONS.find(operation).answer)[0])


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Answering:
    """What the operations answer, for the length of a test."""
    told = Answering()
    monkeypatch.setattr(Operations, "_read_request", lambda self, operation, arguments: None)
    monkeypatch.setattr(Operations, "_answer", lambda self, operation, request, render, _: told(operation.name, render))
    monkeypatch.setenv("RAG_LS_DAEMON_MODE", "never")
    monkeypatch.setattr(backend.Backend, "_run_here", lambda self, operation, *rest: told(operation))
    return told


def _answers(told: Answering, operation: Operation) -> Iterator[Json]:
    told.operation = operation.name
    for told.answer in every_answer(operation.answer):
        yield make_json(told.answer)


def _named(test: Callable[[Operation], bool]) -> Any:
    return pytest.mark.parametrize(
        "operation", [item for item in OPERATIONS if test(item)], ids=lambda operation: operation.name
    )


@_named(lambda operation: True)
def test_an_answer_is_what_its_schema_says(operation: Operation, answering: Answering) -> None:
    found: dict[str, Any] = {}
    whole = {**answer_schema(operation.answer, found), "components": {"schemas": found}}
    validator = jsonschema.Draft202012Validator(whole)
    for answer in _answers(answering, operation):
        assert [error.message for error in validator.iter_errors(answer)] == []


@pytest.mark.parametrize("name", tool_operations())
def test_every_answer_is_made_lean_and_stays_what_the_tool_declares(name: str) -> None:
    operation = tool_operations()[name]
    # Tools that answer with a text declare no schema of what may come beside it.
    validator = jsonschema.Draft202012Validator(describe_tool(operation, name).output_schema or {})
    for answer in every_answer(operation.answer):
        before = make_json(answer)
        for elsewhere in (False, True):
            lean = compact(operation.tool, answer, names_project=elsewhere)
            validator.validate(json.loads(json.dumps(lean)))
            if is_text(operation):
                rendered = render_answer(operation.tool, answer, names_project=elsewhere)
                assert rendered["text"]
                validator.validate(json.loads(json.dumps(rendered["structured"])))
        assert make_json(answer) == before, "the full answer is left as it is"


async def test_agents_get_each_operations_answers(client: Client, answering: Answering) -> None:
    session = ClientSession(client)

    async def operations() -> Operations:
        return session.operations

    async with McpClient(create_server(operations, TOOLSETS)) as agent:
        for name, operation in tool_operations().items():
            schema = describe_tool(operation, name).output_schema or {}
            for answer in itertools.islice(_answers(answering, operation), _SOME):
                for given in ({"detail": "full"}, {}, {"project": ["shop"]}):
                    told = await agent.call_tool(name, given)
                    assert not told.is_error, (name, told.content, answer)
                    if "detail" in given or not is_text(operation):
                        assert json.loads(told.content[0].text) == told.structured_content
                    jsonschema.validate(told.structured_content, schema)
                    assert "detail" not in given or told.structured_content == render_whole(answering.answer)


def test_editors_get_each_operations_answers(client: Client, shop: Path, answering: Answering) -> None:
    with in_process_editor(client, shop) as editor:
        for operation in OPERATIONS:
            for answer in itertools.islice(_answers(answering, operation), _SOME if operation.command else 0):
                assert editor.ask("workspace/executeCommand", {"command": operation.command}) == answer


def test_programs_get_each_operations_answers_over_http(home: Path, answering: Answering) -> None:
    engine = Engine()
    tokens = TokenFile(user_data_folder())
    server = HttpServer(engine, HttpSettings(address="127.0.0.1:0"), tokens)
    server.start()
    _, secret = tokens.add("tester", Access.ADMIN)
    try:
        with httpx.Client(base_url=server.url, headers={"x-rag-token": secret}, timeout=PATIENCE_S) as caller:
            served = set(caller.get("/openapi.json").json()["paths"])
            for operation in OPERATIONS:
                if f"/api/{operation.name}" not in served:
                    continue
                for answer in itertools.islice(_answers(answering, operation), _SOME):
                    response = caller.post(f"/api/{operation.name}", json={})
                    assert (response.status_code, response.json()) == (200, answer), operation.name
    finally:
        server.stop()
        engine.close()


@_named(lambda operation: operation.verb is not None or operation.name in _ASKED_BY_VERBS)
def test_the_shell_shows_every_answer(
    operation: Operation, answering: Answering, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "memories.json").write_text("[]")
    asking = [line for line in _typed() if operation.name in _operations_of(line, answering)]
    assert asking, f"no line of this test asks {operation.name}: add one"
    for _ in _answers(answering, operation):
        for line in asking:
            _shown(line)
            json.loads(_shown(line, as_json=True) or "{}")


def test_each_verb_of_the_table_has_a_line() -> None:
    assert [
        verb
        for verb in VERBS
        if VERBS[verb]["operation"] and not any(f"{line} ".startswith(f"{verb} ") for line in _LINES)
    ] == []


@cache
def _typed() -> list[SimpleNamespace]:
    shell = make_shell()
    found = []
    for line in _LINES:
        with shell.make_context("rag-ls", line.split(), obj=lambda verb, values: (verb, values)) as context:
            verb, values = shell.invoke(context)
        found.append(SimpleNamespace(verb=verb, **values))
    return found


def _operations_of(line: SimpleNamespace, answering: Answering) -> Collection[str]:
    """The operations that a verb asks, seen by running it."""
    asked: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            backend.Backend,
            "_run_here",
            lambda self, operation, *rest: (asked.append(operation), answering(operation))[1],
        )
        _shown(line)
    return asked


def _shown(line: SimpleNamespace, *, as_json: bool = False) -> str:
    """What a verb prints; it may refuse to go on where nobody can confirm."""
    arguments = copy.copy(line)
    arguments.json = as_json
    with (
        contextlib.redirect_stdout(io.StringIO()) as printed,
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.suppress(NotConfirmed),
    ):
        find_function(arguments.verb)(arguments)
    return printed.getvalue()
