"""The verbs that index a project and show its state, and those that need no function of their own."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace

from rag_ls.cli import render, terminal
from rag_ls.cli.backend import Json, ask, backend_of
from rag_ls.cli.progress import show_progress
from rag_ls.cli.terminal import paint, print_notes, show_answer
from rag_ls.cli.verbs import in_words_of_the_shell
from rag_ls.errors import InvalidRequest, NotIndexed, RagLsError

_LOOK_AGAIN_S = 1.0
_STORE_VARIABLE = "RAG_LS_STORE_URL"


def index(arguments: SimpleNamespace) -> int:
    """Index a project and wait for it."""
    if arguments.only_missing and not arguments.store:
        raise InvalidRequest("--only-missing is for --store URL")
    if arguments.store:
        _use_store(arguments)
    with show_progress(embeds=not arguments.words_only) as show:
        answer = ask(arguments, show=show, folder=arguments.path, in_project=True)
    show_answer(arguments, answer, render.render_status(answer, paint()))
    is_missing = not (answer["complete"] or arguments.words_only)
    left = f"not finished: {answer.get('note') or answer['activity']}" if is_missing else ""
    problem = answer.get("share_problem", "") if arguments.store else ""
    print_notes(left or problem)
    return 1 if left or problem else 0


def _use_store(arguments: SimpleNamespace) -> None:
    """Work with a team's store in this process: a shared engine has the user's own. Raises `StoreUnavailable`."""
    os.environ[_STORE_VARIABLE] = arguments.store
    arguments.standalone = True
    if arguments.only_missing:
        from rag_ls.config.engine_settings import StoreSettings
        from rag_ls.storage import open_shared_vectors

        if (store := open_shared_vectors(StoreSettings(url=arguments.store))) is not None:
            with contextlib.closing(store):
                store.missing("", [b""])


def status(arguments: SimpleNamespace) -> int:
    """Compare the files with the index, then show the state of the project and the engine."""
    if getattr(arguments, "is_overview", False):
        return _overview(arguments)
    try:
        while True:
            _show_status(arguments, ask(arguments))
            if not arguments.watch:
                return 0
            time.sleep(_LOOK_AGAIN_S)
            backend_of(arguments).look_again()
    except KeyboardInterrupt:
        if not arguments.watch:
            raise
        return 0


def _overview(arguments: SimpleNamespace) -> int:
    """Show where the user stands, in a few lines, and what to do next."""
    first = ("rag-ls search 'a question in words'", "finds code and memories")
    try:
        standing = "\n".join(render.render_status(ask(arguments, "status", {}), paint()).split("\n")[:3])
    except NotIndexed as error:
        standing = in_words_of_the_shell(str(error))
        first = ("rag-ls index", "reads this folder")
    steps = (first, ("rag-ls connect", "shows how editors and agents use it"), ("rag-ls help --all", "lists all verbs"))
    print("\n".join([standing, "", *(f"{step:<38}{what}" for step, what in steps)]))
    return 0


def _show_status(arguments: SimpleNamespace, answer: Json) -> None:
    # Imported here, so that a search does not wait for it.
    from rag_ls.config.trust import users_trusted_folders

    answer["trusted"] = users_trusted_folders().trusts(Path(answer["root"]))
    if arguments.watch and sys.stdout.isatty():
        terminal.clear()
    if not arguments.json:
        # `trust` walks the whole folder to say what waits: this command would take ten times as long.
        not_trusted = "not trusted: `rag-ls trust` shows what waits for that, if anything"
        answer["trust"] = "trusted" if answer["trusted"] else not_trusted
        with contextlib.suppress(RagLsError):
            answer["rules"] = ask(arguments, "rag_status", {})
    # With --watch the next status comes in a second, so it goes through no pager.
    show_answer(arguments, answer, render.render_status(answer, paint()), paged=not arguments.watch)
    sys.stdout.flush()


def show(arguments: SimpleNamespace) -> int:
    """Show a memory with its former versions, else a chunk."""
    answer = ask(arguments)
    return show_answer(arguments, answer, render.render_hit(answer, paint()))


def run_operation(arguments: SimpleNamespace) -> int:
    """Run the operation of a verb without a function of its own, and show the values of its answer."""
    answer = ask(arguments)
    return show_answer(arguments, answer, "\n".join(render.format_values(answer)))


def show_figures(arguments: SimpleNamespace) -> int:
    """Show how memories or rules stand; fails where something is broken."""
    answer = ask(arguments)
    place = "(`rag-ls status` shows index, memories, rules and engine together)"
    text = in_words_of_the_shell("\n".join(render.format_values(answer)))
    show_answer(arguments, answer, f"{text}\n{place}")
    return 0 if answer.get("healthy", True) else 1
