"""The verb that lists where a symbol is used."""

from __future__ import annotations

import os
import re
from types import SimpleNamespace

from rag_ls.cli.backend import Json, ask, question_of
from rag_ls.cli.progress import showing_reading
from rag_ls.cli.render import path_from_here
from rag_ls.cli.terminal import FAINT, NAME, PLACE, WARNING, Paint, paint, show_answer
from rag_ls.cli.wording import in_words_of_the_shell
from rag_ls.errors import InvalidRequest
from rag_ls.util.paths import read_lines

_BY_NAME = "by name"


def run(arguments: SimpleNamespace) -> int:
    """List the references to a symbol; fails where there are none."""
    given = [name for name in ("callers", "callees", "implements") if getattr(arguments, name)]
    if len(given) > 1:
        raise InvalidRequest(f"give one of {', '.join(f'--{name}' for name in given)}")
    shown = given[0] if given else "all"
    if arguments.depth is not None and shown not in ("all", "callers"):
        raise InvalidRequest(f"--depth is for callers: leave it out with --{shown}")
    question = question_of(arguments) | {"symbol": "", "show": shown} | _read_target(arguments.symbol)
    with showing_reading() as show:
        answer = ask(arguments, values=question, show=show)
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
    root = answer.get("root", "")
    for each in answer["references"]:
        path = path_from_here({"path": each["path"], "file": os.path.join(each.get("project") or root, each["path"])})
        depth = each.get("depth", 1) - 1
        if path != former and not depth:
            lines.append(style.style(path, PLACE))
        former = path if not depth else ""
        place = f"{path}:{each['line']}" if depth else str(each["line"])
        lines.append(_line(each, f"{'  ' * depth}  {place}", style))
    # The paths are those from the present folder.
    notes = [each for each in answer.get("note", "").split("; ") if each != f"paths are below {root}"]
    lines += ["", answer["summary"], in_words_of_the_shell("; ".join(notes))]
    return "\n".join(lines).strip("\n")


def _line(each: Json, place: str, style: Paint) -> str:
    around = f"{each['symbol']}: " if each["symbol"] and each["kind"] not in ("definition", "override") else ""
    target = f" of {each['target']}" if each.get("target") and each["kind"] != "definition" else ""
    kind = style.style(f"{each['kind']}{target}", FAINT)
    unsure = " " + style.style(_BY_NAME, WARNING) if each["sure"] == _BY_NAME else ""
    return f"{place}  {kind}{unsure}  {style.style(around, NAME)}{each['text']}"
