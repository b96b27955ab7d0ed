"""The impact of a file, a symbol or a change as text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from rag_ls.cli.terminal import NAME, PLACE, Paint
from rag_ls.util.text import count_of, fold

Json = dict[str, Any]

_MAX_DEPENDENTS = 30
_MAX_LINES = 8
_MAX_NAMES = 6
_MAX_SHOWN = 50
_MAX_CHARACTERS = 300
_WHY = {
    "added": "new", "removed": "is gone", "signature": "is declared otherwise", "body": "does something else",
}  # fmt: skip


def render_impact(answer: Json, style: Paint) -> str:
    """The impact of a file or symbol as text."""
    through, similar = answer.get("testsThrough", ()), answer["similarFiles"]
    sections = [
        ("exports", answer["exports"]),
        ("endpoints", answer["apiEndpoints"]),
        ("events", answer["websocketEvents"]),
        ("dependents", [_dependent(each, style) for each in answer["dependents"][:_MAX_DEPENDENTS]]),
        ("tests", answer["tests"]),
        ("tests that reach it", [f"{each['filePath']}  through {each['through']}" for each in through]),
        ("similar", [f"{each['similarity']:.2f}  {each['filePath']}  ({each['reason']})" for each in similar]),
        ("memories", [f"{each['id'][:8]}  {each['content']}" for each in answer.get("memories", ())]),
    ]
    parts = [answer["summary"]]
    for name, items in sections:
        if items:
            parts.append(f"{style.style(name, NAME)}\n" + textwrap.indent("\n".join(items), "    "))
    if answer["dependentsTotal"] > _MAX_DEPENDENTS:
        parts.append(f"({count_of(answer['dependentsTotal'] - _MAX_DEPENDENTS, 'more dependent')}: --json lists all)")
    return "\n\n".join([*parts, *answer.get("notes", ())])


def _dependent(record: Json, style: Paint) -> str:
    place = style.style(record["filePath"], PLACE)
    if record.get("uses"):
        return f"{place}  {_say_uses(record)}{'  (by name)' if record.get('byName') else ''}"
    names = [name for name in record.get("names", ()) if name != "*"]
    shown = f":{_lines(record['lines'])}" if record.get("lines") else ""
    return place + shown + (f"  ({', '.join(names[:_MAX_NAMES])})" if names else "")


def _say_uses(record: Json) -> str:
    """The lines that use each name; without names, the lines."""
    by_name: dict[str, list[int]] = {}
    for use in record.get("uses", ()):
        by_name.setdefault(use["name"], []).append(use["line"])
    named = [f"{name} {_lines(lines)}" for name, lines in list(by_name.items())[:_MAX_NAMES]]
    return "; ".join(named) or (f"line {_lines(record['lines'])}" if record.get("lines") else "")


def _lines(lines: Sequence[int]) -> str:
    return ",".join(map(str, lines[:_MAX_LINES])) + ("…" if len(lines) > _MAX_LINES else "")


def render_change(answer: Json, style: Paint) -> str:
    """The impact of a change as text."""
    parts = [answer["summary"]]
    for title, items in _sections(answer):
        shown = [style.style(place, PLACE) + (f"  {text}" if text else "") for place, text in items[:_MAX_SHOWN]]
        shown += [f"({len(items) - _MAX_SHOWN} more: --json lists them)"] if len(items) > _MAX_SHOWN else []
        parts.append(f"{style.style(title, NAME)}\n" + textwrap.indent("\n".join(shown), "    "))
    return "\n\n".join([*parts, *answer.get("notes", ())])


def _sections(answer: Json) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The parts of a change's impact, each with its places and what is said of each."""
    changes, rules = answer.get("changes", ()), answer.get("rules", ())
    broken, memories = answer.get("violations", ()), answer.get("memories", ())
    parts = [
        ("must change along", [(each["filePath"], _say_uses(each)) for each in answer["dependents"]]),
        ("public names", [
            (f"{each['filePath']}:{name['line']}", f"{name['name']}  {_WHY.get(name['change'], name['change'])}")
            for each in changes for name in each.get("names", ())
        ]),
        ("endpoints", [(each, "") for each in answer["apiEndpoints"]]),
        ("tests", [(each, "") for each in answer["tests"]]),
        ("rules broken", [(f"{each['filePath']}:{each['line']}", f"{each['rule']}: {_fold_text(each['message'])}") for each in broken]),
        ("rules", [(f"{each['filePath']}:{each['lines']}", _fold_text(each["section"])) for each in rules]),
        ("memories", [
            (each.get("filePath", ""), f"{each['id'][:8]}  {_fold_text(each['content'])}{_say_state(each)}") for each in memories
        ]),
        ("not looked into", [(each["filePath"], each["note"]) for each in changes if each.get("note")]),
    ]  # fmt: skip
    return ((title, items) for title, items in parts if items)


def _fold_text(text: str) -> str:
    return fold(text, _MAX_CHARACTERS)


def _say_state(memory: Json) -> str:
    state = memory.get("state", "")
    return f"  ({state})" if state and state != "fresh" else ""
