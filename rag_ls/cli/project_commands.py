"""The verbs on projects: each asks one operation and prints its answer."""

from __future__ import annotations

import os
from types import SimpleNamespace

from rag_ls.cli import render
from rag_ls.cli.backend import Json, ask
from rag_ls.cli.progress import show_progress
from rag_ls.cli.terminal import ask_to_confirm, print_notes, show_answer
from rag_ls.util.text import count_of, fold


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
        print("\n".join([*render.format_values(plan), f"the index of each is deleted, and can be made again; {mine}"]))
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
