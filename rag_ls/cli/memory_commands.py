"""The verbs on memories: each asks one operation and prints its answer."""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from rag_ls.cli import render
from rag_ls.cli.backend import ask
from rag_ls.cli.commands import show_answer
from rag_ls.errors import InvalidRequest, NotFound, RagLsError

Json = dict[str, Any]

_STDIO = "-"


def add(arguments: argparse.Namespace) -> int:
    """Store a memory."""
    content = arguments.content if arguments.text is None else arguments.text
    if content is None:
        raise InvalidRequest("give the text to remember, or - to read it from standard input")
    new = {
        "content": _read(content),
        "scope": arguments.scope,
        "memory_type": arguments.memory_type,
        "force": arguments.force,
        "metadata": {
            "tags": tags_of(arguments),
            "importance_score": arguments.importance,
            "branch": arguments.branch,
            **_place(arguments.at),
        },
    }
    answer = ask(arguments, "store_memory", new)
    show_answer(arguments, answer, render.stored(answer))
    return 0


def list_memories(arguments: argparse.Namespace) -> int:
    """List memories."""
    question = {
        "scope": arguments.scope,
        "tags": tags_of(arguments),
        "memory_type": arguments.memory_type,
        "limit": arguments.k,
        "offset": arguments.offset,
        "order": arguments.order,
        "anchor": arguments.anchor,
        "never_recalled": arguments.never_recalled,
        "branch": arguments.branch,
    }
    answer = ask(arguments, "list_memories", question)
    show_answer(arguments, answer, render.memories(answer))
    if note := answer.get("note"):
        print(f"rag-ls: {note}", file=sys.stderr)
    return 1 if "note" in answer else 0


def update(arguments: argparse.Namespace) -> int:
    """Change a memory, or confirm it."""
    given = arguments.content if arguments.text is None else arguments.text
    metadata: Json = {**_place(arguments.at)}
    if arguments.tags or arguments.tag_list:
        metadata["tags"] = tags_of(arguments)
    if arguments.importance is not None:
        metadata["importance_score"] = arguments.importance
    if arguments.memory_type:
        metadata["memory_type"] = arguments.memory_type
    if arguments.promote:
        metadata["branch"] = None
    change: Json = {"id": arguments.id, "expected_version": arguments.expected_version, "force": arguments.force}
    if given is not None:
        change["content"] = _read(given)
    if metadata:
        change["metadata"] = metadata
    if given is None and not metadata and not arguments.confirm:
        raise InvalidRequest("say what to change (--content, --tags, ...), or --confirm that it still holds")
    answer = ask(arguments, "update_memory", change)
    show_answer(arguments, answer, f"{answer['status']} {answer['id']} (version {answer['version']})")
    return 0


def delete(arguments: argparse.Namespace) -> int:
    """Delete memories; go on if one of them cannot be deleted."""
    deleted: list[Json] = []
    failed: list[RagLsError] = []
    for memory_id in arguments.ids:
        try:
            deleted.append(ask(arguments, "delete_memory", {"id": memory_id}))
        except NotFound as error:
            failed.append(error)
    if failed and len(arguments.ids) == 1:
        raise failed[0]
    for problem in failed:
        print(f"rag-ls: {problem}", file=sys.stderr)
    answer = deleted[0] if len(arguments.ids) == 1 else {"deleted": deleted}
    show_answer(
        arguments,
        answer,
        "\n".join(f"deleted {item['id']}; `rag-ls restore {item['id'][:8]}` brings it back" for item in deleted),
    )
    return 1 if failed else 0


def restore(arguments: argparse.Namespace) -> int:
    """Bring back a memory's former version, or a whole backup."""
    if arguments.backup:
        answer = ask(arguments, "restore_backup", {"scope": arguments.scope, "backup": arguments.backup})
        show_answer(arguments, answer, render.restored(answer))
        return 0
    if not arguments.id:
        raise InvalidRequest("give a memory's id, or --backup latest (or a date) for all memories of a scope")
    answer = ask(arguments, "restore_memory", {"id": arguments.id, "version": arguments.version})
    show_answer(arguments, answer, f"restored {answer['id']} (version {answer['version']}, {answer['scope']})")
    return 0


