"""Make the shell's verbs of the table of operations and of rag_ls/cli/shell.toml: names, summaries, examples and click's parameters."""

from __future__ import annotations

import tomllib
import typing
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rag_ls.operations import OPERATIONS
from rag_ls.operations.fields import Argument, accepted_arguments, arguments_of
from rag_ls.operations.operation import Operation

Option = dict[str, Any]
_TOLD = Path(__file__).parents[1] / "rag_ls" / "cli" / "shell.toml"
_RUN_OPERATION = "rag_ls.cli.commands:run_operation"


def shell_of(table: Iterable[Operation] = OPERATIONS) -> dict[str, Any]:
    """All that the shell offers: `verbs`, `groups` with their actions, `aliases`, and words that are `meant` for verbs."""
    told = tomllib.loads(_TOLD.read_text("utf-8"))
    operations = tuple(table)
    by_verb = {each.verb.name: each for each in operations if each.verb is not None}
    names = list(dict.fromkeys((*by_verb, *told["verbs"])))
    # Those of one group stand together.
    first = {name.split()[0]: at for at, name in reversed(list(enumerate(names)))}
    verbs = {
        name: _make_verb(name, told["verbs"].get(name, {}), told["shared"], operations, by_verb.get(name))
        for name in sorted(names, key=lambda name: first[name.split()[0]])
    }
    groups = {name: (about, _read_actions(name, actions, verbs)) for name, (about, actions) in told["groups"].items()}
    meant = {word: verb for verb, words in told["meant"].items() for word in words.split()}
    return {"verbs": verbs, "groups": groups, "aliases": told["aliases"], "meant": meant}


def _read_actions(group: str, actions: str, verbs: Iterable[str]) -> dict[str, list[str]]:
    """The actions of a group, each with the words that run it; verbs that begin with its name are told first."""
    own = {name.partition(" ")[2]: name.split() for name in verbs if name.startswith(f"{group} ")}
    others = (each.partition("=") for each in filter(None, map(str.strip, actions.split(","))))
    return own | {action: (words or action).split() for action, _, words in others}


def _make_verb(
    name: str,
    told: Mapping[str, Any],
    shared: Mapping[str, Any],
    table: tuple[Operation, ...],
    operation: Operation | None,
) -> dict[str, Any]:
    verb = operation.verb if operation is not None else None
    usual = ["standalone"] if verb is not None else []
    if verb is not None and verb.in_project and name != "index":
        usual.insert(0, "project")
    first, later, usual_options = (
        [_make_option(each) for each in _expand(options, shared)]
        for options in (told.get("first", ()), told.get("options", ()), usual)
    )
    asked = list(_options_of(operation, told.get("defaults", {}))) if operation is not None else []
    own = {each["names"][-1] for each in (*first, *later)}
    fields = accepted_arguments(operation.request) if operation is not None else ()
    json_option = [_make_option(each) for each in shared["json"]] if told.get("json", True) else []
    options = [*json_option, *first, *(each for each in asked if each["names"][-1] not in own), *later, *usual_options]
    return {
        "operation": operation.name if operation is not None else "",
        "shared_by": [each.name for each in table if each.shared_verb == name],
        "in_project": verb is None or verb.in_project,
        "summary": told.get("summary") or getattr(verb, "summary", ""),
        "example": told.get("example") or getattr(verb, "example", "") or f"rag-ls {name}",
        "asks": [name for each in options if (name := each["names"][-1]) in fields and name != "project"],
        "run": told.get("run", _RUN_OPERATION),
        "options": options,
    }


def _expand(options: Iterable[Any], shared: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for each in options:
        yield from shared[each] if isinstance(each, str) else (each,)


def _make_option(told: Mapping[str, Any]) -> Option:
    """An option of the shell's own with the names of click's parameters."""
    names = told["names"].split()
    if names[-1].startswith("-"):
        # The name of its value.
        names.append(names[-1].lstrip("-").replace("-", "_"))
    option = {**told, "names": names}
    if option.pop("flag", False):
        option["is_flag"] = True
    if "without" in option:
        option |= {"is_flag": False, "flag_value": option.pop("without")}
    return option


def _options_of(operation: Operation, defaults: Mapping[str, str]) -> Iterator[Option]:
    for name, (hint, declared) in arguments_of(operation.request).items():
        if option := _option_of(operation, name, hint, declared):
            if default := defaults.get(option["names"][0]):
                option["help"] += f" (default: {default})"
            yield option


def _option_of(operation: Operation, name: str, hint: Any, declared: Argument) -> Option:
    """One argument of a request as an option; empty for an argument that the shell does not take directly."""
    assert operation.verb is not None
    if name in operation.verb.positional:
        several = hint == tuple[str, ...]
        count: Option = {"nargs": -1, "required": True} if several else {}
        return {
            "names": [name],
            "help": declared.doc,
            **count,
            **({} if declared.required or several else {"default": ""}),
        }
    is_object = (
        declared.properties is not None
        or hint is Any
        or any(typing.get_origin(each) is Mapping for each in (hint, *typing.get_args(hint)))
    )
    is_taken = name == "project" or name in operation.verb.hidden
    if declared.flag == "-" or declared.required or is_taken or is_object or not declared.doc:
        return {}
    long = declared.flag or "--" + name.replace("_", "-")
    # The number of hits has the same short option in all verbs.
    names = ["-k", "--k" if long == "-k" else long] if name == "k" else [long]
    option: Option = {"names": [*names, name], "help": declared.doc}
    if hint is bool:
        return {**option, "is_flag": True}
    kind = (typing.get_args(hint) or (hint,))[0]
    if kind in (int, float):
        option["type"] = kind.__name__
    if declared.choices:
        option["choices"] = [choice for choice in declared.choices if choice not in ("session", "all")]
    if declared.metavar:
        option["metavar"] = declared.metavar
    if declared.is_glob:
        # Several values make one filter.
        option["multiple"] = True
    return option
