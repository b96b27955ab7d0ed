"""Reads YAML from untrusted files: refuses what is too deep, too long, or grows when aliases are written out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rag_ls.rules.checks.records import RuleProblem

_MAX_VALUES, _MAX_DEPTH = 500_000, 100


class RulesUnreadable(Exception):
    """A file of rules cannot be read at all; the rules that were read before stay in force."""

    def __init__(self, problem: RuleProblem) -> None:
        super().__init__(problem)
        self.problem = problem

    def __str__(self) -> str:
        return self.problem.message


def parse_yaml(text: str, path: str) -> tuple[Any, dict[tuple[str | int, ...], int]]:
    """A YAML text's content, and the line of each of its nodes by the keys that lead there. Raises `RulesUnreadable`."""
    import yaml

    try:
        kind = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        if _depth(yaml.parse(text, kind)) > _MAX_DEPTH:
            # The loader calls itself at each level, outside of Python's limit of recursion: a deep text would end the process.
            raise ValueError(f"its values lie more than {_MAX_DEPTH} levels deep")
        loader = kind(text)
        node = loader.get_single_node()
        if node is None:
            return None, {}
        if _count_values(node, {}) > _MAX_VALUES:
            raise ValueError(f"it holds more than {_MAX_VALUES:,} values, or an alias inside of itself")
        # Compared before the content is built from the nodes, because building changes them.
        lines = _lines_of_rules_once(_lines(node, ()), path)
        content = loader.construct_document(node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        said = getattr(error, "problem", None) or str(error)
        raise RulesUnreadable(RuleProblem(path, mark.line + 1 if mark else 1, f"it is no YAML: {said}")) from error
    except (ValueError, RecursionError) as error:
        raise RulesUnreadable(RuleProblem(path, 1, f"it cannot be read: {error}")) from error
    return content, lines


def _lines_of_rules_once(
    found: Iterable[tuple[tuple[str | int, ...], int]], path: str
) -> dict[tuple[str | int, ...], int]:
    """The lines by keys. Raises `RulesUnreadable` where a key of the rules stands twice: the loader would drop the first."""
    lines: dict[tuple[str | int, ...], int] = {}
    for keys, line in found:
        if keys in lines and keys[0] == "rules" and keys[-1] != "<<":
            message = f"the key `{keys[-1]}` stands here and at line {lines[keys]}: write it once"
            raise RulesUnreadable(RuleProblem(path, line, message))
        lines[keys] = line
    return lines


def _depth(events: Iterable[Any]) -> int:
    """The depth at which the values of a YAML text lie in each other; beyond the limit, the rest is not read."""
    import yaml

    deepest = depth = 0
    try:
        for event in events:
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            deepest = max(deepest, depth)
            if deepest > _MAX_DEPTH:
                break
    except yaml.YAMLError as error:
        # The parser reads ahead; from PyYAML 6.0.4 on it has a limit of its own.
        if "nesting depth" not in str(error):
            raise
        return _MAX_DEPTH + 1
    return deepest


def _count_values(node: Any, known: dict[int, int]) -> int:
    """The number of values that a node stands for where aliases are written out; a very large one for an alias inside of itself."""
    if id(node) not in known:
        known[id(node)] = _MAX_VALUES + 1
        inner = node.value if isinstance(node.value, list) else ()
        children = [part for each in inner for part in (each if isinstance(each, tuple) else (each,))]
        known[id(node)] = 1 + sum(_count_values(child, known) for child in children)
    return known[id(node)]


def _lines(node: Any, keys: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], int]]:
    import yaml

    yield keys, node.start_mark.line + 1
    if len(keys) > 6:
        return
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _lines(value, (*keys, str(key.value)))
    elif isinstance(node, yaml.SequenceNode):
        for at, value in enumerate(node.value):
            yield from _lines(value, (*keys, at))
