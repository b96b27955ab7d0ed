"""Lean JSON of rules and of an impact for agents: what applies most is whole, of the rest a line says where it is."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from rag_ls.operations import (
    ChangeRecord,
    ConstraintsAnswer,
    DependentRecord,
    ExampleRecord,
    ImpactAnswer,
    Json,
    RuleRecord,
    count_tokens,
    make_json,
    split_lines,
)
from rag_ls.rules import obliges
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.text import count_of

_MAX_EXAMPLE_LINES = 4
# An example of less than this share of the closest one's relevance has nothing to do with the change.
_MIN_EXAMPLE_SHARE = 0.25
_MAX_EXAMPLES = 2
# Of a name that a file uses more often, find_references has the other lines.
_MAX_LINES_OF_NAME = 6
# An agent that plans a change reads no longer lists, and of a list that is longer than this, its lines.
_MAX_DEPENDENTS, _MAX_TESTS, _MAX_WHOLE_DEPENDENTS, _MAX_EXPORTS = 20, 10, 10, 20
# The right section is one of the first three for three of four changes (docs/quality.md).
_WHOLE_SECTIONS, _WHOLE_TOKENS = 3, 300
_LEFT_OUT = "…"
# Several rules in a row that are left out, with the marks of their list items.
_MARKS = lazy_pattern(r"(?:(?:^[ \t]*(?:[-*+]|\d+[.)])[ \t]+)?…[ \t]*(?:\n|\Z)\s*)+", re.MULTILINE)


def compact_constraints(answer: ConstraintsAnswer, details: Sequence[str]) -> Json:
    """The nearest sections whole, of the others the rules that oblige and the first line; the first lines of examples."""
    whole = _choose_whole((*answer.constraints, *answer.patterns))
    told: dict[str, str] = {}
    shown: Json = {
        "constraints": [_compact_rule(record, told, is_whole=record in whole) for record in answer.constraints],
        "patterns": [_compact_rule(record, told, is_whole=record in whole) for record in answer.patterns],
        "examples": _compact_examples(answer.examples),
    }
    lean = make_json(answer, details, shown)
    if left := len(answer.examples) - len(shown["examples"]):
        lean["note"] = f"{count_of(left, 'example')} left out: detail = full has all"
    return lean


def compact_impact(answer: ImpactAnswer, details: Sequence[str]) -> Json:
    """The dependents and tests; of long lists the first, without what the lines of uses tell and without tests among the dependents."""
    dependents: Sequence[DependentRecord] = answer.dependents
    is_long = len(dependents) > _MAX_WHOLE_DEPENDENTS
    if is_long and not answer.changes:
        dependents = [record for record in dependents if record.filePath not in answer.tests] or dependents
    # Tests beside them are told among the tests.
    left_dependents = len(dependents) - _MAX_DEPENDENTS
    dependents = dependents[:_MAX_DEPENDENTS]
    shown: Json = {
        "exports": list(answer.exports[: None if answer.changes else _MAX_EXPORTS]),
        "dependents": [
            _compact_dependent(record, shows_imports=not (is_long and record.uses)) for record in dependents
        ],
        "tests": list(answer.tests[:_MAX_TESTS]),
    }
    if answer.changes:
        shown["changes"] = list(map(_compact_change, answer.changes))
    lean = make_json(answer, details, shown)
    left = [
        f"{count_of(count, name)} more"
        for count, name in (
            (0 if answer.changes else len(answer.exports) - _MAX_EXPORTS, "export"),
            (left_dependents, "dependent"),
            (len(answer.tests) - _MAX_TESTS, "test"),
        )
        if count > 0
    ]
    if left:
        lean["notes"] = [*answer.notes, f"detail = full lists {', '.join(left)}"]
    return lean


def _compact_dependent(record: DependentRecord, *, shows_imports: bool = True) -> Json:
    """A file that depends on another one: each name with its lines, and what it takes or imports beside these."""
    lines_of: dict[str, list[int]] = {}
    for use in record.uses:
        lines_of.setdefault(use.name, []).append(use.line)
    used = {use.line for use in record.uses}
    others = {
        "names": [name for name in record.names if name not in lines_of],
        "lines": [line for line in record.lines if line not in used],
        "uses": [f"{name} {_join_lines(lines)}" for name, lines in lines_of.items()],
    }
    omitted = [key for key, value in others.items() if not value]
    return make_json(record, omitted if shows_imports else [*omitted, "imports"], others)


def _join_lines(lines: Sequence[int]) -> str:
    left = len(lines) - _MAX_LINES_OF_NAME
    return ",".join(map(str, lines[:_MAX_LINES_OF_NAME])) + (f" and {left} more" if left > 0 else "")


def _compact_change(record: ChangeRecord) -> Json:
    """A file that differs; of the files that must change along the paths, because the answer's dependents have their lines."""
    instead = {"mustChange": [each.filePath for each in record.mustChange]}
    return make_json(record, (), instead)


