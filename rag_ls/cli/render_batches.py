"""Texts about changes of many memories: what would be done, what was done, and how to take it back."""

from __future__ import annotations

from typing import Any

from rag_ls.util.text import count_of

Json = dict[str, Any]

_DONE = (("inserted", "came back"), ("replaced", "changed"), ("deleted", "went"))
_WOULD = (("inserted", "would come back"), ("replaced", "would change"), ("deleted", "would go"))


def format_deleted(data: Json) -> str:
    """A preview of a deletion."""
    unknown = [f"no memory has the id {missing!r}" for missing in data.get("missing", ())]
    return "\n".join([*unknown, changes(data["changes"])])


def changes(data: Json) -> str:
    """The memories that a change inserted, replaced and deleted (or would), and how to take it back."""
    lines = []
    for key, word in _WOULD if data["dry_run"] else _DONE:
        if count := data[key]:
            lines += [f"{count:,} {word}:", *_name_some(data, key)]
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
    head = (
        f"{'would import' if done['dry_run'] else 'imported'} {data['inserted']:,} new and {data['updated']:,} changed "
        f"memories into the scope {data['scope']}; {data['unchanged']:,} were there already, {data['duplicates']:,} say "
        "what another one says"
    )
    lines = [head, *(_name_some(done, "inserted") if done["dry_run"] else ())]
    if done["replaced"]:
        word = "would be written over:" if done["dry_run"] else "were written over:"
        lines += [f"{done['replaced']:,} {word}", *_name_some(done, "replaced")]
    return "\n".join([*lines, *_way_back(done["undo"])])


def summary(data: Json) -> str:
    """A summary with what became of it, or a preview of it."""
    is_preview = data["status"] == "preview"
    became = "not stored)" if is_preview else f"{data['status']} {data['id']})"
    replaces = "it would replace" if is_preview else "it replaced"
    lines = [data["summary"], "", f"(of {count_of(data['count'], 'memory')}; {became}"]
    lines += [f"{replaces} {_format_name(data['replaces'])}"] if "replaces" in data else []
    return "\n".join([*lines, *_way_back(data.get("undo", ""))])


def undone(data: Json) -> str:
    """The changes that an undo took back, or would take back, as text."""
    where = f" in {data['project']}" if data["project"] else ""
    would = "would take" if data["changes"]["dry_run"] else "took"
    lines = [f"{would} back what was {data['kind']} at {data['at']}{where}:", changes(data["changes"])]
    if data["kept"]:
        ids = ", ".join(memory_id[:8] for memory_id in data["kept"])
        stay = count_of(len(data["kept"]), "memory stays as it is", "memories stay as they are")
        lines.append(f"{stay}, because that or others were changed since: {ids}")
    return "\n".join(lines)


def _name_some(done: Json, kind: str) -> list[str]:
    """The memories that an answer names of those that a change inserted, replaced or deleted."""
    named = [f"  {_format_name(item)}" for item in done[f"{kind}_memories"]]
    more = done[kind] - len(named)
    return [*named, *([f"  ... and {more:,} more"] if more > 0 else ())]


def _format_name(item: Json) -> str:
    return f"{item['id'][:8]}  {item['content']}"


def _way_back(batch_id: str) -> list[str]:
    return [f"`rag-ls undo {batch_id}` takes it back"] if batch_id else []
