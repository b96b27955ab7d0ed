"""The verbs on memories: each asks one operation and prints its answer."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Sequence

from rag_ls.cli import render, render_batches
from rag_ls.cli.backend import Json, ask
from rag_ls.cli.commands import show_answer
from rag_ls.cli.confirmation import ask_to_confirm
from rag_ls.cli.terminal import paint
from rag_ls.errors import InvalidRequest
from rag_ls.util.standard_streams import given_text
from rag_ls.util.text import count_of
from rag_ls.util.written_places import meanings_of

_STDIO = "-"
# The same number as in `operations/memories/listing.py`.
_MAX_LISTED = 1000


def add(arguments: argparse.Namespace) -> int:
    content = arguments.content if arguments.text is None else arguments.text
    if content is None:
        raise InvalidRequest("give the text to remember, or - to read it from standard input")
    new = {
        "content": given_text(content),
        "scope": arguments.scope,
        "memory_type": arguments.memory_type,
        "force": arguments.force,
        "metadata": {
            "tags": tags_of(arguments),
            "importance_score": arguments.importance,
            "branch": arguments.branch,
            **_read_place(arguments.at),
        },
    }
    answer = ask(arguments, "store_memory", new)
    show_answer(arguments, answer, render.format_stored(answer))
    return 0


def list_memories(arguments: argparse.Namespace) -> int:
    if arguments.k is not None and arguments.k > _MAX_LISTED:
        raise InvalidRequest(f"-k {arguments.k}: at most {_MAX_LISTED:,} are listed at once; --offset goes on")
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
        "deleted": arguments.deleted,
    }
    answer = ask(arguments, "list_memories", question)
    show_answer(arguments, answer, render.memories(answer, paint()))
    if (happened := answer.get("happened")) and not arguments.json:
        print(f"rag-ls: {happened}", file=sys.stderr)
    if note := answer.get("note"):
        print(f"rag-ls: {note}", file=sys.stderr)
    return 1 if "note" in answer else 0


def update(arguments: argparse.Namespace) -> int:
    """Change a memory, or confirm it."""
    given = arguments.content if arguments.text is None else arguments.text
    metadata: Json = {**_read_place(arguments.at)}
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
        change["content"] = given_text(given)
    if metadata:
        change["metadata"] = metadata
    if given is None and not metadata and not arguments.confirm:
        raise InvalidRequest("say what to change (--content, --tags, ...), or --confirm that it still holds")
    answer = ask(arguments, "update_memory", change)
    show_answer(arguments, answer, _format_update(answer))
    return 0


def _format_update(answer: Json) -> str:
    done = f"{answer['status']} {answer['id']} (version {answer['version']})"
    return f"{done}; `rag-ls restore {answer['id'][:8]}` takes it back" if answer["status"] == "updated" else done


def delete(arguments: argparse.Namespace) -> int:
    if len(arguments.ids) == 1 and not arguments.purge:
        answer = ask(arguments, "delete_memory", {"id": arguments.ids[0]})
        show_answer(arguments, answer, f"deleted {answer['id']}; `rag-ls undo` brings it back")
        return 0
    gone = _run_confirmed(
        arguments, "delete_memories", {"ids": arguments.ids, "purge": arguments.purge}, _removes_or_changes
    )
    if gone is None:
        return 1
    show_answer(arguments, gone, render_batches.changes(gone["changes"]))
    for missing in gone["missing"]:
        print(f"rag-ls: no memory has the id {missing!r}; `rag-ls list` shows the ids", file=sys.stderr)
    for backup in gone.get("still_held", ()):
        print(f"rag-ls: {backup} cannot be changed and still holds them: delete it yourself", file=sys.stderr)
    return 1 if gone["missing"] or gone.get("still_held") else 0


def undo(arguments: argparse.Namespace) -> int:
    answer = _run_confirmed(arguments, "undo", {"id": arguments.id}, lambda data: True)
    if answer is None:
        return 1
    show_answer(arguments, answer, render_batches.undone(answer))
    return 0


def restore(arguments: argparse.Namespace) -> int:
    """Bring back a memory's former version, or a whole backup."""
    if arguments.backup:
        is_file = os.path.isfile(arguments.backup)
        question = {
            "scope": arguments.scope,
            # A relative path is relative to the shell's folder, which the engine does not know.
            "backup": os.path.abspath(arguments.backup) if is_file else arguments.backup,
        }
        restored = _run_confirmed(arguments, "restore_backup", question, _removes_or_changes)
        if restored is None:
            return 1
        show_answer(arguments, restored, render_batches.format_restored(restored))
        return 0
    if not arguments.id:
        raise InvalidRequest("give a memory's id, or --backup latest (or a date) for all memories of a scope")
    if arguments.dry_run:
        raise InvalidRequest(
            "--dry-run is for --backup; `rag-ls show ID --history` shows what a memory's id would restore"
        )
    answer = ask(arguments, "restore_memory", {"id": arguments.id, "version": arguments.version})
    show_answer(arguments, answer, f"restored {answer['id']} (version {answer['version']}, {answer['scope']})")
    return 0


