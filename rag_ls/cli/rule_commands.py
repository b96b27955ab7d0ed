"""The verbs on rules: each asks one operation and prints its answer, places with their first lines, with `--all` whole sections."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Sequence
from types import SimpleNamespace

from rag_ls.cli.backend import Json, ask, question_of
from rag_ls.cli.progress import show_progress, show_reading
from rag_ls.cli.terminal import FAINT, NAME, PLACE, Paint, ask_to_confirm, paint, print_notes, show_answer
from rag_ls.cli.verbs import in_words_of_the_shell
from rag_ls.errors import InvalidRequest
from rag_ls.project import find_project
from rag_ls.util.decoding import decode_marked
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.text import fold

_MAX_CLAIMS = 12

_HEADINGS = lazy_pattern(r"\A(?:#{1,6}[ \t][^\n]*\n\s*)+")
_MAX_LINES, _MAX_COLUMNS = 4, 160
_MAX_CHECKS = 8
_MAX_SHOWN = 50
_MAX_USES = 8
_MAX_NAMES = 6
_MAX_CHARACTERS = 300
_NO_RULE = lazy_pattern(r"\s*(?:```.*|<!--.*|[-=*_|: ]*)")
"""A line that says nothing by itself: a fence, a comment, a rule across the page, the line below a table's head."""
_NO_CODE = lazy_pattern(r"\s*(?:[#*@/{}()\[\]]|--|<!--|$)")
_WHY = {
    "added": "new", "removed": "is gone", "signature": "is declared otherwise", "body": "does something else",
}  # fmt: skip


def set_up(arguments: SimpleNamespace) -> int:
    """Survey the code, show what would be written, and write it where a person agrees."""
    arguments.project = arguments.project_root or arguments.project
    question = question_of(arguments) | {"project_root": os.path.abspath(arguments.project)}
    if not arguments.yes:
        with show_reading() as show:
            proposal = ask(arguments, values={**question, "dry_run": True}, show=show)
        # The bar is gone before the question: it would be drawn over it.
        if not _agree(arguments, proposal):
            return 0
        question["agreed"] = proposal["proposal"]
    with show_reading() as show:
        answer = ask(arguments, values=question, show=show)
    lines = [answer["message"], *(f"  {path}" for path in answer["filesGenerated"])]
    lines += [f"  former text: {path}" for path in answer.get("filesKept", ())]
    show_answer(arguments, answer, in_words_of_the_shell("\n".join(lines)))
    print_notes(in_words_of_the_shell(answer.get("warning") or ""))
    # Imported here, because only this verb needs it.
    from rag_ls.cli.trust_and_settings import offer_trust

    offer_trust(find_project(arguments.project).root)
    return 0


def _agree(arguments: SimpleNamespace, proposal: Json) -> bool:
    """Show what set-up would write, and ask a person at the terminal; without one, nothing is written."""
    files = proposal.get("filesProposed", ())
    show_answer(arguments, proposal, _format_proposal(proposal["message"], files, paint()))
    if not any(file["written"] for file in files):
        return False
    if arguments.json or not sys.stdin.isatty():
        print("rag-ls: nothing was written; --yes writes it, and --json shows the texts", file=sys.stderr)
        return False
    return ask_to_confirm("write these files?", "nothing was written")


def _format_proposal(message: str, files: Sequence[Json], style: Paint) -> str:
    """Return each file with why it would be written or not, and the claims of those that would, or that a site's folder keeps out."""
    lines = [message]
    for file in files:
        is_kept_out = file.get("needs") == "publish"
        verb = "would write" if file["written"] else "leaves alone"
        more = "; `--publish` writes it all the same" if is_kept_out else ""
        lines.append(f"{verb} {style.style(file['path'], PLACE)}: {file['why']}{more}")
        # An existing page may say something else.
        if (file["written"] or is_kept_out) and file["path"].endswith(".md"):
            claims = [line for line in file["text"].splitlines() if line.startswith("- ")]
            lines += [f"    {claim}" for claim in claims[:_MAX_CLAIMS]]
    return "\n".join(lines)


