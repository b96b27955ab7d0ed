"""The verbs `search` (what answers a question, or all lines that match), `refs` (the places that use a symbol) and `why` (commits)."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from types import SimpleNamespace

from rag_ls.cli import answer_text, render
from rag_ls.cli.backend import Json, ask, question_of
from rag_ls.cli.progress import show_reading
from rag_ls.cli.render import format_commit, path_from_here
from rag_ls.cli.terminal import FAINT, NAME, PLACE, WARNING, Paint, paint, print_notes, show, show_answer
from rag_ls.cli.verbs import in_words_of_the_shell
from rag_ls.errors import InvalidRequest
from rag_ls.util.processes import decode_word, given_text
from rag_ls.util.text import count_of

_KINDS = {"memories": "memory", "rule": "rules", "commits": "history"} | {
    kind: kind for kind in ("code", "memory", "rules", "history")
}
_MAX_HITS = 100
_MAX_LINES = 1000
_FOR_LINES = ("whole_words", "ignore_case", "count", "files", "offset")
"""The options that go with `-e` and `-F` alone."""

_BY_NAME = "by name"


def search(arguments: SimpleNamespace) -> int:
    """Search code and memories; fails where nothing is found, or nothing is close."""
    arguments.paths = arguments.paths or arguments.null
    if sum((arguments.json, arguments.paths, arguments.vimgrep)) > 1:
        raise InvalidRequest("give one of --json, --paths and --vimgrep")
    if arguments.regexp is not None or arguments.fixed is not None:
        return _search_exactly(arguments)
    if alone := next((name for name in _FOR_LINES if getattr(arguments, name)), ""):
        remedy = "add -F TEXT or -e REGEX, as in `rag-ls search -F TEXT`"
        raise InvalidRequest(f"--{alone.replace('_', '-')} is for lines that match: {remedy}")
    arguments.query = given_text("-" if arguments.query[:1] == ("-",) else " ".join(arguments.query))
    if not arguments.query.strip():
        raise InvalidRequest("the question is empty: give one, or -e REGEX or -F TEXT for all lines that match")
    if arguments.k is not None and arguments.k > _MAX_HITS:
        most = f"at most {_MAX_HITS} are found at once"
        raise InvalidRequest(f"-k {arguments.k}: {most}; narrow the search with --path")
    answer = _ask_published(arguments) if arguments.published else _ask_projects(arguments)
    _show_found(arguments, answer)
    found = [each for each in answer["results"] if each["kind"] != "chunk" or not answer["stats"].get("nothing_close")]
    return 0 if found or answer.get("exact", {}).get("total") else 1


def _ask_projects(arguments: SimpleNamespace) -> Json:
    # Only memories have a scope, and only code has paths.
    usual = "code" if arguments.paths or arguments.vimgrep else "code,memory"
    named = arguments.kinds or ("memory" if arguments.scope else usual)
    kinds = [kind.strip() for kind in named.split(",")]
    if not set(kinds) <= set(_KINDS):
        raise InvalidRequest(
            f"--in {arguments.kinds!r}: give code, memory, rules, history or several, with a comma between"
        )
    more = {"kinds": sorted({_KINDS[kind] for kind in kinds}), "place_texts": not arguments.json}
    with show_reading() as report:
        return ask(arguments, values=question_of(arguments) | more, show=report, in_several=True)


def _ask_published(arguments: SimpleNamespace) -> Json:
    from rag_ls.config import PUBLISHED

    if arguments.kinds not in (None, "", "code") or arguments.scope:
        raise InvalidRequest("--published searches code alone: leave --in and --scope out")
    question = {name: getattr(arguments, name) for name in ("query", "k", "language", "path_glob")}
    question |= {"project": [f"{PUBLISHED}{arguments.published}"], "place_texts": not arguments.json}
    return ask(arguments, "search_code", question, in_project=False)


def _show_found(arguments: SimpleNamespace, answer: Json) -> None:
    files = arguments.k or answer_text.DEFAULT_FILES
    beside = arguments.k or answer_text.DEFAULT_BESIDE_FILES
    if not (arguments.paths or arguments.vimgrep):
        extent = answer_text.Extent(files, beside, arguments.full, arguments.details)
        show_answer(arguments, answer, answer_text.render_screen(answer, extent, paint()))
        return
    print_notes(*answer_text.list_notes(answer["stats"]))
    if arguments.paths:
        _print_paths(arguments, answer_text.pick_best_hits(answer, files))
    for line in answer_text.format_vimgrep(answer, files) if arguments.vimgrep else ():
        print(line)


def _print_paths(arguments: SimpleNamespace, hits: Iterable[Json]) -> None:
    """Print the paths of hits: one on each line, or as they are, each with a NUL byte after it."""
    for hit in hits:
        print(f"{render.file_from_here(hit)}\0" if arguments.null else f"{render.path_from_here(hit)}\n", end="")


def _search_exactly(arguments: SimpleNamespace) -> int:
    """Show all lines that hold a text or match a regular expression; fails where there is none."""
    with show_reading() as report:
        answer = ask(arguments, values=_make_exact_question(arguments), show=report, in_several=True)
    exact = answer["exact"]
    if arguments.count:
        exact["next_offset"] = None
    if arguments.json:
        show_answer(arguments, answer, "")
    elif arguments.count:
        print(answer_text.count_exact(exact))
    elif arguments.files or arguments.paths:
        # Programs read these forms, so no hit gives no line at all.
        _print_paths(arguments, exact["places"])
    elif arguments.vimgrep or not sys.stdout.isatty():
        print("".join(f"{line}\n" for line in answer_text.format_exact_lines(exact)), end="")
    else:
        show(answer_text.render_exact(exact, paint()))
        return 0 if exact["total"] else 1
    print_notes(*(() if arguments.json else answer_text.list_exact_notes(exact)))
    return 0 if exact["total"] else 1


def _make_exact_question(arguments: SimpleNamespace) -> Json:
    """Return the request for all lines that match. Raises `InvalidRequest`."""
    if None not in (arguments.regexp, arguments.fixed) or arguments.query:
        raise InvalidRequest("give one of -e REGEX, -F TEXT and a question")
    if arguments.published or arguments.scope or arguments.kinds not in (None, "", "code"):
        raise InvalidRequest("-e and -F search the lines of code: leave --in, --scope and --published out")
    is_regex = arguments.regexp is not None
    pattern = decode_word(arguments.regexp if is_regex else arguments.fixed)
    if not pattern.strip():
        raise InvalidRequest(f"{'-e needs an expression' if is_regex else '-F needs a text'} that is not blank")
    return question_of(arguments) | {
        "query": pattern, "match": "regex" if is_regex else "exact", "kinds": ["code"],
        "k": 1 if arguments.count else arguments.k or _MAX_LINES, "files_only": arguments.files or arguments.paths,
    }  # fmt: skip


def list_references(arguments: SimpleNamespace) -> int:
    """List the references to a symbol; fails where there are none."""
    given = [name for name in ("callers", "callees", "implements") if getattr(arguments, name)]
    if len(given) > 1:
        raise InvalidRequest(f"give one of {', '.join(f'--{name}' for name in given)}")
    shown = given[0] if given else "all"
    if arguments.depth is not None and shown not in ("all", "callers"):
        raise InvalidRequest(f"--depth is for callers: leave it out with --{shown}")
    question = question_of(arguments) | {"symbol": "", "show": shown} | _read_target(arguments.symbol)
    with show_reading() as show:
        answer = ask(arguments, values=question, show=show)
    show_answer(arguments, answer, _format_references(answer, paint()))
    return 0 if answer["references"] else 1


def _read_target(text: str) -> Json:
    """The symbol, or the place, that an argument means."""
    # Imported here, because a search need not wait for it.
    from rag_ls.util.paths import read_lines

    place = read_lines(text)
    is_path = os.path.exists(place.path)
    # `Address#line1` is a method of Ruby.
    if place.path != text and (is_path or text[len(place.path)] != "#" or re.search(r"[./\\]", place.path)):
        path = os.path.abspath(place.path) if is_path else place.path
        return {"path": path, "line": place.first, "column": place.column or None}
    if not text.strip():
        raise InvalidRequest("give a name, PATH:LINE or PATH:LINE:COLUMN: `rag-ls refs Session.refresh`")
    return {"symbol": text}


def _format_references(answer: Json, style: Paint) -> str:
    lines, former = [], ""
    root = answer.get("root", "")
    for each in answer["references"]:
        path = path_from_here({"path": each["path"], "file": os.path.join(each.get("project") or root, each["path"])})
        depth = each.get("depth", 1) - 1
        if path != former and not depth:
            lines.append(style.style(path, PLACE))
        former = path if not depth else ""
        place = f"{path}:{each['line']}" if depth else str(each["line"])
        lines.append(_format_reference(each, f"{'  ' * depth}  {place}", style))
    # The paths are those from the present folder.
    notes = [each for each in answer.get("note", "").split("; ") if each != f"paths are below {root}"]
    lines += ["", answer["summary"], in_words_of_the_shell("; ".join(notes))]
    return "\n".join(lines).strip("\n")


def _format_reference(each: Json, place: str, style: Paint) -> str:
    around = f"{each['symbol']}: " if each["symbol"] and each["kind"] not in ("definition", "override") else ""
    target = f" of {each['target']}" if each.get("target") and each["kind"] != "definition" else ""
    kind = style.style(f"{each['kind']}{target}", FAINT)
    unsure = " " + style.style(_BY_NAME, WARNING) if each["sure"] == _BY_NAME else ""
    return f"{place}  {kind}{unsure}  {style.style(around, NAME)}{each['text']}"


def explain(arguments: SimpleNamespace) -> int:
    """Tell the commits that changed a place; fails where none is known."""
    # Imported here, because a search need not wait for it.
    from rag_ls.util.paths import read_lines

    place = read_lines(arguments.place)
    if os.path.exists(place.path):
        lines = arguments.place.removeprefix(place.path)
        arguments.place = os.path.abspath(place.path) + lines
    with show_reading() as show:
        answer = ask(arguments, values=question_of(arguments), show=show)
    show_answer(arguments, answer, _format_history(answer, paint()))
    return 0 if answer["commits"] else 1


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
