"""What a line means: a verb, one of the tree, or a question."""

from __future__ import annotations

import shlex

import pytest

from rag_ls.cli.completions import parser_of_tree
from rag_ls.cli.main import build_parser
from rag_ls.cli.verb_help import example_of, first_help, full_help, verbs_of
from rag_ls.cli.verb_names import TREE, resolve
from rag_ls.errors import InvalidRequest

_KNOWN = {name.partition(" ")[0] for name, _, _ in verbs_of(build_parser())}


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
        ("-- '-k weird'", "search -- '-k weird'"),
        ("memory list -k 3", "list -k 3"),
        ("memory search tax", "search --in memory tax"),
        ("rules check 'a change'", "rules check 'a change'"),
        ("project add .", "project add ."),
        ("projects list", "project list"),
        ("project index", "index"),
        ("engine start", "serve --detach"),
        ("engine stop", "stop"),
        ("-v engine status", "-v status"),
        ("add 'a fact'", "add 'a fact'"),
        ("", ""),
        ("--version", "--version"),
    ],
)
def test_a_line_is_a_verb_or_a_question(line: str, means: str) -> None:
    assert resolve(shlex.split(line), _KNOWN) == shlex.split(means)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("find", "`rag-ls search` is what you look for"),
        ("find token", "`rag-ls search` is what you look for"),
        ("ls", "`rag-ls list`"),
        ("rm 7b34c1d2", "`rag-ls delete`"),
        ("serach x", "the nearest are search, serve"),
        ("indx", "`rag-ls ask indx` asks"),
        ("remembr 'a fact'", "`rag-ls ask remembr` asks"),
        ("'  '", "the question is empty"),
        ("memory", "memory needs an action: search, add, list"),
        ("memory lst", "the nearest are list"),
        ("engine --json", "engine needs an action"),
        ("token create ci", "`rag-ls token add` is what you look for"),
        ("token delete ci", "`rag-ls token revoke` is what you look for"),
        ("memory rm 7b34c1d2", "`rag-ls memory delete` is what you look for"),
        ("store ls", "`rag-ls store projects` is what you look for"),
        ("memory leaks in the watcher", "`rag-ls ask ...` asks"),
    ],
)
def test_a_wrong_verb_is_told_the_right_one(line: str, told: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        resolve(shlex.split(line), _KNOWN)
    assert told in str(refused.value)


@pytest.mark.slow
def test_every_verb_has_an_example_that_is_right() -> None:
    verbs = {name: verb for name, verb, _ in verbs_of(build_parser())}
    for name, verb in verbs.items():
        example = example_of(name)
        assert f"example: {example}" in verb.format_help()
        words = shlex.split(example.removeprefix('eval "$(').removesuffix(')"').partition(" <")[0])
        parsed = build_parser().parse_args(resolve(words[1:], _KNOWN))
        assert name in (parsed.verb, f"{parsed.verb} {getattr(parsed, 'action', '')}")


def test_every_verb_has_its_place_in_the_tree_that_help_shows() -> None:
    verbs = {name for name, _, _ in verbs_of(build_parser())}
    shown = full_help(build_parser())
    for name in verbs:
        assert f"\n  {name.rpartition(' ')[2]} " in shown
    for actions in TREE.values():
        for runs in actions.values():
            assert runs in verbs or runs.partition(" ")[0] in verbs
    assert {f"{group} {action}" for group, actions in TREE.items() for action in actions} <= {
        name for name, _, _ in verbs_of(parser_of_tree())
    }


def test_the_first_help_shows_ten_verbs_with_an_example_each() -> None:
    shown = first_help(build_parser())
    assert sum(f" {example_of(name)}\n" in shown for name, _, _ in verbs_of(build_parser())) == 10
    assert [line for line in shown.split("\n") if line in ("ask", "remember", "keep in order")] == [
        "ask", "remember", "keep in order",
    ]  # fmt: skip


def test_every_argument_says_what_it_means_and_what_it_is_by_default() -> None:
    for name, verb, _ in verbs_of(build_parser()):
        for action in verb._actions:
            assert action.help, f"{name} {action.dest}"
            if action.choices and action.default:
                assert f"(default: {action.default}" in action.help, f"{name} {action.dest}"


def test_a_parser_of_one_verb_is_that_of_the_whole_command_line() -> None:
    whole = {name: verb.format_help() for name, verb, _ in verbs_of(build_parser())}
    alone = [build_parser(first) for first in sorted({name.partition(" ")[0] for name in whole})]
    assert {name: verb.format_help() for parser in alone for name, verb, _ in verbs_of(parser)} == whole
    assert [name for name, _, _ in verbs_of(build_parser("search"))] == ["search"]