def index(arguments: SimpleNamespace) -> int:
    """Index the project anew."""
    with show_progress(embeds=True) as show:
        answer = ask(arguments, show=show)
    show_answer(arguments, answer, f"{answer['message']} ({answer['duration']:.1f} s)")
    print_notes(*(f"{failed['file']}: {failed['error']}" for failed in answer["errors"]), answer.get("warning"))
    return 0


def check(arguments: SimpleNamespace) -> int:
    """Show the rules for a change; fails where a diff breaks a rule of severity error."""
    if arguments.diff == "-":
        arguments.diff = _read_diff()
    with show_reading() as show:
        answer = ask(arguments, show=show)
    show_answer(arguments, answer, render_constraints(answer, paint(), whole=arguments.all))
    return 1 if any(each["severity"] == "error" for each in answer.get("violations", ())) else 0


def _read_diff() -> str:
    """The diff on the standard input, with the ends of lines that it has, in whichever encoding its files are."""
    try:
        return decode_marked(sys.stdin.buffer.read(), errors="replace")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"--diff -: the standard input is no text: {error.reason}") from error


def impact(arguments: SimpleNamespace) -> int:
    """Show what a change of a file, or of a branch, would touch."""
    if arguments.changed and (arguments.file_path or arguments.symbol):
        raise InvalidRequest("--changed is about all files that differ: leave out the file and --symbol")
    with show_reading() as show:
        answer = ask(arguments, show=show)
    return show_answer(arguments, answer, in_words_of_the_shell(render_impact(answer, paint())))


def render_constraints(answer: Json, style: Paint, *, whole: bool) -> str:
    """Return the broken rules, those that apply, and examples; `whole` shows all of their texts that the answer has."""
    parts = ["\n".join(_format_violation(record, style) for record in answer.get("violations", ()))]
    rules = [record for kind in ("constraints", "patterns") for record in answer[kind]]
    parts += ["\n".join(_format_rule(record, style, whole=whole)) for record in rules]
    examples = ["\n".join(_format_example(record, style, whole=whole)) for record in answer["examples"]]
    parts.append(("\n\n" if whole else "\n").join(examples))
    checks = [f"checked  {each}" for each in answer.get("checks", ())]
    if len(checks) > _MAX_CHECKS + 1 and not whole:
        checks[_MAX_CHECKS:] = [f"checked  {len(checks) - _MAX_CHECKS} more rules"]
    more = "" if whole or not (rules or examples) else "; --all shows whole sections and the code"
    parts += ["\n".join(checks), in_words_of_the_shell(answer["summary"]) + more]
    return "\n\n".join(filter(None, parts))


def _format_violation(record: Json, style: Paint) -> str:
    place = style.style(f"{record['filePath']}:{record['line']}", PLACE)
    see = f"  (see {record['see']})" if record.get("see") else ""
    return f"{place}  {record['severity']}  {style.style(record['rule'], NAME)}  {record['message']}{see}"


def _format_rule(record: Json, style: Paint, *, whole: bool) -> list[str]:
    """Return the place of a section, and its lines: in brief the sentences that command, then the others, the first few."""
    section, kind = style.style(record.get("section", ""), NAME), style.style(record["type"], FAINT)
    text = _HEADINGS.sub("", record["content"])
    commanding = [line for each in record["keyRules"] for line in each.splitlines()]
    told = [line.removesuffix("…").strip() for line in commanding]
    if whole:
        lines = [*text.splitlines(), *(line for line, rule in zip(commanding, told, strict=True) if rule not in text)]
    else:
        others = (line for line in text.splitlines() if not any(rule in line for rule in told if rule))
        lines = [_cut_line(line) for line in (*commanding, *others) if not _NO_RULE.fullmatch(line)]
        lines[_MAX_LINES:] = ["..."] if len(lines) > _MAX_LINES else []
    return [f"{_format_place(record, style)}  {section}  {kind}", *(f"    {line}" for line in lines)]


