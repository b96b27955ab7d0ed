"""The `rag-ls` command: parses the line, runs one verb, turns errors into exit codes.

Nothing heavy is imported before a verb needs it: `rag-ls --help` is instant.
"""

from __future__ import annotations

import contextlib
import errno
import faulthandler
import importlib
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import click

from rag_ls.cli import DONE, FAILED, WRONG_USAGE, tree
from rag_ls.cli.terminal import guard_streams, print_notes
from rag_ls.cli.verbs import VERBS, in_words_of_the_shell
from rag_ls.daemon import why_no_home
from rag_ls.errors import InvalidRequest, RagLsError
from rag_ls.util.processes import collect_rarely, forget_git, speak_utf8, take_any_text

_NO_PAGER = "--no-pager"
_COMPLETE = "_RAG_LS_COMPLETE"
"""By this variable click knows that a shell asks how a line may go on."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def main(argv: Sequence[str] | None = None) -> None:
    """Run one verb and exit with its code."""
    collect_rarely()
    speak_utf8()
    forget_git()
    _tell_of_crashes()
    take_any_text()
    guard_streams()
    words = list(sys.argv[1:] if argv is None else argv)
    options = words[: words.index("--")] if "--" in words else words
    if _NO_PAGER in options:
        words.remove(_NO_PAGER)
        os.environ["PAGER"] = ""
    sys.exit(_run_line(words))


def _run_line(words: list[str]) -> int:
    """Parse a line and run its verb."""
    shell = tree.make_shell()
    if _COMPLETE in os.environ:
        shell.main(prog_name="rag-ls")
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    elif words[:1] == ["--"]:
        words = ["search", *words]
    try:
        try:
            if "--all" in words and set(words) <= {"--all", "--help", "-h"}:
                print(tree.full_help())
                return DONE
            with shell.make_context("rag-ls", words, obj=_run_verb) as context:
                return int(shell.invoke(context))
        except click.exceptions.Exit as end:
            return end.exit_code
        finally:
            sys.stdout.flush()
    except click.UsageError as error:
        print_notes(tree.describe_misuse(error))
        return WRONG_USAGE
    except OSError as error:
        return _stop_printing(error)


def _stop_printing(error: OSError) -> int:
    """End in silence where the reader (`head`, a pager) has seen enough; say where a disk is full.

    Raises any other error.
    """
    if not isinstance(error, BrokenPipeError):
        if error.errno not in _NO_ROOM:
            raise error
        done = "" if error.filename else "; the answer is not printed whole, what the command changed is changed"
        print_notes(f"cannot write: {error.strerror}{done}")
    # At its exit, Python would try to print the rest again, and complain.
    sys.stderr.close()
    return DONE if isinstance(error, BrokenPipeError) else FAILED


def _tell_of_crashes() -> None:
    """Have a crash in a library written say where this process was: to standard error, until there is a log file."""
    if sys.stderr is not None and not faulthandler.is_enabled():
        with contextlib.suppress(OSError, ValueError):
            faulthandler.enable()


def _run_verb(verb: str, values: Mapping[str, Any]) -> int:
    """Run a verb with the values of its options; returns the exit code."""
    arguments = SimpleNamespace(verb=verb, **values)
    if reason := _find_obstacle():
        print_notes(reason)
        return FAILED
    try:
        code = find_function(verb)(arguments)
        sys.stdout.flush()
        return code
    except RagLsError as error:
        message = in_words_of_the_shell(str(error))
        if getattr(arguments, "json", False):
            print(json.dumps({"error": {"type": type(error).__name__, "message": message}}))
        print_notes(message)
        return WRONG_USAGE if isinstance(error, InvalidRequest) else FAILED
    except KeyboardInterrupt:
        print_notes("stopped; what was done is kept")
        return FAILED
    except OSError as error:
        # The folder may have been deleted meanwhile.
        if not (reason := _find_obstacle()):
            return _stop_printing(error)
        print_notes(reason)
        return FAILED
    finally:
        if backend := getattr(arguments, "backend", None):
            backend.close()


def find_function(verb: str) -> Callable[[SimpleNamespace], int]:
    """The function that runs a verb."""
    module, _, function = VERBS[verb]["run"].partition(":")
    found: Callable[[SimpleNamespace], int] = getattr(importlib.import_module(module), function)
    return found


def _find_obstacle() -> str:
    """The reason why no verb can run here; empty where one can."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return "this folder was deleted; change to one that exists"
    return why_no_home() or ""


if __name__ == "__main__":
    main()
