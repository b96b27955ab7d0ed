"""Situations of agents: arguments as language models write them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp import Client as McpClient

from rag_ls.errors import InvalidRequest
from rag_ls.operations import OPERATIONS, ClientSession
from rag_ls.operations.fields import Argument, arguments_of
from rag_ls.operations.memories.arguments import MemoryFilterArguments, Metadata, TimeRange
from rag_ls.operations.parsing import parse_request
from rag_ls.operations.tools import TOOLSETS
from tests.agents import agent_of, agent_session

_NOTE = "Refunds are paid back in the currency of the order, never in the customer's."
# All that agents can send: the requests of the operations, and the objects in them.
_REQUESTS = (*dict.fromkeys(operation.request for operation in OPERATIONS), Metadata, MemoryFilterArguments, TimeRange)
_ARGUMENTS = [
    pytest.param(request, name, hint, declared, id=f"{request.__name__}.{name}")
    for request in _REQUESTS
    for name, (hint, declared) in arguments_of(request).items()
    if hint is not Any
]
# A value of each type, with the ways to write it.
_WRITTEN: list[tuple[Any, Any, tuple[Any, ...]]] = [
    (int | None, 5, ("5", " 5 ", 5.0, "5.0")),
    (float | None, 0.25, ("0.25", " .25", '"0.25"')),
    (bool, True, ("true", "True", " TRUE ", 1, "1", "yes")),
    (bool, False, ("false", "False", 0, "0", "no", None, "", "null")),
    (bool | str, True, ("true", "True")),
    (tuple[str, ...], ["a"], ("a", '["a"]', "['a']", ["a", None], '[ "a" ]', ['["a"]'])),
    (tuple[str, ...], ["a", "b"], ('["a", "b"]', "['a', 'b']")),
    (str, "7", (7, ["7"])),
    (str | None, "7", (7, ["7"])),
    (Mapping[str, Any], {"a": [1, None, True]}, ('{"a": [1, null, true]}', "{'a': [1, None, True]}")),
    (Mapping[str, Any] | None, {"a": "b"}, ('{"a": "b"}', "{'a': 'b'}", ' {"a":"b"}\n')),
]
# What means nothing, or more than one thing.
_REFUSED: list[tuple[Any, tuple[Any, ...], str]] = [
    (int | None, ("five", "12px", "1,000", 2.5, True, [5, 6], {}), "a whole number, such as 10"),
    (float | None, ("half", True, [0.5], {}), "a number from 0 to 1, such as 0.5"),
    (bool, ("perhaps", 2, [True], {}), "true or false"),
    (tuple[str, ...], ({}, [["a", "b"]], True), "a list of strings, such as ["),
    (str, (True, {}, ["a", "b"]), "a string"),
    (Mapping[str, Any], ("a", '["a"]', ["a"], 5, True), "an object, such as {"),
]


def _parse(request: type, name: str, value: Any) -> Any:
    """The value of an argument, with everything else that the request needs."""
    needed = {
        other: declared.choices[0] if declared.choices else "x"
        for other, (hint, declared) in arguments_of(request).items()
        if declared.required and hint is str
    }
    return getattr(parse_request("tool", request, {**needed, name: value}), name)


@pytest.mark.parametrize(("request_type", "name", "hint", "declared"), _ARGUMENTS)
def test_every_argument_of_every_tool_is_understood_as_models_write_it(
    request_type: type, name: str, hint: Any, declared: Argument
) -> None:
    if declared.choices:
        plain = declared.choices[0]
        for written in (plain.upper(), f" {plain} ", f'"{plain}"', [plain]):
            assert _parse(request_type, name, written) == plain
        return
    ways = [(plain, written) for kind, plain, ways in _WRITTEN if kind == hint for written in ways]
    if declared.properties is not None and declared.properties is hint:
        plain = {next(iter(arguments_of(declared.properties))): "a"}
        ways = [(plain, json.dumps(plain)), (plain, str(plain)), (plain, f" {plain}\n")]
    assert ways
    for plain, written in ways:
        assert _parse(request_type, name, written) == _parse(request_type, name, plain), written


@pytest.mark.parametrize(("request_type", "name", "hint", "declared"), _ARGUMENTS)
def test_every_argument_is_absent_where_it_is_null(
    request_type: type, name: str, hint: Any, declared: Argument
) -> None:
    """Models fill in every option of a schema; where a text is free, an empty one means nothing too."""
    if declared.required:
        return
    default = getattr(parse_request("tool", request_type, _needed(request_type)), name)
    nothing = (None,) if hint in (str, str | None, bool | str) and not declared.choices else (None, "", "null")
    for written in nothing:
        assert _parse(request_type, name, written) == default, written


def _needed(request: type) -> dict[str, str]:
    return {
        name: declared.choices[0] if declared.choices else "x"
        for name, (_, declared) in arguments_of(request).items()
        if declared.required
    }


@pytest.mark.parametrize(("request_type", "name", "hint", "declared"), _ARGUMENTS)
def test_what_has_no_one_meaning_is_refused_with_the_expected_form(
    request_type: type, name: str, hint: Any, declared: Argument
) -> None:
    for kind, values, form in _REFUSED:
        if (Mapping[str, Any] if declared.properties is hint else hint) != kind:
            continue
        for value in values:
            if declared.is_glob and isinstance(value, list):
                # Several globs are one filter.
                continue
            with pytest.raises(InvalidRequest) as refused:
                _parse(request_type, name, value)
            assert name in str(refused.value)
            assert (form if not declared.choices else ", ".join(declared.choices)) in str(refused.value)


@pytest.fixture
def session(shop: Path) -> Iterator[ClientSession]:
    """An agent's client that works in the shop."""
    with agent_session(shop) as session:
        yield session


