"""What a line means: a verb, one of the tree, or a question."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import click
import pytest

from rag_ls.cli.tree import actions_of, describe_misuse, first_help, full_help, make_shell, make_verb
from rag_ls.cli.verbs import SHELL, VERBS


def _parse(words: Sequence[str]) -> tuple[str, Mapping[str, Any]]:
    """The verb that a line runs, with the values of its options."""
    shell = make_shell()
    with shell.make_context("rag-ls", [*words], obj=lambda verb, values: (verb, dict(values))) as context:
        found: tuple[str, Mapping[str, Any]] = shell.invoke(context)
    return found


@pytest.mark.parametrize(
    ("line", "means"),
    [
        ("'where is the token refreshed'", "search 'where is the token refreshed'"),
        ("where is the token refreshed", "search where is the token refreshed"),
        ("'where is it' -k 3 --json", "search 'where is it' -k 3 --json"),
        ("--json 'where is it'", "search --json 'where is it'"),
        ("find where the tokens are refreshed", "search find where the tokens are refreshed"),
        ("how retries", "search how retries"),
        ("ask list", "search list"),
        ("shutdown", "search shutdown"),
        ("pay -k 3", "search pay -k 3"),
        ("pages", "search pages"),
        ("rsync backup", "search rsync backup"),
        ("rsync -k 1", "search rsync -k 1"),
        ("memory list -k 3", "list -k 3"),
        ("memory search tax", "search --in memory tax"),
        ("impact src/cart.py", "rules impact src/cart.py"),
        ("projects list", "project list"),
        ("project index", "index"),
        ("engine start", "serve --detach"),
        ("engine stop", "stop"),
        ("-v engine status", "status"),
        ("consolidate --merge 7b34 8c45", "consolidate --merge 7b34 --merge 8c45"),
    ],
)
def test_a_line_is_a_verb_or_a_question(line: str, means: str) -> None:
    found, meant = _parse(shlex.split(line)), _parse(shlex.split(means))
    if "--merge" in line:
        assert [*found[1]["merge"], *found[1]["id"]] == [*meant[1]["merge"]]
    else:
        assert found == meant


def test_a_line_of_nothing_asks_for_the_state() -> None:
    verb, values = _parse([])
    assert (verb, values["is_overview"]) == ("status", True)


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("rules impact --changed", {"changed": "HEAD"}),
        ("rules impact --changed main", {"changed": "main"}),
        ("add x --branch", {"branch": ""}),
        ("consolidate --undo --json", {"undo": "", "json": True}),
        ("serve --http --detach", {"http": "", "detach": True}),
        ("search -F -x", {"fixed": "-x"}),
    ],
)
def test_an_option_may_stand_without_its_value_or_take_what_looks_like_an_option(
    line: str, values: dict[str, object]
) -> None:
    found = _parse(line.split())[1]
    assert {name: found[name] for name in values} == values


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("find", "`rag-ls search` is what you look for"),
        ("find token", "`rag-ls search` is what you look for"),
        ("ls", "`rag-ls list`"),
        ("rm 7b34c1d2", "`rag-ls delete`"),
        ("serach x", "'search'"),
        ("indx", "`rag-ls ask indx` asks"),
        ("'  '", "the question is empty"),
        ("memory lst", "its actions are search, add, list"),
        ("engine --json", "No such option '--json'"),
        ("token create ci", "its actions are add, list, revoke"),
        ("memory leaks in the watcher", "`rag-ls ask ...` asks"),
    ],
)
def test_a_wrong_verb_is_told_the_right_one(line: str, told: str) -> None:
    with pytest.raises(click.UsageError) as refused:
        _parse(shlex.split(line))
    assert told in describe_misuse(refused.value)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_an_example_that_is_right(verb: str) -> None:
    example = VERBS[verb]["example"]
    command = make_verb(verb)
    assert f"example: {example}" in command.get_help(click.Context(command))
    words = shlex.split(example.removeprefix('eval "$(').removesuffix(')"').partition(" <")[0])
    assert _parse(words[1:])[0] == verb


def test_every_verb_has_its_place_in_the_tree_that_help_shows() -> None:
    shown = full_help()
    for name in VERBS:
        assert f"\n  {name.rpartition(' ')[2]} " in shown
    for group in SHELL["groups"]:
        for words in actions_of(group).values():
            assert " ".join(words) in VERBS or words[0] in VERBS


def test_the_first_help_shows_ten_verbs_with_an_example_each() -> None:
    shown = first_help()
    assert sum(f" {data['example']}\n" in shown for data in VERBS.values()) == 10
    assert [line for line in shown.split("\n") if line in ("ask", "remember", "keep in order")] == [
        "ask", "remember", "keep in order",
    ]  # fmt: skip


@pytest.mark.parametrize("verb", VERBS)
def test_every_argument_says_what_it_means_and_what_it_is_by_default(verb: str) -> None:
    for each in make_verb(verb).params:
        assert getattr(each, "help", "") or getattr(each, "hidden", False), each.name
        if isinstance(each.type, click.Choice) and isinstance(each.default, str):
            assert f"(default: {each.default}" in (getattr(each, "help", "") or ""), each.name
