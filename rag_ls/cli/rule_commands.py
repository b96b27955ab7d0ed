"""The verbs on rules: each asks one operation and prints its answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from types import SimpleNamespace

from rag_ls.cli.backend import Json, ask, question_of
from rag_ls.cli.progress import show_progress, show_reading
from rag_ls.cli.rule_texts import render_constraints, render_impact
from rag_ls.cli.terminal import PLACE, Paint, ask_to_confirm, paint, print_notes, show_answer
from rag_ls.cli.verbs import in_words_of_the_shell
from rag_ls.errors import InvalidRequest
from rag_ls.project import find_project
from rag_ls.util.decoding import decode_marked

_MAX_CLAIMS = 12


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