async def _call(agent: McpClient, tool: str, **arguments: Any) -> Any:
    answer = await agent.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    return answer.structured_content


async def test_tags_in_a_json_text_are_tags_and_are_found(session: ClientSession) -> None:
    async with agent_of(session, TOOLSETS) as agent:
        metadata = json.dumps({"tags": '["money", "refund"]', "importance_score": "0.9"})
        stored = await _call(agent, "store_memory", content=_NOTE, scope="project", metadata=metadata)
        kept = await _call(agent, "get_memory", id=[stored["id"]])
        assert kept["metadata"]["tags"] == ["money", "refund"]
        assert kept["metadata"]["importance_score"] == 0.9
        listed = await _call(agent, "list_memories", tags="['refund']", k="5")
        assert [memory["id"] for memory in listed["memories"]] == [stored["id"]]


async def test_options_that_are_null_change_nothing(session: ClientSession) -> None:
    async with agent_of(session, TOOLSETS) as agent:
        plain = await _call(agent, "search_code", query="shopping cart")
        options = (
            "k",
            "project",
            "language",
            "path_glob",
            "kind",
            "files_only",
            "min_score",
            "budget_tokens",
            "detail",
        )
        nulls = await _call(agent, "search_code", query="shopping cart", **dict.fromkeys(options))
        assert [hit["path"] for hit in nulls["results"]] == [hit["path"] for hit in plain["results"]]
        empty = await _call(agent, "search_code", query="shopping cart", project="", kind="", k="")
        assert [hit["path"] for hit in empty["results"]] == [hit["path"] for hit in plain["results"]]


async def test_a_null_in_metadata_hides_no_argument_beside_it(session: ClientSession) -> None:
    async with agent_of(session, TOOLSETS) as agent:
        stored = await _call(
            agent, "store_memory", content=_NOTE, scope="project", tags=["money"], metadata={"tags": None}
        )
        assert (await _call(agent, "get_memory", id=stored["id"]))["metadata"]["tags"] == ["money"]
