"""The verbs on memories: each asks one operation and prints its answer."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from types import SimpleNamespace

from rag_ls.cli.backend import Json, ask, question_of
from rag_ls.cli.render import format_values, render_memory
from rag_ls.cli.terminal import ask_to_confirm, paint, print_notes, show_answer
from rag_ls.errors import InvalidRequest
from rag_ls.util.paths import meanings_of
from rag_ls.util.processes import given_text
from rag_ls.util.text import count_of

_STDIO = "-"
# The same number as in `operations/memories/listing.py`.
_MAX_LISTED = 1000
_CHANGES = (("inserted", "came back", "come back"), ("replaced", "changed", "change"), ("deleted", "went", "go"))


def add(arguments: SimpleNamespace) -> int:
    """Store a memory."""
    if (content := _read_content(arguments)) is None:
        raise InvalidRequest("give the text to remember, or - to read it from standard input")
    branch = True if arguments.branch == "" else arguments.branch
    metadata = {"tags": _read_tags(arguments), "importance_score": arguments.importance, "branch": branch}
    metadata["supersedes"] = arguments.supersedes
    new = {
        "content": content,
        "scope": arguments.scope or "project",
        "memory_type": arguments.memory_type,
        "force": arguments.force,
        "metadata": metadata | _read_place(arguments.at),
    }
    answer = ask(arguments, values=new)
    return show_answer(arguments, answer, format_stored(answer))


def format_stored(data: Json) -> str:
    """Return the outcome of storing a memory, and similar memories that existed already."""
    lines, known = [f"{data['status']} {data['id']} ({data['scope']})"], data.get("known", ())
    if opposed := [item for item in known if item.get("contradicts")]:
        lines.append("it may contradict what is known; if so, update or delete one of them:")
        lines += [f"  {_name_memory(item)}  ({item['contradicts']})" for item in opposed]
    if alike := [item for item in known if item not in opposed]:
        lines.append("known already (`rag-ls update ID` changes one, `rag-ls consolidate` merges what says the same):")
        lines += map(_indent_name, alike)
    return "\n".join(lines)


def list_memories(arguments: SimpleNamespace) -> int:
    """List memories, a page at a time."""
    if arguments.k is not None and arguments.k > _MAX_LISTED:
        raise InvalidRequest(f"-k {arguments.k}: at most {_MAX_LISTED:,} are listed at once; --offset goes on")
    answer = ask(arguments, values=question_of(arguments) | {"tags": _read_tags(arguments)})
    found, style = answer["memories"], paint()
    shown = [render_memory(item, style, is_brief=True) for item in found] or [
        "; ".join(filter(None, ["no memories", answer.get("hint", "")]))
    ]
    rest = answer["total"] - answer["offset"] - len(found)
    show_answer(arguments, answer, "\n\n".join([*shown, *([f"({rest} more)"] if found and rest > 0 else ())]))
    print_notes("" if arguments.json else answer.get("happened"), answer.get("note"))
    return 1 if "note" in answer else 0


def update(arguments: SimpleNamespace) -> int:
    """Change a memory, or confirm it."""
    content, tags = _read_content(arguments), _read_tags(arguments)
    given = {"tags": tags, "importance_score": arguments.importance, "memory_type": arguments.memory_type}
    given["supersedes"] = arguments.supersedes
    metadata = _read_place(arguments.at) | {key: value for key, value in given.items() if value not in (None, [])}
    if arguments.promote:
        metadata["branch"] = None
    if content is None and not metadata and not arguments.confirm:
        raise InvalidRequest("say what to change (--content, --tags, ...), or --confirm that it still holds")
    change: Json = {"id": arguments.id, "expected_version": arguments.expected_version, "force": arguments.force}
    changed = {"content": content, "metadata": metadata}
    answer = ask(arguments, values=change | {key: value for key, value in changed.items() if value not in (None, {})})
    back = f"; `rag-ls restore {answer['id'][:8]}` takes it back" if answer["status"] == "updated" else ""
    return show_answer(arguments, answer, f"{answer['status']} {answer['id']} (version {answer['version']}){back}")


def delete(arguments: SimpleNamespace) -> int:
    """Delete memories, or erase them for good."""
    if len(arguments.id) == 1 and not arguments.purge:
        answer = ask(arguments, values={"id": arguments.id[0]})
        return show_answer(arguments, answer, f"deleted {answer['id']}; `rag-ls undo` brings it back")
    question = {"ids": arguments.id, "purge": arguments.purge}
    outcome = _run_confirmed(arguments, question, _format_batch, _removes_or_changes, "delete_memories")
    if outcome is None:
        return 1
    show_answer(arguments, outcome, _format_batch({"changes": outcome["changes"]}))
    unknown = [f"no memory has the id {missing!r}; `rag-ls list` shows the ids" for missing in outcome["missing"]]
    held = [
        f"{file} cannot be changed and still holds them: delete it yourself" for file in outcome.get("still_held", ())
    ]
    print_notes(*unknown, *held)
    return 1 if unknown or held else 0


def undo(arguments: SimpleNamespace) -> int:
    """Undo the latest change of many memories."""
    return _show_confirmed(arguments, question_of(arguments), _format_batch)


def restore(arguments: SimpleNamespace) -> int:
    """Bring back a memory's former version, or a whole backup."""
    if arguments.backup:
        # A relative path is relative to the shell's folder, which the engine does not know.
        named = os.path.abspath(arguments.backup) if os.path.isfile(arguments.backup) else arguments.backup
        question = {"scope": arguments.scope, "backup": named}
        return _show_confirmed(arguments, question, _format_batch, _removes_or_changes)
    if not arguments.id:
        raise InvalidRequest("give a memory's id, or --backup latest (or a date) for all memories of a scope")
    if arguments.dry_run:
        hint = "`rag-ls show ID --history` shows what a memory's id would restore"
        raise InvalidRequest(f"--dry-run is for --backup; {hint}")
    answer = ask(arguments, "restore_memory", {"id": arguments.id, "version": arguments.version})
    text = f"restored {answer['id']} (version {answer['version']}, {answer['scope']})"
    return show_answer(arguments, answer, text)


