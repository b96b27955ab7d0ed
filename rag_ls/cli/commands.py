"""The verbs that index projects, list them and show their state, and those that need no function of their own."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from types import SimpleNamespace

from rag_ls.cli import render
from rag_ls.cli.backend import Json, ask
from rag_ls.cli.progress import show_progress
from rag_ls.cli.terminal import ask_to_confirm, paint, print_notes, show_answer
from rag_ls.cli.verbs import in_words_of_the_shell
from rag_ls.errors import InvalidRequest, NotIndexed, RagLsError
from rag_ls.util.text import count_of, fold

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
        from rag_ls.config import StoreSettings
        from rag_ls.storage import open_shared_vectors

        if (store := open_shared_vectors(StoreSettings(url=arguments.store))) is not None:
            with contextlib.closing(store):
                store.missing("", [b""])


def status(arguments: SimpleNamespace) -> int:
    """Compare the files with the index, then show the state of the project and the engine."""
    if getattr(arguments, "is_overview", False):
        return _overview(arguments)
    # Imported here, so that a search does not wait for it.
    from rag_ls.config import users_trusted_folders

    answer = ask(arguments)
    answer["trusted"] = users_trusted_folders().trusts(Path(answer["root"]))
    if not arguments.json:
        # `trust` walks the whole folder to say what waits: this command would take ten times as long.
        not_trusted = "not trusted: `rag-ls trust` shows what waits for that, if anything"
        answer["trust"] = "trusted" if answer["trusted"] else not_trusted
        with contextlib.suppress(RagLsError):
            answer["rules"] = ask(arguments, "rag_status", {})
    return show_answer(arguments, answer, render.render_status(answer, paint()))


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


def list_projects(arguments: SimpleNamespace) -> int:
    """List the projects that other commands know by name."""
    answer = ask(arguments)
    problems = answer.get("problems", ())
    show_answer(arguments, answer, _format_list(answer["repos"], is_whole=not problems))
    if published := answer.get("published"):
        print_notes(f"the team published {', '.join(published)}: `rag-ls search --published NAME` searches one")
    print_notes(*problems)
    return 1 if problems and not answer["repos"] else 0


def add(arguments: SimpleNamespace) -> int:
    """Register a project under a name."""
    answer = ask(arguments, values={"path": os.path.abspath(arguments.path), "name": arguments.name})
    lines = [*render.format_values(answer), f"`rag-ls scan {answer['name']}` indexes it now"]
    return show_answer(arguments, answer, "\n".join(lines))


def remove(arguments: SimpleNamespace) -> int:
    """Forget the projects of one name, and delete their indexes."""
    question = {"project": _make_absolute(arguments.project), "memories": arguments.memories}
    return _carry_out(arguments, ask(arguments, values=question))


def prune(arguments: SimpleNamespace) -> int:
    """Forget the projects whose folder is gone or that the settings no longer list, and delete their indexes."""
    plan = ask(arguments)
    if plan["projects"]:
        return _carry_out(arguments, plan)
    return show_answer(arguments, {"removed": [], "memories": False}, "nothing to prune")


def scan(arguments: SimpleNamespace) -> int:
    """Index projects by name, and wait for it."""
    question = {"project": [*map(_make_absolute, arguments.project)], "words_only": arguments.words_only}
    with show_progress(named=True) as show:
        answer = ask(arguments, values=question, show=show)
    show_answer(arguments, answer, "\n\n".join(render.render_status(status) for status in answer["projects"]))
    if answer["complete"] or arguments.words_only:
        return 0
    left = [status for status in answer["projects"] if not status["complete"]]
    print_notes(*(f"{status['root']}: not finished: {status.get('note') or status['activity']}" for status in left))
    return 1


def _make_absolute(wanted: str) -> str:
    """A project's path from the root, since the engine does not know the shell's folder; a name as it is."""
    is_path = wanted in (".", "..") or "/" in wanted or os.sep in wanted
    return os.path.abspath(wanted) if is_path else wanted


# --- removing projects


def _carry_out(arguments: SimpleNamespace, plan: Json) -> int:
    """Show what would be removed, ask for confirmation, and remove it."""
    if not arguments.json:
        mine = (
            "the memories go too, and one copy is kept"
            if plan["memories"]
            else "the memories stay: --memories deletes them too"
        )
        others = [other for item in plan["projects"] for other in item.get("shared_with", ())]
        shared = [f"these are the memories of {fold(', '.join(others))} too: they go there as well"] if others else []
        told = f"the index of each is deleted, and can be made again; {mine}"
        print("\n".join([*render.format_values(plan), told, *(shared if plan["memories"] else ())]))
    if not (arguments.yes or ask_to_confirm("remove it?", "nothing was removed")):
        return 1
    roots = [item["root"] for item in plan["projects"]]
    answer = ask(arguments, "remove_projects", {"roots": roots, "memories": plan["memories"]})
    lines = [f"removed {fold(item['name'])}  {fold(item['root'])}" for item in answer["removed"]]
    for item in answer["removed"]:
        if copy := item.get("copy"):
            lines.append(f"    `rag-ls restore --project {item['root']} --backup {copy}` brings its memories back")
        if (config := item["config"]) is not None:
            lines.append(f"    {config['file']} still lists {item['name']}: take it out, or it is indexed again")
    return show_answer(arguments, answer, "\n".join(lines))


# --- listing known projects


def _format_list(repos: list[Json], *, is_whole: bool) -> str:
    if not repos:
        new = "no projects yet: open one in an editor, or `rag-ls project add PATH`"
        return new if is_whole else "no projects can be listed"
    return "\n".join(map(_format_project, repos))


def _format_project(repo: Json) -> str:
    lines = [f"{fold(repo['name'])}  {fold(repo['root'])}  [{repo['source']}]"]
    if repo.get("missing"):
        return f"{lines[0]}\n    missing: its folder was deleted, moved or unmounted"
    held = "not indexed yet"
    if repo["bytes"]:
        state = "complete" if repo["complete"] else "not complete"
        counts = ((repo["documents"], "file"), (repo["chunks"], "chunk"), (repo["bytes"], "byte"))
        held = ", ".join([*(count_of(count, name) for count, name in counts), state])
    branch = f", on {repo['branch']}" if repo["branch"] else ""
    return "\n".join([*lines, f"    {held}{branch}", *([f"    {repo['note']}"] if repo.get("note") else [])])
