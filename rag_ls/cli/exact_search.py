"""Lines that hold a text or match a regular expression, as the shell shows them."""

from __future__ import annotations

import shlex
from types import SimpleNamespace
from typing import Any

from rag_ls.cli import render
from rag_ls.cli.terminal import FAINT, NAME, PLACE, PLAIN, Paint
from rag_ls.cli.wording import in_words_of_the_shell
from rag_ls.errors import InvalidRequest
from rag_ls.util.processes import decode_word
from rag_ls.util.text import count_of

Json = dict[str, Any]

MAX_LINES = 1000
"""The number of lines that are shown by default."""
_INDENT = "  "
_ALONE = ("whole_words", "ignore_case", "count", "files", "offset")


def read_pattern(arguments: SimpleNamespace) -> tuple[str, str]:
    """The text to look for and its `match`, `auto` without `-e` and `-F`. Raises `InvalidRequest`."""
    given = {name: getattr(arguments, name) for name in ("regexp", "fixed") if getattr(arguments, name) is not None}
    if not given:
        if alone := next((name for name in _ALONE if getattr(arguments, name)), ""):
            remedy = "add -F TEXT or -e REGEX, as in `rag-ls search -F TEXT`"
            raise InvalidRequest(f"--{alone.replace('_', '-')} is for lines that match: {remedy}")
        return "", "auto"
    if len(given) > 1 or arguments.query:
        raise InvalidRequest("give one of -e REGEX, -F TEXT and a question")
    if arguments.published or arguments.scope or arguments.kinds not in (None, "", "code"):
        raise InvalidRequest("-e and -F search the lines of code: leave --in, --scope and --published out")
    pattern = decode_word(*given.values())
    if not pattern.strip():
        raise InvalidRequest(
            f"{'-e needs an expression' if 'regexp' in given else '-F needs a text'} that is not blank"
        )
    return pattern, "regex" if "regexp" in given else "exact"


def question_of(arguments: SimpleNamespace, pattern: str, match: str) -> Json:
    """The arguments by which the request for the lines differs from one for what is close."""
    return {
        "query": pattern, "match": match, "kinds": ["code"], "k": 1 if arguments.count else arguments.k or MAX_LINES,
        "files_only": arguments.files or arguments.paths,
    }  # fmt: skip


def describe_total(exact: Json) -> str:
    """The number of lines: "2 places in 2 files"."""
    inside = exact.get("inside_words", 0)
    longer = f", {inside:,} of them inside longer words" if inside else ""
    least = "at least " if exact.get("is_partial") else ""
    return f"{least}{count_of(exact['total'], 'place')} in {count_of(exact['files'], 'file')}{longer}"


def lines(exact: Json) -> list[str]:
    """The places as `path:line:column:text`, the column in bytes."""
    return [
        f"{render.path_from_here(place)}:{place['line']}:{place.get('byte_column', place['column'])}:{place['text']}"
        for place in exact["places"]
    ]


def block(exact: Json, paint: Paint = PLAIN, *, beside: bool = False) -> str:
    """The places under the paths of their files, with the count and what is left out; `beside` other hits, in short."""
    kind = "matches of" if exact["match"] == "regex" else "lines with"
    head = f"{kind} {exact['pattern']}: {describe_total(exact)}"
    rows = [paint.style(head, FAINT)]
    digits = max((len(str(place["line"])) for place in exact["places"]), default=0)
    former = ""
    for place in exact["places"]:
        if (path := render.path_from_here(place)) != former:
            rows.append(paint.style(path, PLACE))
            former = path
        symbol = f"  {paint.style(place['symbol'], NAME)}" if place.get("symbol") else ""
        number = paint.style(f"{place['line']:>{digits}}", FAINT)
        rows.append(f"{_INDENT}{number}  {place['text'].strip()}{symbol}")
    told = [describe_rest(exact)] if beside else notes(exact)
    return "\n".join([*rows, *(paint.style(f"({note})", FAINT) for note in told if note)])


def describe_rest(exact: Json) -> str:
    """The command that shows the other places; empty where all are shown."""
    left = exact["total"] - len(exact["places"])
    option = "-e" if exact["match"] == "regex" else "-F"
    return f"{left:,} more: `rag-ls search {option} {shlex.quote(exact['pattern'])}` shows all" if left else ""


def notes(exact: Json) -> list[str]:
    """The notes on lines that are not shown, and on files that were not looked into."""
    more = exact.get("next_offset")
    told = f"more: --offset {more}, or fewer by --path GLOB" if more is not None else ""
    return [in_words_of_the_shell(note) for note in (told, exact.get("left_out", "")) if note]