def consolidate(arguments: SimpleNamespace) -> int:
    """Merge memories that say the same, show what would be merged, or undo it."""
    if arguments.id and not arguments.merge:
        raise InvalidRequest("ids are for --merge: `rag-ls consolidate --merge ID ID`")
    question: Json = {"scope": arguments.scope, "undo": arguments.undo or True}
    if arguments.undo is None:
        ids = [*arguments.merge, *arguments.id]
        question = {"scope": arguments.scope, "threshold": arguments.threshold, "ids": ids}
    return _show_confirmed(
        arguments, question, _format_consolidation, lambda data: bool(data.get("merges") or data.get("restored"))
    )


def _format_consolidation(data: Json) -> str:
    """Return the merges of a consolidation, or of its preview, and its other findings."""
    remedies = {
        "proposals": "`rag-ls consolidate --merge ID ID` makes one memory of a proposal",
        "contradictions": "of a contradiction, update or delete one",
        "undo": "`rag-ls consolidate --undo` takes it back",
    }
    head = [] if data.get("merges") or data.get("restored") else ["no memories say the same"]
    return "\n".join([*head, *format_values(data), *(remedy for key, remedy in remedies.items() if data.get(key))])


def summarize(arguments: SimpleNamespace) -> int:
    """Summarise the memories of a time, and keep the summary."""
    time_range = {"start": arguments.start, "end": arguments.end}
    question = question_of(arguments) | {"time_range": time_range, "tags": _read_tags(arguments)}
    return _show_confirmed(arguments, question, _format_batch, lambda data: "replaces" in data)


