"""One entry in the table is found on every surface."""

from __future__ import annotations

import dataclasses
import importlib
import json
import pkgutil
import sys
import typing
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

import rag_ls.operations
from rag_ls.cli.tree import make_parameter
from rag_ls.cli.verbs import SHELL
from rag_ls.engine.client import Client
from rag_ls.errors import InvalidRequest
from rag_ls.lsp.handshake import COMMANDS, OF_THE_EDITOR
from rag_ls.operations import OPERATIONS, Operation, Operations
from rag_ls.operations.fields import answer_fields, argument, arguments_of, make_json, optional
from rag_ls.operations.operation import Caller, Tool, Verb, collect_operations
from rag_ls.operations.operation import operation as declare_operation
from scripts.shell_verbs import shell_of
from scripts.surfaces import typescript
from tests.agents import describe_tool, tool_operations


@dataclass(frozen=True, slots=True)
class Greet:
    """Whom to greet."""

    name: str = argument(doc="whom to greet")
    times: int | None = argument(None, "how often", least=1)
    tone: str = argument("", "how", choices=("warm", "cool"))


@dataclass(frozen=True, slots=True)
class Greeting:
    """What is said."""

    said: tuple[str, ...]
    note: str = optional("")


@declare_operation(
    tool=Tool("code", "Greet somebody.", ("name", "times"), ("said",)),
    command="ragLs.greet",
    verb=Verb("greet", "greet somebody", ("name",)),
)
def greet(caller: Caller, request: Greet) -> Greeting:
    """Greet somebody,
    by name.

    In a warm tone, unless another one is asked for.
    """
    return Greeting((f"hello {request.name}",) * (request.times or 2))


TABLE = (*OPERATIONS, *collect_operations([sys.modules[__name__]]).values())


def test_it_is_run_with_a_typed_request_and_answers_json(client: Client, shop: Path) -> None:
    client.open(shop)
    operations = Operations(client, table=TABLE)
    assert operations.run("greet", {"name": "Ada", "times": 1}) == {"said": ["hello Ada"]}
    for arguments, message in (
        ({}, "greet needs 'name'"),
        ({"name": "Ada", "times": 0}, "times = 0 is below 1"),
        ({"name": "Ada", "tone": "hot"}, "'hot' is not one of warm, cool"),
        ({"name": "Ada", "volume": 3}, "no argument 'volume'; it takes name, times, tone"),
    ):
        with pytest.raises(InvalidRequest, match=message):
            operations.run("greet", arguments)


def test_its_handler_says_what_it_is_called_takes_and_answers() -> None:
    (declared,) = collect_operations([sys.modules[__name__]]).values()
    assert (declared.name, declared.request, declared.answer) == ("greet", Greet, Greeting)
    assert declared.doc == "Greet somebody, by name."


def test_the_table_holds_every_handler_that_is_declared() -> None:
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(rag_ls.operations.__path__, f"{rag_ls.operations.__name__}.")
    ]
    assert collect_operations(modules).keys() == {operation.name for operation in OPERATIONS}


def test_agents_are_offered_it_with_its_schema() -> None:
    tool = describe_tool(TABLE[-1])
    assert tool.input_schema == {
        "type": "object",
        "properties": {"name": {"type": "string"}, "times": {"type": "integer"}},
        "required": ["name"],
    }
    assert tool.output_schema == {
        "type": "object",
        "properties": {"said": {"type": "array", "items": {"type": "string"}}},
    }
    assert tool.annotations is not None
    assert tool.annotations.read_only_hint


def test_the_shell_has_a_verb_for_it() -> None:
    data = shell_of(TABLE)["verbs"]["greet"]
    verb = click.Command("greet", params=[make_parameter(**each) for each in data["options"]])
    found = verb.make_context("greet", ["Ada", "--times", "3", "--tone", "warm"]).params
    assert (found["name"], found["times"], found["tone"], found["project"]) == ("Ada", 3, "warm", ".")
    assert (data["operation"], data["asks"], data["example"]) == ("greet", ["name", "times", "tone"], "rag-ls greet")


def test_the_extension_has_a_type_for_its_answer() -> None:
    assert typescript([Greeting]) == (
        "/** What is said. */\nexport interface Greeting {\n  readonly said: readonly string[];\n"
        "  readonly note?: string;\n}\n"
    )


def test_what_is_generated_is_what_the_table_says() -> None:
    assert json.loads(json.dumps(shell_of())) == SHELL
    assert {operation.command for operation in OPERATIONS if operation.command} == set(COMMANDS) - set(OF_THE_EDITOR)


def test_names_are_given_once_and_what_is_shown_is_there() -> None:
    for names in (
        [operation.name for operation in OPERATIONS],
        [operation.command for operation in OPERATIONS if operation.command],
        [operation.verb.name for operation in OPERATIONS if operation.verb],
    ):
        assert len(names) == len(set(names))
    for operation in tool_operations(("code", "memory")).values():
        describe_tool(operation)


@pytest.mark.parametrize("operation", list(OPERATIONS), ids=lambda operation: operation.name)
def test_requests_can_be_made_of_nothing_but_what_is_required(operation: Operation) -> None:
    known = arguments_of(operation.request)
    assert all(declared.doc or not declared.required or name == "query" for name, (_, declared) in known.items())
    operation.request()


def test_what_says_nothing_is_left_out_of_an_answer_and_false_is_not() -> None:
    assert make_json(Greeting((), "")) == {"said": []}
    assert make_json(Greeting((), "well")) == {"said": [], "note": "well"}


def test_no_two_answers_share_a_name() -> None:
    found: dict[str, type] = {}

    def collect(hint: object) -> None:
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            assert found.setdefault(hint.__name__, hint) is hint, f"{hint.__name__} is the name of two records"
            for _, inner, _, _ in answer_fields(hint):
                collect(inner)
        for inner in typing.get_args(hint):
            collect(inner)

    for operation in OPERATIONS:
        collect(operation.answer)
