"""The verbs on projects: each asks one operation and prints its answer."""

from __future__ import annotations

import os
from types import SimpleNamespace

from rag_ls.cli import render
from rag_ls.cli.backend import Json, ask
from rag_ls.cli.confirmation import ask_to_confirm
from rag_ls.cli.progress import showing
from rag_ls.cli.terminal import print_notes, show_answer
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
    path = os.path.abspath(arguments.path)
    answer = ask(arguments, values={"path": path, "name": arguments.name})
    return show_answer(arguments, answer, _format_added(answer, os.path.realpath(path)))


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
    with showing(named=True) as show:
        answer = ask(arguments, values=question, show=show)
    show_answer(arguments, answer, "\n\n".join(render.status(status) for status in answer["projects"]))
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
        print("\n".join(_format_plan(item, plan["memories"]) for item in plan["projects"]))
    if not (arguments.yes or ask_to_confirm("remove it?", "nothing was removed")):
        return 1
    roots = [item["root"] for item in plan["projects"]]
    answer = ask(arguments, "remove_projects", {"roots": roots, "memories": plan["memories"]})
    return show_answer(arguments, answer, "\n".join(map(_format_removed, answer["removed"])))


def _format_plan(item: Json, memories: bool) -> str:
    counts = (("documents", "file"), ("chunks", "chunk"), ("embeddings", "embedding"), ("bytes", "byte"))
    files, chunks, embeddings, size = (count_of(item[key], name) for key, name in counts)
    index = f"deletes its index: {files} in {chunks}, {embeddings}, {size}; it can be made again"
    lines = [
        fold(f"{item['name']}  {item['root']}: {item['reason']}"),
        f"    {index if item['bytes'] else 'has no index'}",
    ]
    if count := item["memories"] is None or item["memories"]:
        what = "its memories, which cannot be read now" if count is True else f"its memories ({count:,})"
        if memories:
            lines.append(f"    deletes {what}: {item['memory_bytes']:,} bytes with their backups; one copy is kept")
        else:
            lines.append(f"    keeps {what}; --memories deletes them too")
    if memories and (others := item.get("shared_with")):
        lines.append(f"    these are the memories of {fold(', '.join(others))} too: they go there as well")
    return "\n".join([*lines, *_config_hint(item)])


def _format_removed(item: Json) -> str:
    lines = [f"removed {item['name']}  {item['root']}: {count_of(len(item['files']), 'file')}"]
    if copy := item.get("copy"):
        lines.append(f"    `rag-ls restore --project {item['root']} --backup {copy}` brings its memories back")
    return "\n".join([*lines, *_config_hint(item)])


def _config_hint(item: Json) -> list[str]:
    if (config := item["config"]) is None:
        return []
    lines = f"lines {config['first_line']} to {config['last_line']}" if config["first_line"] else "[[projects]]"
    return [f"    {config['file']} lists it: take {lines} out of it, or it is indexed again"]


# --- listing known projects


def _format_list(repos: list[Json], *, is_whole: bool) -> str:
    if not repos:
        new = "no projects yet: open one in an editor, or `rag-ls project add PATH`"
        return new if is_whole else "no projects can be listed"
    return "\n".join(map(_format_project, repos))


def _format_project(repo: Json) -> str:
    head = _format_head(repo)
    if repo.get("missing"):
        return f"{head}\n    missing: its folder was deleted, moved or unmounted"
    state = "complete" if repo["complete"] else "not complete"
    branch = f", on {repo['branch']}" if repo["branch"] else ""
    held = f"{count_of(repo['documents'], 'file')} in {count_of(repo['chunks'], 'chunk')}, {state}, {count_of(repo['bytes'], 'byte')}"
    lines = [head, f"    {held if repo['bytes'] else 'not indexed yet'}{branch}"]
    return "\n".join([*lines, f"    {repo['note']}"] if repo.get("note") else lines)


def _format_head(record: Json) -> str:
    return f"{fold(record['name'])}  {fold(record['root'])}  [{record['source']}]"


def _format_added(answer: Json, asked: str) -> str:
    lines = [_format_head(answer)]
    if asked != answer["root"]:
        lines.append(f"    {asked} is a part of it")
    only = f", of these only {', '.join(answer['include'])}" if answer["include"] else ""
    without = f", without {', '.join(answer['exclude'])}" if answer["exclude"] else ""
    lines.append(f"    indexes the files that git and .ragignore leave{only}{without}")
    lines.append(f"    when an editor or agent opens it; now with `rag-ls scan {answer['name']}`")
    if answer["note"]:
        lines.append(f"    {answer['note']}")
    return "\n".join(lines)