def _cut_line(line: str) -> str:
    """Return a line, cut where it is long."""
    return line if len(line) <= _MAX_COLUMNS else line[:_MAX_COLUMNS].rstrip() + "…"


def _format_example(record: Json, style: Paint, *, whole: bool) -> list[str]:
    """Return an example's place with its first line of code, or with all of it."""
    lines, place = record["content"].splitlines(), _format_place(record, style)
    if whole:
        return [place, *(f"    {line}" for line in lines)]
    first = next((line.strip() for line in lines if not _NO_CODE.match(line)), "")
    return [f"{place}  {first[:_MAX_COLUMNS]}"]


def _format_place(record: Json, style: Paint) -> str:
    return f"{record['relevance']:.2f}  {style.style(record['filePath'] + ':' + record['lines'], PLACE)}"


# --- impact


def render_impact(answer: Json, style: Paint) -> str:
    """Return the impact of a file, a symbol or a change as text."""

    def place(path: str, text: str) -> str:
        return f"{style.style(path, PLACE)}  {text}".rstrip()

    is_change, changes = bool(answer.get("base")), answer.get("changes", ())
    sections = {
        "must change along" if is_change else "dependents": [
            place(each["filePath"], _say_uses(each)) for each in answer["dependents"]
        ],
        "public names": [
            place(f"{each['filePath']}:{name['line']}", f"{name['name']}  {_WHY.get(name['change'], name['change'])}")
            for each in changes for name in each.get("names", ())
        ],
        "exports": [] if is_change else answer["exports"],
        "endpoints": answer["apiEndpoints"],
        "events": answer["websocketEvents"],
        "tests": answer["tests"],
        "tests that reach it": [place(each["filePath"], f"through {each['through']}") for each in answer.get("testsThrough", ())],
        "similar": [f"{each['similarity']:.2f}  {each['filePath']}  ({each['reason']})" for each in answer["similarFiles"]],
        "rules broken": [
            place(f"{each['filePath']}:{each['line']}", f"{each['rule']}: {fold(each['message'], _MAX_CHARACTERS)}")
            for each in answer.get("violations", ())
        ],
        "rules": [
            place(f"{each['filePath']}:{each['lines']}", fold(each["section"], _MAX_CHARACTERS)) for each in answer.get("rules", ())
        ],
        "memories": list(map(_format_memory, answer.get("memories", ()))),
        "not looked into": [place(each["filePath"], each["note"]) for each in changes if each.get("note")],
    }  # fmt: skip
    parts = [answer["summary"]]
    for title, items in sections.items():
        more = [f"({len(items) - _MAX_SHOWN} more: --json lists them)"] if len(items) > _MAX_SHOWN else []
        if items:
            parts.append(
                f"{style.style(title, NAME)}\n" + textwrap.indent("\n".join([*items[:_MAX_SHOWN], *more]), "    ")
            )
    return "\n\n".join([*parts, *answer.get("notes", ())])


def _format_memory(memory: Json) -> str:
    state = memory.get("state") or "fresh"
    parts = (
        memory["id"][:8],
        memory.get("filePath"),
        fold(memory["content"], _MAX_CHARACTERS),
        f"({state})" * (state != "fresh"),
    )
    return "  ".join(filter(None, parts))


def _say_uses(record: Json) -> str:
    """Return the names that a file uses, each with its lines; without names, the lines alone."""
    by_name: dict[str, list[int]] = {}
    for use in record.get("uses", ()):
        by_name.setdefault(use["name"], []).append(use["line"])
    named = [f"{name} {_join_lines(lines)}" for name, lines in list(by_name.items())[:_MAX_NAMES]]
    lines = f"line {_join_lines(record['lines'])}" if record.get("lines") else ""
    return ("; ".join(named) or lines) + ("  (by name)" if record.get("byName") else "")


def _join_lines(lines: list[int]) -> str:
    return ",".join(map(str, lines[:_MAX_USES])) + ("…" if len(lines) > _MAX_USES else "")
