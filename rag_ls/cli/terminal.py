"""Styles text for a terminal: colours, links, code in colours, a pager. In a pipe it stays as it is.

Control sequences in texts of files and memories never reach a terminal (ECMA-48: to move, to clear, to write the clipboard).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TextIO

from rag_ls.errors import NotConfirmed
from rag_ls.util.patterns import lazy_pattern

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

PLACE, NAME, FAINT, WARNING = "cyan", "bold", "dim", "yellow"
"""Styles, in rich's words. They are colours of the terminal's own palette, so that they fit its background."""

# Variables of builds and of agents, in whose terminals nobody types.
_NOBODY_TYPES = ("CI", "CLAUDECODE", "CURSOR_AGENT", "CODEX_SANDBOX", "GEMINI_CLI", "OPENCODE", "AIDER_MODEL", "AGENT")
# Stands for the escape character of our own control sequences until they are written; no text of others can hold it.
_OURS = f"\0{os.urandom(16).hex()}"
# Our own control sequences, then all other control characters, and marks that reverse text (Unicode, UAX 9).
_CONTROLS = lazy_pattern(
    f"({_OURS})|\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_ORDERS = lazy_pattern("\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SHOWN_ORDER = "\N{REPLACEMENT CHARACTER}"
_MARKED = "bold underline"
_CODE_COLOURS = "ansi_dark"


def find_shared_indent(lines: Iterable[str]) -> str:
    """The spaces and tabs with which all lines begin; blank lines do not count."""
    indents = [line[: len(line) - len(line.lstrip(" \t"))] for line in lines if line.strip()]
    shared = min(indents, key=len, default="")
    while not all(indent.startswith(shared) for indent in indents):
        shared = shared[:-1]
    return shared


class Paint:
    """Gives text its look: as it is for pipes and files, coloured on a terminal, as far as `NO_COLOR` and rich allow it."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console

    @property
    def width(self) -> int:
        """The columns of a line; 0 if it may have any length."""
        return self._console.width if self._console is not None else 0

    def style(self, text: str, style: str, link: str = "") -> str:
        """The text in a style; a `file:` or `https:` link opens at a click."""
        if self._console is None:
            return text
        from rich.style import Style
        from rich.text import Text

        look = Style.parse(style) + Style(link=_ORDERS.sub("", link) or None)
        return self._print_styled(self._console, Text(_ORDERS.sub(_SHOWN_ORDER, text), look))

    def code(
        self,
        text: str,
        language: str,
        *,
        rows: Sequence[int] | None = None,
        indent: str = "",
        marked: re.Pattern[str] | None = None,
        margin: int | None = None,
    ) -> list[str]:
        """The lines of some code, or only those of `rows` (from 0), without an `indent` that they begin with.

        Matches of `marked` are marked. Long lines are cut to the terminal's width less `margin` columns, which the caller fills;
        without `margin` they stay whole.
        """
        lines = [line.removeprefix(indent) for line in text.split("\n")]
        chosen = range(len(lines)) if rows is None else rows
        if (console := self._console) is None:
            return [lines[row] for row in chosen]
        from rich.syntax import Syntax

        source = _ORDERS.sub(_SHOWN_ORDER, "\n".join(lines)).expandtabs(4)
        syntax = Syntax("", language, theme=_CODE_COLOURS, background_color="default")
        # The lexers of some languages leave out empty lines at the beginning.
        blank = len(source) - len(source.lstrip("\n"))
        coloured = syntax.highlight(source[blank:]).split("\n", allow_blank=True)
        return [
            self._fit_line(console, coloured[row - blank], marked, margin) if 0 <= row - blank < len(coloured) else ""
            for row in chosen
        ]

    def _fit_line(self, console: Console, line: Text, marked: re.Pattern[str] | None, margin: int | None) -> str:
        if marked is not None:
            line.highlight_regex(marked, _MARKED)
        if margin is not None:
            room = max(20, self.width - margin)
            indent = len(line.plain) - len(line.plain.lstrip(" "))
            # More indentation would leave no room for what the line says.
            line = line[max(0, indent - room // 2) :] if line.plain.strip() else line
            line.truncate(room, overflow="ellipsis")
        return self._print_styled(console, line)

    def _print_styled(self, console: Console, text: Text) -> str:
        with console.capture() as capture:
            console.print(text, end="", soft_wrap=True, highlight=False)
        return capture.get().replace("\x1b", _OURS)


PLAIN = Paint()


def paint() -> Paint:
    """The look for what is printed to standard output."""
    if not sys.stdout.isatty():
        return PLAIN
    from rich.console import Console

    return Paint(Console(file=sys.stdout, width=shutil.get_terminal_size().columns))


class GuardedTerminal:
    """A terminal's stream that passes on text, and of control sequences only those that `Paint` made."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text; a mark replaces each foreign control sequence."""
        self.stream.write(mark_controls(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def mark_controls(text: str) -> str:
    """The text with a mark in place of each control sequence that `Paint` did not make."""
    return _CONTROLS.sub(lambda found: "\x1b" if found[1] else _SHOWN_ORDER, text)


def guard_streams() -> None:
    """Replace closed standard streams by empty ones, and guard terminals against foreign control sequences."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream: Any = getattr(sys, name)
        if stream is None:
            # The parent process closed it (`>&-`): nobody reads the output, or there is no input.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
        elif name == "stdin":
            continue
        elif not isinstance(stream, GuardedTerminal) and stream.isatty():
            setattr(sys, name, GuardedTerminal(stream))


def find_raw_stream(stream: TextIO) -> TextIO:
    """The unguarded stream, for a library that draws on the terminal and cleans its texts itself."""
    guarded: object = stream
    return guarded.stream if isinstance(guarded, GuardedTerminal) else stream


def _waits_for_keys() -> bool:
    """Whether a pager may wait for keys: nobody types them in a build, or in the terminal of an agent."""
    if not (sys.stdout.isatty() and sys.stdin.isatty()) or os.environ.get("PAGER") == "":
        return False
    return os.environ.get("TERM") != "dumb" and not any(map(os.environ.get, _NOBODY_TYPES))


def show(text: str) -> None:
    """Print a text; if it is longer than the terminal, in the pager that the user chose (`PAGER`), else in `less`."""
    # Ask the terminal: an earlier program may have set `LINES`.
    rows = os.get_terminal_size().lines if _waits_for_keys() else 0
    if not rows or text.count("\n") < rows - 1:
        print(text)
        return
    import pydoc

    # As git does: show colours, leave the text on the screen, and end at once if all of it fits.
    os.environ.setdefault("LESS", "FRX")
    pydoc.pager(mark_controls(text) + "\n")


def show_answer(arguments: SimpleNamespace, answer: dict[str, Any], text: str, *, paged: bool = True) -> int:
    """Print an answer: as JSON with `--json`, else as `text`, in a pager if it is longer than the terminal. Returns 0."""
    if arguments.json:
        print(json.dumps(answer, indent=2, ensure_ascii=False))
    elif paged and text:
        show(text)
    elif text:
        print(text)
    return 0


def print_notes(*notes: str | None) -> None:
    """Print notes to standard error, those that are empty aside, with a mark in place of each control sequence."""
    for note in filter(None, notes):
        print(f"rag-ls: {mark_controls(note)}", file=sys.stderr)


def ask_to_confirm(question: str, nothing: str, *, remedy: str = "add --yes") -> bool:
    """Ask at the terminal. `nothing` says that nothing was done. Raises `NotConfirmed` if there is no terminal."""
    if not sys.stdin.isatty():
        raise NotConfirmed(f"{nothing}: nobody is there to confirm it; {remedy}")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    print(f"rag-ls: {nothing}", file=sys.stderr)
    return False
