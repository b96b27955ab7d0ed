"""The verbs that index and search: each asks one operation and prints its answer."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace

from rag_ls.cli import answer_text, exact_search, render, terminal
from rag_ls.cli.backend import Json, ask, backend_of, question_of
from rag_ls.cli.confirmation import ask_to_confirm
from rag_ls.cli.progress import showing, showing_reading
from rag_ls.cli.terminal import paint, print_notes, show_answer
from rag_ls.cli.wording import in_words_of_the_shell
from rag_ls.errors import InvalidRequest, NotConfirmed, NotIndexed, RagLsError
from rag_ls.util.processes import given_text
from rag_ls.util.text import fold

_KINDS = {"code": "code", "memory": "memory", "memories": "memory", "rule": "rules", "rules": "rules"}
_MAX_HITS = 100
_LOOK_AGAIN_S = 1.0
_STORE_VARIABLE = "RAG_LS_STORE_URL"


def index(arguments: SimpleNamespace) -> int:
    """Index a project and wait for it."""
    if arguments.only_missing and not arguments.store:
        raise InvalidRequest("--only-missing is for --store URL")
    if arguments.store:
        _use_store(arguments)
    with showing(embeds=not arguments.words_only) as show:
        try:
            answer = ask(arguments, show=show, folder=arguments.path, in_project=True)
        except NotConfirmed as error:
            if not sys.stdin.isatty() or arguments.json:
                raise
            print_notes(fold(in_words_of_the_shell(str(error))))
            if not ask_to_confirm("index all of it now?", "nothing was indexed"):
                return 1
            arguments.force = True
            answer = ask(arguments, show=show, folder=arguments.path, in_project=True)
    show_answer(arguments, answer, render.status(answer, paint()))
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
        from rag_ls.config.settings import StoreSettings
        from rag_ls.storage import open_shared_vectors

        if (store := open_shared_vectors(StoreSettings(url=arguments.store))) is not None:
            with contextlib.closing(store):
                store.missing("", [b""])


def search(arguments: SimpleNamespace) -> int:
    """Search code and memories; fails where nothing is found, or nothing is close."""
    arguments.paths = arguments.paths or arguments.null
    if sum((arguments.json, arguments.paths, arguments.vimgrep)) > 1:
        raise InvalidRequest("give one of --json, --paths and --vimgrep")
    pattern, match = exact_search.read_pattern(arguments)
    if match != "auto":
        return _search_exactly(arguments, pattern, match)
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


def _search_exactly(arguments: SimpleNamespace, pattern: str, match: str) -> int:
    """Show all lines that hold a text or match a regular expression; fails where there is none."""
    question = question_of(arguments) | exact_search.question_of(arguments, pattern, match)
    with showing_reading() as show:
        answer = ask(arguments, values=question, show=show, in_several=True)
    exact, notes = answer["exact"], []
    if arguments.count:
        exact["next_offset"] = None
    if arguments.json:
        show_answer(arguments, answer, "")
    elif arguments.count:
        print(exact_search.describe_total(exact))
        notes = exact_search.notes(exact)
    elif arguments.files or arguments.paths or arguments.vimgrep or not sys.stdout.isatty():
        # Programs read these forms, so no hit gives no line at all.
        if arguments.files or arguments.paths:
            _print_paths(arguments, exact["places"])
        else:
            print("".join(f"{line}\n" for line in exact_search.lines(exact)), end="")
        notes = exact_search.notes(exact)
    else:
        terminal.show(exact_search.block(exact, paint()))
    print_notes(*notes)
    return 0 if exact["total"] else 1


def _ask_projects(arguments: SimpleNamespace) -> Json:
    # Only memories have a scope, and only code has paths.
    usual = "code" if arguments.paths or arguments.vimgrep else "code,memory"
    named = arguments.kinds or ("memory" if arguments.scope else usual)
    kinds = [kind.strip() for kind in named.split(",")]
    if not set(kinds) <= set(_KINDS):
        raise InvalidRequest(f"--in {arguments.kinds!r}: give code, memory, rules or several, with a comma between")
    more = {"kinds": sorted({_KINDS[kind] for kind in kinds}), "place_texts": not arguments.json}
    with showing_reading() as show:
        return ask(arguments, values=question_of(arguments) | more, show=show, in_several=True)


def _ask_published(arguments: SimpleNamespace) -> Json:
    from rag_ls.config.entries import PUBLISHED

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
        show_answer(arguments, answer, answer_text.screen(answer, arguments.query, extent, paint()))
        return
    print_notes(*answer_text.notes_of(answer["stats"]))
    if arguments.paths:
        _print_paths(arguments, answer_text.best_hits(answer, files))
    for line in answer_text.vimgrep(answer, arguments.query, files) if arguments.vimgrep else ():
        print(line)


def _print_paths(arguments: SimpleNamespace, hits: Iterable[Json]) -> None:
    """Print the paths of hits: one on each line, or as they are, each with a NUL byte after it."""
    for hit in hits:
        print(f"{render.file_from_here(hit)}\0" if arguments.null else f"{render.path_from_here(hit)}\n", end="")


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
        standing = "\n".join(render.status(ask(arguments, "status", {}), paint()).split("\n")[:3])
    except NotIndexed as error:
        standing = in_words_of_the_shell(str(error))
        first = ("rag-ls index", "reads this folder")
    steps = (first, ("rag-ls connect", "shows how editors and agents use it"), ("rag-ls help --all", "lists all verbs"))
    print("\n".join([standing, "", *(f"{step:<38}{what}" for step, what in steps)]))
    return 0


def _show_status(arguments: SimpleNamespace, answer: Json) -> None:
    # Imported here, so that a search does not wait for it.
    from rag_ls.config.trusted_folders import users_trusted_folders

    answer["trusted"] = users_trusted_folders().trusts(Path(answer["root"]))
    if arguments.watch and sys.stdout.isatty():
        terminal.clear()
    if not arguments.json:
        # `trust` walks the whole folder to say what waits: this command would take ten times as long.
        not_trusted = "not trusted: `rag-ls trust` shows what waits for that, if anything"
        answer["trust"] = "trusted" if answer["trusted"] else not_trusted
        answer |= _beside_the_index(arguments)
    # With --watch the next status comes in a second, so it goes through no pager.
    show_answer(arguments, answer, render.status(answer, paint()), paged=not arguments.watch)
    sys.stdout.flush()


def _beside_the_index(arguments: SimpleNamespace) -> Json:
    """The figures of memories and rules; what cannot be told now is left out."""
    beside: Json = {}
    for name, operation in (("memory_figures", "stats"), ("rules", "rag_status")):
        with contextlib.suppress(RagLsError):
            beside[name] = ask(arguments, operation, {})
    return beside


def show(arguments: SimpleNamespace) -> int:
    """Show a memory with its former versions, else a chunk."""
    answer = ask(arguments)
    return show_answer(arguments, answer, render.hit(answer, paint()))


def run_operation(arguments: SimpleNamespace) -> int:
    """Run the operation of a verb without a function of its own, and show its answer as lines of `key: value`."""
    answer = ask(arguments)
    return show_answer(arguments, answer, "\n".join(_format_values(answer)))


def _format_values(answer: Json) -> Iterator[str]:
    """A line for each value of an answer, and one for each record of a list."""
    for key, value in answer.items():
        if not isinstance(value, list):
            yield f"{key}: {value}"
            continue
        yield f"{key}:"
        for record in value:
            yield "  " + ("  ".join(map(str, record.values())) if isinstance(record, dict) else str(record))
