"""The verb that tells why code is as it is, and commits as text."""

from __future__ import annotations

import os
import textwrap
from types import SimpleNamespace

from rag_ls.cli.backend import Json, ask, question_of
from rag_ls.cli.progress import show_reading
from rag_ls.cli.render import path_from_here, wrap_content
from rag_ls.cli.terminal import FAINT, NAME, PLACE, Paint, paint, show_answer
from rag_ls.cli.verbs import in_words_of_the_shell
from rag_ls.util.text import count_of

_MAX_BODY_LINES = 8


def run(arguments: SimpleNamespace) -> int:
    """Tell the commits that changed a place; fails where none is known."""
    # Imported here, because a search shows commits too, and need not wait for it.
    from rag_ls.util.paths import read_lines

    place = read_lines(arguments.place)
    if os.path.exists(place.path):
        lines = arguments.place.removeprefix(place.path)
        arguments.place = os.path.abspath(place.path) + lines
    with show_reading() as show:
        answer = ask(arguments, values=question_of(arguments), show=show)
    show_answer(arguments, answer, _format_history(answer, paint()))
    return 0 if answer["commits"] else 1


def format_commit(data: Json, paint: Paint, *, max_body_lines: int = _MAX_BODY_LINES) -> str:
    """One commit, with the beginning of its message."""
    mark = "came with " if data.get("introduces") else ""
    author = f"  {data['author']}" if data.get("author") else ""
    head = f"{data['date']}  {paint.style(data['id'], FAINT)}  {mark}{paint.style(data['subject'], NAME)}{author}"
    was = [f"then in {paint.style(data['path'], PLACE)}"] if data.get("path") else []
    files = [*data.get("files", ()), *([f"and {data['more_files']:,} more"] if data.get("more_files") else [])]
    body = [row for row in wrap_content(data.get("body", ""), paint) if row.strip()]
    cut = ["…"] if len(body) > max_body_lines else []
    about = [paint.style(", ".join(files), FAINT)] if files else []
    return textwrap.indent("\n".join([head, *was, *body[:max_body_lines], *cut, *about]), "    ")[4:]


def _format_history(answer: Json, style: Paint) -> str:
    if not answer.get("path"):
        found = [format_commit(each, style) for each in answer["commits"]] or [
            "no commit answers that: try other words"
        ]
        return "\n\n".join([*found, *([f"({answer['note']})"] if answer.get("note") else [])])
    name = answer.get("symbol") or answer["path"]
    place = f"{path_from_here(answer)}:{answer.get('start_line', 0)}-{answer.get('end_line', 0)}"
    parts = [f"{style.style(name, NAME)}  {style.style(place, PLACE)}  {count_of(answer['total'], 'commit')}"]
    parts += [format_commit(each, style) for each in answer["commits"]]
    if line := answer.get("line_changed_by"):
        parts.append(f"this line last changed: {format_commit(line, style)}")
    if answer.get("memories"):
        parts.append("\n".join(["memories:", *(f"    {each}" for each in answer["memories"])]))
    if answer.get("rules"):
        parts.append("\n".join(["rules:", *(f"    {each}" for each in answer["rules"])]))
    if answer.get("note"):
        parts.append(f"({in_words_of_the_shell(answer['note'])})")
    return "\n\n".join(parts)
