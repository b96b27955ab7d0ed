"""The verb that lists where a symbol is used."""

from __future__ import annotations

import argparse
import os
import re
from typing import Any

from rag_ls.cli.backend import ask
from rag_ls.cli.commands import show_answer
from rag_ls.cli.progress import showing_reading
from rag_ls.cli.terminal import FAINT, NAME, PLACE, WARNING, Paint, paint
from rag_ls.cli.wording import in_words_of_the_shell
from rag_ls.errors import InvalidRequest
from rag_ls.util.written_places import read_lines

Json = dict[str, Any]

_BY_NAME = "by name"


def run(arguments: argparse.Namespace) -> int:
    """List the references to a symbol; fails where there are none."""
    shown = next((name for name in ("callers", "callees", "implements") if getattr(arguments, name)), "all")
    if arguments.depth is not None and shown not in ("all", "callers"):
        raise InvalidRequest(f"--depth is for callers: leave it out with --{shown}")
    question = {
        **_read_target(arguments.symbol), "show": shown, "depth": arguments.depth, "k": arguments.k,
        "offset": arguments.offset,
    }  # fmt: skip
    with showing_reading() as show:
        answer = ask(arguments, "find_references", question, show)
    show_answer(arguments, answer, _text(answer, paint()))
    return 0 if answer["references"] else 1


def _read_target(text: str) -> Json:
    """The symbol, or the place, that an argument means."""
    place = read_lines(text)
    is_path = os.path.exists(place.path)
    # `Address#line1` is a method of Ruby.
    if place.path != text and (is_path or text[len(place.path)] != "#" or re.search(r"[./\\]", place.path)):
        path = os.path.abspath(place.path) if is_path else place.path
        return {"path": path, "line": place.first, "column": place.column or None}
    if not text.strip():
        raise InvalidRequest("give a name, PATH:LINE or PATH:LINE:COLUMN: `rag-ls refs Session.refresh`")
    return {"symbol": text}


def _text(answer: Json, style: Paint) -> str:
    lines, former = [], ""
    for each in answer["references"]:
        depth = each.get("depth", 1) - 1
        if each["path"] != former and not depth:
            lines.append(style.style(each["path"], PLACE))
        former = each["path"] if not depth else ""
        lines.append(_line(each, "  " * depth, style))
    lines += ["", answer["summary"]]
    if note := answer.get("note"):
        lines.append(in_words_of_the_shell(note))
    return "\n".join(lines).strip("\n")


def _line(each: Json, indent: str, style: Paint) -> str:
    place = f"{each['path']}:{each['line']}" if indent else str(each["line"])
    around = f"{each['symbol']}: " if each["symbol"] and each["kind"] not in ("definition", "override") else ""
    target = f" of {each['target']}" if each.get("target") and each["kind"] != "definition" else ""
    kind = style.style(f"{each['kind']}{target}", FAINT)
    unsure = " " + style.style(_BY_NAME, WARNING) if each["sure"] == _BY_NAME else ""
    return f"{indent}  {place}  {kind}{unsure}  {style.style(around, NAME)}{each['text']}"
