"""The verbs on projects: each asks one operation and prints its answer."""

from __future__ import annotations

import argparse
import os
import sys

from rag_ls.cli import render
from rag_ls.cli.backend import Json, ask
from rag_ls.cli.commands import show_answer
from rag_ls.cli.confirmation import ask_to_confirm
from rag_ls.cli.progress import showing
from rag_ls.util.quoting import fold
from rag_ls.util.text import count_of


def list_projects(arguments: argparse.Namespace) -> int:
    """List the projects that other commands know by name."""
    answer = ask(arguments, "list_repos", {}, in_project=False)
    show_answer(arguments, answer, _format_list(answer["repos"], is_whole=not answer.get("problems")))
    if published := answer.get("published"):
        told = f"rag-ls: the team published {', '.join(published)}: `rag-ls search --published NAME` searches one"
        print(told, file=sys.stderr)
    for problem in answer.get("problems", ()):
        print(f"rag-ls: {problem}", file=sys.stderr)
    return 1 if answer.get("problems") and not answer["repos"] else 0


def add(arguments: argparse.Namespace) -> int:
    """Register a project under a name."""
    path = os.path.abspath(arguments.path)
    answer = ask(arguments, "add_project", {"path": path, "name": arguments.name}, in_project=False)
    show_answer(arguments, answer, _format_added(answer, os.path.realpath(path)))
    return 0


def remove(arguments: argparse.Namespace) -> int:
    """Forget the projects of one name, and delete their indexes."""
    wanted = os.path.abspath(arguments.project) if _is_path(arguments.project) else arguments.project
    question = {"project": wanted, "memories": arguments.memories}
    return _carry_out(arguments, ask(arguments, "plan_removal", question, in_project=False))


def prune(arguments: argparse.Namespace) -> int:
    """Forget the projects whose folder is gone or that the settings no longer list, and delete their indexes."""
    plan = ask(arguments, "plan_pruning", {}, in_project=False)
    if plan["projects"]:
        return _carry_out(arguments, plan)
    show_answer(arguments, {"removed": [], "memories": False}, "nothing to prune")
    return 0


def scan(arguments: argparse.Namespace) -> int:
    """Index projects by name, and wait for it."""
    wanted = [os.path.abspath(name) if _is_path(name) else name for name in arguments.project]
    question = {"project": wanted, "words_only": arguments.words_only}
    with showing(named=True) as show:
        answer = ask(arguments, "scan", question, show, in_project=False)
    show_answer(arguments, answer, "\n\n".join(render.status(status) for status in answer["projects"]))
    if not (answer["complete"] or arguments.words_only):
        for status in answer["projects"]:
            if not status["complete"]:
                why = status.get("note") or status["activity"]
                print(f"rag-ls: {status['root']}: not finished: {why}", file=sys.stderr)
        return 1
    return 0


def _is_path(wanted: str) -> bool:
    return wanted in (".", "..") or "/" in wanted or os.sep in wanted


# --- removing projects


def _carry_out(arguments: argparse.Namespace, plan: Json) -> int:
    """Show what would be removed, ask for confirmation, and remove it."""
    if not arguments.json:
        print("\n".join(_format_plan(item, plan["memories"]) for item in plan["projects"]))
    if not (arguments.yes or ask_to_confirm("remove it?", "nothing was removed")):
        return 1
    roots = [item["root"] for item in plan["projects"]]
    answer = ask(arguments, "remove_projects", {"roots": roots, "memories": plan["memories"]}, in_project=False)
    show_answer(arguments, answer, "\n".join(_format_removed(item) for item in answer["removed"]))
    return 0


def _format_plan(item: Json, memories: bool) -> str:
    lines = [
        fold(f"{item['name']}  {item['root']}: {item['reason']}"),
        f"    deletes its index: {count_of(item['documents'], 'file')} in {count_of(item['chunks'], 'chunk')}, "
        f"{count_of(item['embeddings'], 'embedding')}, {count_of(item['bytes'], 'byte')}; it can be made again"
        if item["bytes"]
        else "    has no index",
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