def _choose_whole(sections: Sequence[RuleRecord]) -> list[RuleRecord]:
    """The sections that are shown whole: those that name a file of the change, the nearest one, and two more where there is room."""
    nearest = sorted(sections, key=lambda record: -record.relevance)[:_WHOLE_SECTIONS]
    sizes = itertools.accumulate(count_tokens(record.content) for record in nearest)
    fitting = [record for record, size in zip(nearest, sizes, strict=True) if size <= _WHOLE_TOKENS]
    return [*(record for record in sections if record.namesPath), *nearest[:1], *fitting]


def _compact_rule(record: RuleRecord, told: dict[str, str], *, is_whole: bool) -> Json:
    """A section of rules, where each key rule stands once; one that is not whole has its first line and the rules that oblige.

    `told` holds the places of the sections before it, by their contents: a copy names the first.
    """
    # The later parts of a long section do not hold its heading.
    usual = ("section",) if record.content.startswith("#") else ()
    details = ("keyRuleLines", "why", *usual)
    own = f"{record.filePath}:{record.lines}"
    place = told.setdefault(record.content, own)
    if place != own:
        return make_json(record, details, {"content": f"as {place}", "keyRules": []})
    if is_whole:
        return make_json(record, details, {"content": _without_rules(record)})
    obliging = [rule for rule in record.keyRules if obliges(rule)]
    if left := len(record.keyRules) - len(obliging):
        obliging.append(f"{_LEFT_OUT} {left} more in {own}")
    first, *more = split_lines(record.content)
    return make_json(record, details, {"content": f"{first}\n{_LEFT_OUT}" if more else first, "keyRules": obliging})


def _without_rules(record: RuleRecord) -> str:
    """The text of a section, with a mark where a key rule stands that is told beside it."""
    content = record.content
    for rule in record.keyRules:
        content = content.replace(rule.removesuffix(_LEFT_OUT) or rule, _LEFT_OUT, 1)
    return _MARKS.sub(f"{_LEFT_OUT}\n", content).rstrip("\n")


def _compact_examples(records: Sequence[ExampleRecord]) -> list[Json]:
    """The first lines of the examples near the closest one; of several with the same lines, the first."""
    closest = max((record.relevance for record in records), default=0.0)
    near = [record for record in records if record.relevance >= closest * _MIN_EXAMPLE_SHARE]
    shown: dict[str, Json] = {}
    for record in near:
        content = _first_lines(record.content)
        shown.setdefault(content, make_json(record, (), {"content": content}))
    return list(shown.values())[:_MAX_EXAMPLES]


def _first_lines(text: str) -> str:
    lines = text.strip("\n").split("\n")
    return "\n".join([*lines[:_MAX_EXAMPLE_LINES], *([_LEFT_OUT] if len(lines) > _MAX_EXAMPLE_LINES else [])])
