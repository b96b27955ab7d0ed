"""Prints impact: of a file as text; of a change as text, as Markdown, or as annotations of GitHub."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rag_ls.cli.terminal import NAME, PLACE, Paint, paint
from rag_ls.util.quoting import code_span, escape_markdown, fold
from rag_ls.util.text import count_of

Json = dict[str, Any]

_MAX_DEPENDENTS = 30
_MAX_LINES = 8
_MAX_NAMES = 6
_MAX_SHOWN = 50
_MAX_CHARACTERS = 300
_WHY = {
    "added": "new", "removed": "is gone", "signature": "is declared otherwise", "body": "does something else",
}  # fmt: skip
_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}


def render_impact(answer: Json, style: Paint) -> str:
    """The impact of a file or symbol as text."""
    sections = [
        ("exports", answer["exports"]),
        ("endpoints", answer["apiEndpoints"]),
        ("events", answer["websocketEvents"]),
        ("dependents", [_dependent(each, style) for each in answer["dependents"][:_MAX_DEPENDENTS]]),
        ("tests", answer["tests"]),
        (
            "tests that reach it",
            [f"{each['filePath']}  through {each['through']}" for each in answer.get("testsThrough", ())],
        ),
        (
            "similar",
            [f"{each['similarity']:.2f}  {each['filePath']}  ({each['reason']})" for each in answer["similarFiles"]],
        ),
        ("memories", [f"{each['id'][:8]}  {each['content']}" for each in answer.get("memories", ())]),
    ]
    parts = [answer["summary"]]
    for name, items in sections:
        if items:
            parts.append(f"{style.style(name, NAME)}\n" + textwrap.indent("\n".join(items), "    "))
    if answer["dependentsTotal"] > _MAX_DEPENDENTS:
        parts.append(f"({count_of(answer['dependentsTotal'] - _MAX_DEPENDENTS, 'more dependent')}: --json lists all)")
    return "\n\n".join(parts)


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


def render_change(answer: Json) -> str:
    """The impact of a change as text."""
    style = paint()
    parts = [answer["summary"]]
    for title, items in _sections(answer):
        shown = [style.style(place, PLACE) + (f"  {text}" if text else "") for place, text in items[:_MAX_SHOWN]]
        shown += [f"({len(items) - _MAX_SHOWN} more: --format json lists them)"] if len(items) > _MAX_SHOWN else []
        parts.append(f"{style.style(title, NAME)}\n" + textwrap.indent("\n".join(shown), "    "))
    return "\n\n".join([*parts, *answer.get("notes", ())])


def _render_markdown(answer: Json) -> str:
    """The impact of a change as Markdown, e.g. for a comment on a pull request."""
    parts = ["### Impact", escape_markdown(answer["summary"])]
    for title, items in _sections(answer):
        lines = [
            f"- {code_span(place)} {escape_markdown(text, _MAX_CHARACTERS)}".rstrip()
            for place, text in items[:_MAX_SHOWN]
        ]
        lines += [f"- and {len(items) - _MAX_SHOWN} more"] if len(items) > _MAX_SHOWN else []
        parts.append(f"**{title.capitalize()}**\n\n" + "\n".join(lines))
    return "\n\n".join([*parts, *map(escape_markdown, answer.get("notes", ()))])


def _render_github(answer: Json) -> str:
    """The impact of a change as commands that GitHub shows beside the lines."""
    lines = []
    for change in answer.get("changes", ()):
        why = {each["name"]: _WHY.get(each["change"], each["change"]) for each in change.get("names", ())}
        for each in change.get("mustChange", ())[:_MAX_SHOWN]:
            names = ", ".join(f"{name} {why.get(name, 'is gone')}" for name in each.get("names", ()) if name != "*")
            text = f"depends on {change['filePath']} ({change['status']})" + (f": {names}" if names else "")
            line = (each.get("lines") or [1])[0]
            lines.append(_command("warning", each["filePath"], line, "Must change along", text))
    for found in answer.get("violations", ()):
        level = _LEVELS.get(found["severity"], "warning")
        lines.append(_command(level, found["filePath"], found["line"], found["rule"], found["message"]))
    lines += [f"::notice::{_escape(text)}" for text in (answer["summary"], *answer.get("notes", ()))]
    return "\n".join(lines)


FORMATS: Mapping[str, Callable[[Json], str]] = {"markdown": _render_markdown, "github": _render_github}
"""The forms of a change's impact besides text and JSON."""


def _sections(answer: Json) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The parts of a change's impact, each with its places and what is said of each."""
    changes = answer.get("changes", ())
    touched = [
        (f"{each['filePath']}:{name['line']}", f"{name['name']}  {_WHY.get(name['change'], name['change'])}")
        for each in changes
        for name in each.get("names", ())
    ]
    unread = [(each["filePath"], each["note"]) for each in changes if each.get("note")]
    rules = [
        (f"{each['filePath']}:{each['lines']}", fold(each["section"], _MAX_CHARACTERS))
        for each in answer.get("rules", ())
    ]
    broken = [
        (f"{each['filePath']}:{each['line']}", f"{each['rule']}: {fold(each['message'], _MAX_CHARACTERS)}")
        for each in answer.get("violations", ())
    ]
    memories = [
        (each.get("filePath", ""), f"{each['id'][:8]}  {fold(each['content'], _MAX_CHARACTERS)}" + _say_state(each))
        for each in answer.get("memories", ())
    ]
    parts = [
        ("must change along", [(each["filePath"], _say_uses(each)) for each in answer["dependents"]]),
        ("public names", touched), ("endpoints", [(each, "") for each in answer["apiEndpoints"]]),
        ("tests", [(each, "") for each in answer["tests"]]), ("rules broken", broken), ("rules", rules),
        ("memories", memories), ("not looked into", unread),
    ]  # fmt: skip
    return ((title, items) for title, items in parts if items)


def _say_state(memory: Json) -> str:
    state = memory.get("state", "")
    return f"  ({state})" if state and state != "fresh" else ""


def _command(level: str, path: str, line: int, title: str, text: str) -> str:
    """A workflow command of GitHub; what a repository wrote ends none, and begins none."""
    place = f"file={_escape_property(path)},line={line},title={_escape_property(title)}"
    return f"::{level} {place}::{_escape(fold(text, _MAX_CHARACTERS))}"


def _escape(text: str) -> str:
    return fold(text).replace("%", "%25")


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
