"""Texts about changes of many memories: what would be done, what was done, and how to take it back."""

from __future__ import annotations

from typing import Any

from rag_ls.cli import render
from rag_ls.util.text import count_of

Json = dict[str, Any]

_DONE = (("inserted", "came back"), ("replaced", "changed"), ("deleted", "went"))
_WOULD = (("inserted", "would come back"), ("replaced", "would change"), ("deleted", "would go"))


def preview(operation: str, data: Json) -> str:
    """The changes that an operation would make, as text."""
    if operation == "consolidate_memories":
        return render.consolidation(data)
    if operation == "summarize_memories":
        return summary(data)
    if operation == "import_memories":
        return format_imported(data)
    if operation == "restore_backup":
        return format_restored(data)
    if operation == "undo":
        return undone(data)
    unknown = [f"no memory has the id {missing!r}" for missing in data.get("missing", ())]
    return "\n".join([*unknown, changes(data["changes"])])


def changes(data: Json) -> str:
    """The memories that a change inserted, replaced and deleted (or would), and how to take it back."""
    lines = []
    for key, word in _WOULD if data["dry_run"] else _DONE:
        if count := data[key]:
            shown = data[f"{key}_memories"]
            lines.append(f"{count:,} {word}:")
            lines += [f"  {_format_name(item)}" for item in shown]
            lines += [f"  ... and {count - len(shown):,} more"] if count > len(shown) else []
    return "\n".join([*(lines or ["nothing to change"]), *_way_back(data["undo"])])


def format_restored(data: Json) -> str:
    """The outcome of restoring a backup, or a preview of it."""
    if data["moved_aside"]:
        aside = f"the damaged file is now {data['moved_aside']}"
        return f"restored {data['backup']}: {count_of(data['inserted'], 'memory')} came back; {aside}"
    head = f"{'would restore' if data['changes']['dry_run'] else 'restored'} {data['backup']}:"
    return f"{head}\n{changes(data['changes'])}"


def format_imported(data: Json) -> str:
    """The outcome of an import, or a preview of it."""
    done = data["changes"]
    lines = [
        f"{'would import' if done['dry_run'] else 'imported'} {data['inserted']:,} new and {data['updated']:,} changed "
        f"memories into the scope {data['scope']}; {data['unchanged']:,} were there already, {data['duplicates']:,} say "
        "what another one says"
    ]
    if done["dry_run"]:
        lines += [f"  {_format_name(item)}" for item in done["inserted_memories"]]
        lines += ["  ..."] if done["inserted"] > len(done["inserted_memories"]) else []
    if done["replaced"]:
        word = "would be written over:" if done["dry_run"] else "were written over:"
        lines.append(f"{done['replaced']:,} {word}")
        lines += [f"  {_format_name(item)}" for item in done["replaced_memories"]]
        lines += ["  ..."] if done["replaced"] > len(done["replaced_memories"]) else []
    return "\n".join([*lines, *_way_back(done["undo"])])


def summary(data: Json) -> str:
    """A summary with what became of it, or a preview of it."""
    if data["status"] == "preview":
        lines = [data["summary"], "", f"(of {count_of(data['count'], 'memory')}; not stored)"]
        lines += [f"it would replace {_format_name(data['replaces'])}"] if "replaces" in data else []
        return "\n".join(lines)
    lines = [data["summary"], "", f"({data['status']} {data['id']}, of {count_of(data['count'], 'memory')})"]
    lines += [f"it replaced {_format_name(data['replaces'])}"] if "replaces" in data else []
    return "\n".join([*lines, *_way_back(data.get("undo", ""))])


def undone(data: Json) -> str:
    """The changes that an undo took back, or would take back, as text."""
    would = data["changes"]["dry_run"]
    where = f" in {data['project']}" if data["project"] else ""
    lines = [
        f"{'would take' if would else 'took'} back what was {data['kind']} at {data['at']}{where}:",
        changes(data["changes"]),
    ]
    if data["kept"]:
        ids = ", ".join(memory_id[:8] for memory_id in data["kept"])
        stay = count_of(len(data["kept"]), "memory stays as it is", "memories stay as they are")
        lines.append(f"{stay}, because that or others were changed since: {ids}")
    return "\n".join(lines)


def _format_name(item: Json) -> str:
    return f"{item['id'][:8]}  {item['content']}"


def _way_back(batch_id: str) -> list[str]:
    return [f"`rag-ls undo {batch_id}` takes it back"] if batch_id else []