def consolidate(arguments: argparse.Namespace) -> int:
    """Merge memories that say the same, show what would be merged, or undo it."""
    question: Json = {"scope": arguments.scope, "threshold": arguments.threshold, "dry_run": arguments.dry_run}
    if arguments.undo is not None:
        question = {"scope": arguments.scope, "undo": arguments.undo or True}
    answer = ask(arguments, "consolidate_memories", question)
    show_answer(arguments, answer, render.consolidation(answer))
    return 0


def summarize(arguments: argparse.Namespace) -> int:
    """Summarise the memories of a time, and keep the summary."""
    question = {
        "time_range": {"start": arguments.start, "end": arguments.end},
        "scope": arguments.scope,
        "tags": tags_of(arguments),
        "max_words": arguments.max_words,
        "summary_key": arguments.summary_key,
    }
    answer = ask(arguments, "summarize_memories", question)
    show_answer(
        arguments, answer, f"{answer['summary']}\n\n({answer['status']} {answer['id']}, of {answer['count']} memories)"
    )
    return 0


def stats(arguments: argparse.Namespace) -> int:
    """Show figures of the memories."""
    answer = ask(arguments, "stats", {"scope": arguments.scope})
    show_answer(arguments, answer, render.stats(answer))
    return 0


def optimize(arguments: argparse.Namespace) -> int:
    """Optimise the indexes."""
    answer = ask(arguments, "optimize", {"scope": arguments.scope})
    show_answer(arguments, answer, f"optimized {', '.join(answer['optimized'])}")
    return 0


def vacuum(arguments: argparse.Namespace) -> int:
    """Give free space of the files back."""
    answer = ask(arguments, "vacuum", {"scope": arguments.scope})
    lines = [f"{name}: {size['before']:,} bytes, now {size['after']:,}" for name, size in answer["bytes"].items()]
    show_answer(arguments, answer, "\n".join(lines))
    return 0


def export(arguments: argparse.Namespace) -> int:
    """Write memories to a file, or to standard output."""
    question: Json = {"scope": arguments.scope, "format": arguments.format, "embeddings": arguments.embeddings}
    if tags := tags_of(arguments):
        question["filters"] = {"tags": tags, "branch": "*"}
    if arguments.output != _STDIO:
        answer = ask(arguments, "export_memories", {**question, "output": os.path.abspath(arguments.output)})
        show_answer(arguments, answer, f"exported {answer['exported']:,} memories to {answer['output']}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "memories.json")
        ask(arguments, "export_memories", {**question, "output": file})
        with open(file, "rb") as stream:
            while block := stream.read(1 << 20):
                sys.stdout.buffer.write(block)
        sys.stdout.buffer.flush()
    return 0


def import_memories(arguments: argparse.Namespace) -> int:
    """Take memories in from a file, or from standard input."""
    question: Json = {
        "scope": arguments.scope,
        "format": arguments.format,
        "source": arguments.source,
        "force": arguments.force,
    }
    if arguments.input != _STDIO:
        answer = ask(arguments, "import_memories", {**question, "input": os.path.abspath(arguments.input)})
    else:
        with tempfile.NamedTemporaryFile(suffix=".memories") as file:
            while block := sys.stdin.buffer.read(1 << 20):
                file.write(block)
            file.flush()
            answer = ask(arguments, "import_memories", {**question, "input": file.name})
    show_answer(arguments, answer, render.imported(answer))
    return 0


def tags_of(arguments: argparse.Namespace) -> Sequence[str]:
    """The tags of repeated `--tag` options, and of the comma-separated list `--tags`."""
    listed = arguments.tag_list.split(",") if arguments.tag_list else []
    return [*arguments.tags, *(tag.strip() for tag in listed if tag.strip())]


def _read(content: str) -> str:
    return sys.stdin.read() if content == _STDIO else content


def _place(at: str) -> Json:
    place = re.fullmatch(r"(.+?)(?::(\d+))?", at)
    if not place:
        return {}
    # A relative path starts at the shell's folder, not at the project's root.
    return {"source_file": os.path.abspath(place[1]), "line": int(place[2]) if place[2] else None}