def consolidate(arguments: argparse.Namespace) -> int:
    """Merge memories that say the same, show what would be merged, or undo it."""
    question: Json = {"scope": arguments.scope, "threshold": arguments.threshold, "ids": arguments.merge}
    if arguments.undo is not None:
        question = {"scope": arguments.scope, "undo": arguments.undo or True}
    answer = _run_confirmed(
        arguments, "consolidate_memories", question, lambda data: bool(data.get("merges") or data.get("restored"))
    )
    if answer is None:
        return 1
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
    answer = _run_confirmed(arguments, "summarize_memories", question, lambda data: "replaces" in data)
    if answer is None:
        return 1
    show_answer(arguments, answer, render_batches.summary(answer))
    return 0


def stats(arguments: argparse.Namespace) -> int:
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
        show_answer(arguments, answer, f"exported {count_of(answer['exported'], 'memory')} to {answer['output']}")
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
        question["input"] = os.path.abspath(arguments.input)
        answer = _run_confirmed(arguments, "import_memories", question, _changes_anything)
    else:
        with tempfile.NamedTemporaryFile(suffix=".memories") as file:
            while block := sys.stdin.buffer.read(1 << 20):
                file.write(block)
            file.flush()
            question["input"] = file.name
            answer = _run_confirmed(arguments, "import_memories", question, _changes_anything)
    if answer is None:
        return 1
    show_answer(arguments, answer, render_batches.format_imported(answer))
    return 0


def _run_confirmed(
    arguments: argparse.Namespace, operation: str, question: Json, is_grave: Callable[[Json], bool]
) -> Json | None:
    """Run an operation, but first show what it would do and ask, if that `is_grave`; None if the answer is no.

    With `--dry-run`, only show what it would do.
    """
    if getattr(arguments, "dry_run", False):
        return ask(arguments, operation, {**question, "dry_run": True})
    if not arguments.yes and is_grave(preview := ask(arguments, operation, {**question, "dry_run": True})):
        if not arguments.json:
            print(render_batches.preview(operation, preview))
        if not ask_to_confirm("do it?", "nothing was changed"):
            return None
        # Name the change or backup that the preview showed, because a newer one may have come since.
        pinned = {"undo": "id", "restore_backup": "backup"}.get(operation)
        if pinned:
            question = {**question, pinned: preview[pinned]}
    return ask(arguments, operation, question)


def _removes_or_changes(preview: Json) -> bool:
    return bool(preview["changes"]["replaced"] or preview["changes"]["deleted"])


def _changes_anything(preview: Json) -> bool:
    return bool(preview["changes"]["inserted"]) or _removes_or_changes(preview)


def tags_of(arguments: argparse.Namespace) -> Sequence[str]:
    """The tags of repeated `--tag` options, and of the comma-separated list `--tags`."""
    listed = arguments.tag_list.split(",") if arguments.tag_list else []
    return [*arguments.tags, *(tag.strip() for tag in listed if tag.strip())]


def _read_place(at: str) -> Json:
    """The place that `--at` means. A relative path is relative to the shell's folder, not to the project's root."""
    if not at:
        return {}
    written, *meant = meanings_of(at, os.path.basename(os.getcwd()))
    if not meant[0].path.strip():
        raise InvalidRequest(f"--at {at!r} names no file: write FILE or FILE:LINE")
    known = (place for place in (written, *meant) if os.path.isfile(place.path))
    place = next(known, None) or next((place for place in meant if place.first), meant[0])
    return {"source_file": os.path.abspath(place.path), "line": place.first or None}