def export(arguments: SimpleNamespace) -> int:
    """Write memories to a file, or to standard output."""
    question: Json = {"scope": arguments.scope, "format": arguments.format, "embeddings": arguments.embeddings}
    if tags := _read_tags(arguments):
        question["filters"] = {"tags": tags, "branch": "*"}
    if arguments.output != _STDIO:
        answer = ask(arguments, values={**question, "output": os.path.abspath(arguments.output)})
        text = f"exported {count_of(answer['exported'], 'memory')} to {answer['output']}"
        return show_answer(arguments, answer, text)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "memories.json")
        ask(arguments, values={**question, "output": file})
        with open(file, "rb") as stream:
            shutil.copyfileobj(stream, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    return 0


def import_memories(arguments: SimpleNamespace) -> int:
    """Import memories from a file, or from standard input."""
    with contextlib.ExitStack() as opened:
        name = os.path.abspath(arguments.input)
        if arguments.input == _STDIO:
            file = opened.enter_context(tempfile.NamedTemporaryFile(suffix=".memories"))
            shutil.copyfileobj(sys.stdin.buffer, file)
            file.flush()
            name = file.name
        question = question_of(arguments) | {"input": name}
        return _show_confirmed(
            arguments, question, _format_batch,
            lambda data: bool(data["changes"]["inserted"]) or _removes_or_changes(data),
        )  # fmt: skip


# --- changes of many memories: shown, confirmed, made


def _show_confirmed(
    arguments: SimpleNamespace,
    question: Json,
    to_text: Callable[[Json], str],
    is_grave: Callable[[Json], bool] = lambda _: True,
) -> int:
    """Run a verb's operation as `_run_confirmed` does, and show its answer."""
    answer = _run_confirmed(arguments, question, to_text, is_grave)
    return 1 if answer is None else show_answer(arguments, answer, to_text(answer))


def _run_confirmed(
    arguments: SimpleNamespace,
    question: Json,
    to_text: Callable[[Json], str],
    is_grave: Callable[[Json], bool],
    operation: str = "",
) -> Json | None:
    """Run an operation; if its preview `is_grave`, show the preview and ask first. None if the user says no.

    With `--dry-run`, only show what it would do.
    """
    if getattr(arguments, "dry_run", False):
        return ask(arguments, operation, {**question, "dry_run": True})
    if not arguments.yes and is_grave(preview := ask(arguments, operation, {**question, "dry_run": True})):
        if not arguments.json:
            print(to_text(preview))
        if not ask_to_confirm("do it?", "nothing was changed"):
            return None
        # Name the change or backup that the preview showed, because a newer one may have come since.
        question |= {name: preview[name] for name in ("id", "backup") if name in question}
    return ask(arguments, operation, question)


def _removes_or_changes(preview: Json) -> bool:
    return bool(preview["changes"]["replaced"] or preview["changes"]["deleted"])


def _format_batch(data: Json) -> str:
    """Return the outcome or preview of a change of many memories, with the memories and the command that undoes it."""
    changes, missing = data.get("changes") or {}, data.get("missing", ())
    lines = [f"no memory has the id {each!r}" for each in missing]
    lines += format_values({key: value for key, value in data.items() if key not in ("changes", "missing", "undo")})
    for key, done, to_do in _CHANGES if changes else ():
        if count := changes[key]:
            named = changes[f"{key}_memories"]
            lines += [f"{count:,} {f'would {to_do}' if changes['dry_run'] else done}:", *map(_indent_name, named)]
            lines += [f"  ... and {count - len(named):,} more"] if count > len(named) else []
    if changes and not any(changes[key] for key, _, _ in _CHANGES):
        lines.append("nothing to change")
    batch_id = (changes or data).get("undo", "")
    return "\n".join([*lines, *([f"`rag-ls undo {batch_id}` takes it back"] if batch_id else [])])


def _name_memory(item: Json) -> str:
    return f"{item['id'][:8]}  {item['content']}"


def _indent_name(item: Json) -> str:
    return f"  {_name_memory(item)}"


# --- options


def _read_tags(arguments: SimpleNamespace) -> list[str]:
    """Return the tags of repeated `--tag` options, and of the comma-separated list `--tags`."""
    listed = (arguments.tag_list or "").split(",")
    return [*arguments.tags, *(tag.strip() for tag in listed if tag.strip())]


def _read_content(arguments: SimpleNamespace) -> str | None:
    given = arguments.content if arguments.text is None else arguments.text
    return None if given is None else given_text(given)


def _read_place(at: str) -> Json:
    """Return the place that `--at` means. A relative path is relative to the shell's folder, not to the project's root."""
    if not at:
        return {}
    folder = os.path.basename(os.getcwd())
    place = next((each for each in meanings_of(at, folder) if os.path.isfile(each.path)), None)
    if place is None:
        _, whole, *others = meanings_of(at, folder)
        if not whole.path.strip():
            raise InvalidRequest(f"--at {at!r} names no file: write FILE or FILE:LINE")
        place = next((each for each in others if each.first), whole)
    return {"source_file": os.path.abspath(place.path), "line": place.first or None}
