"""Generates the shell's verbs from the table of operations as plain data: a command starts without the table."""

from __future__ import annotations

import typing
from collections.abc import Iterable, Mapping
from typing import Any

from rag_ls.operations.fields import Argument, arguments_of
from rag_ls.operations.operation import Operation

Option = dict[str, Any]
VerbData = dict[str, Any]


def verbs_of(table: Iterable[Operation]) -> dict[str, VerbData]:
    """Each verb with its operations, its summary, an example, and its options for `argparse`."""
    operations = tuple(table)
    return {
        operation.verb.name: {
            "operation": operation.name,
            "summary": operation.verb.summary,
            "example": operation.verb.example or f"rag-ls {operation.verb.name}",
            "in_project": operation.verb.in_project,
            "shared_by": [each.name for each in operations if each.shared_verb == operation.verb.name],
            "options": [
                option
                for name, (hint, declared) in arguments_of(operation.request).items()
                if (option := _make_option(operation, name, hint, declared))
            ],
        }
        for operation in operations
        if operation.verb is not None
    }


def _make_option(operation: Operation, name: str, hint: Any, declared: Argument) -> Option:
    """One argument as an option; empty for an argument that the shell does not take directly."""
    assert operation.verb is not None
    if name in operation.verb.positional:
        count: Option = {"nargs": "+"} if hint == tuple[str, ...] else {}
        if hint is str and not declared.required:
            count = {"nargs": "?", "default": ""}
        return {"names": [name], "help": declared.doc, **count}
    is_object = hint is Any or any(typing.get_origin(each) is Mapping for each in (hint, *typing.get_args(hint)))
    is_taken = name == "project" or name in operation.verb.hidden
    if declared.flag == "-" or declared.required or is_taken or is_object or not declared.doc:
        return {}
    long = declared.flag or "--" + name.replace("_", "-")
    # The number of hits has the same short option in all verbs.
    names = ["-k", "--k" if long == "-k" else long] if name == "k" else [long]
    option: Option = {"names": names, "dest": name, "help": declared.doc}
    if hint is bool:
        return {**option, "action": "store_true"}
    kind = (typing.get_args(hint) or (hint,))[0]
    if kind in (int, float):
        option["type"] = kind.__name__
    if declared.choices:
        option["choices"] = [choice for choice in declared.choices if choice not in ("session", "all")]
    if declared.metavar:
        option["metavar"] = declared.metavar
    if declared.is_glob:
        # Several values make one filter.
        option["action"] = "append"
    return option
