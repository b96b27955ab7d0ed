"""Answers as text for people."""

from __future__ import annotations

import textwrap
from datetime import datetime
from typing import Any

Json = dict[str, Any]

_SNIPPET_LINES = 6
_WIDTH = 110


def answer(data: Json) -> str:
    """Search results, each with its place, score and first lines."""
    parts = [hit(result, lines=_SNIPPET_LINES) for result in data["results"]]
    if not parts:
        parts = ["nothing found"]
    stats = data["stats"]
    if not stats.get("complete", True):
        missing = [
            f"{stats[key]:,} {name}"
            for key, name in (("pending_documents", "files"), ("pending_embeddings", "embeddings"))
            if stats.get(key)
        ]
        left = " and ".join(missing) or "files were not compared yet"
        goes_on = "are missing, and nothing makes them now: `rag-ls index` does" if stats.get("idle") else "to come"
        parts.append(f"(the index is not complete: {left} {goes_on})")
    if stats.get("note"):
        parts.append(f"({stats['note']})")
    return "\n\n".join(parts)


def hit(data: Json, *, lines: int | None = None) -> str:
    """One chunk or memory."""
    if data["kind"] == "memory":
        return memory(data)
    where = f"{data['path']}:{data['start_line']}-{data['end_line']}"
    why = "+".join(data["matched_by"])
    head = f"{data['score']:.2f}  {where}  {data['symbol']}  [{why}, {data['freshness']}]  {data['id']}"
    body = data["text"].strip("\n").split("\n")
    shown = body if lines is None else body[:lines]
    if len(shown) < len(body):
        shown = [*shown, "..."]
    return "\n".join([head, *(f"    {line}" for line in textwrap.dedent("\n".join(shown)).split("\n"))])


def memory(data: Json) -> str:
    """One memory."""
    score = f"{data['score']:.2f}  " if "score" in data else ""
    tags = " ".join(f"#{tag}" for tag in data["metadata"].get("tags", ()))
    head = f"{score}memory {data['id']}  {data['scope']}  {data['updated_at'][:10]}  {tags}".rstrip()
    anchor = data.get("anchor")
    about = [_about(anchor)] if anchor else []
    if data.get("branch"):
        about.append(f"    on branch {data['branch']}")
    if data.get("deleted_at"):
        when = data["deleted_at"][:16].replace("T", " ")
        about.append(f"    {data['reason']} {when}; `rag-ls restore {data['id'][:8]}` brings it back")
    content = [line for part in data["content"].split("\n") for line in textwrap.wrap(part, _WIDTH) or [""]]
    former = [line for item in data.get("history", ()) for line in _version(item)]
    return "\n".join([head, *about, *(f"    {line}" for line in content), *former])


def _about(anchor: Json) -> str:
    renamed = f"; {anchor['former_symbol']} is now {anchor['symbol']}" if "former_symbol" in anchor else ""
    return f"    at {anchor['path']}:{anchor.get('line', 1)} ({anchor['state']}{renamed})"


def _version(data: Json) -> list[str]:
    head = f"  version {data['version']}, {data['reason']} {data['replaced_at'][:16].replace('T', ' ')}:"
    return [head, *(f"    {line}" for line in textwrap.wrap(data["content"], _WIDTH))]


def stored(data: Json) -> str:
    """The outcome of storing a memory, and similar memories that existed already."""
    lines = [f"{data['status']} {data['id']} ({data['scope']})"]
    if known := data.get("known"):
        lines.append("known already:")
        lines += [
            f"  {item['similarity']:.2f} (cosine {item['cosine']:.2f})  {item['id'][:8]}  {item['content']}"
            for item in known
        ]
    return "\n".join(lines)


def consolidation(data: Json) -> str:
    """The merges of a consolidation or of its dry run, and its other findings."""
    if "restored" in data:
        return "\n\n".join(["brought back:", *(memory(item) for item in data["restored"])])
    verb = "would merge" if data["dry_run"] else "merged"
    count = len(data["merges"])
    lines = [f"{verb} {count} {'group' if count == 1 else 'groups'} of memories that say the same"]
    for item in data["merges"]:
        lines.append(f"  keep  {item['kept']['id'][:8]}  {item['kept']['content']}")
        lines += [f"  into it  {gone['id'][:8]}  {gone['content']}" for gone in item["merged"]]
    if data["contradictions"]:
        lines.append("these contradict each other; update or delete one of each pair:")
    for item in data["contradictions"]:
        lines.append(f"  {item['reason']}")
        lines += [f"    {side['id'][:8]}  {side['content']}" for side in item["memories"]]
    if data["never_recalled"]:
        lines.append("never recalled in 30 days and more:")
        lines += [f"  {item['id'][:8]}  {item['content']}" for item in data["never_recalled"]]
    if data["undo"]:
        lines.append("`rag-ls consolidate --undo` takes it back")
    return "\n".join(lines)


def stats(data: Json) -> str:
    """Figures of each scope."""
    parts = []
    for scope, figures in data["scopes"].items():
        if scope == "session" and not figures["memories"]:
            continue
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in figures["types"].items()) or "none"
        tags = ", ".join(f"{tag} {count:,}" for tag, count in figures["tags"].items())
        lines = [
            f"{scope}: {figures['memories']:,} memories ({kinds}), {figures['bytes']:,} bytes",
            f"  about code {figures['anchored']:,}, never recalled {figures['never_recalled']:,}",
        ]
        parts.append("\n".join([*lines, *([f"  tags: {tags}"] if tags else [])]))
    return "\n".join(parts)


def memories(data: Json) -> str:
    """A page of memories."""
    if not data["memories"]:
        return "no memories"
    shown = "\n\n".join(memory(item) for item in data["memories"])
    rest = data["total"] - data["offset"] - len(data["memories"])
    return f"{shown}\n\n({rest} more)" if rest > 0 else shown


def status(data: Json) -> str:
    """The state of a project."""
    if data["complete"]:
        state = "complete"
    elif data["queued_documents"] or data["pending_embeddings"]:
        percent = data["indexed_percent"]
        state = (
            f"found by words {percent['words']} %, by meaning {percent['vectors']} %; not complete: "
            f"{data['queued_documents']:,} files to read, {data['pending_embeddings']:,} chunks to embed"
        )
    else:
        state = "not complete: the files were not compared with the index yet"
    skipped = ", ".join(f"{count:,} {reason}" for reason, count in data["skipped"].items()) or "none"
    lines = [
        f"project   {data['root']}",
        f"index     {state}",
        f"contents  {data['documents']:,} files in {data['chunks']:,} chunks",
        f"skipped   {skipped}",
        f"model     {data['model'] or 'none'}",
        f"memories  {', '.join(f'{count} {scope}' for scope, count in data['memories'].items() if scope != 'session')}",
    ]
    if not data["complete"] and data["activity"] in ("idle", "cancelled"):
        lines.append("activity  idle: `rag-ls index` goes on, or an editor or agent that opens the project")
    elif not data["complete"]:
        lines.append(f"activity  {data['activity']}")
    if data.get("sync"):
        lines.append(f"sync      {data['sync']}, last {_clock(data.get('last_sync'))}")
    if data.get("note"):
        lines.append(f"note      {data['note']}")
    if data.get("engine"):
        lines += ["", *_engine(data["engine"])]
    others = [project for project in data.get("projects", ()) if project["root"] != data["root"]]
    lines += [f"also open {_in_short(project)}" for project in others]
    return "\n".join(lines)


def _engine(data: Json) -> list[str]:
    if data["mode"] == "standalone":
        return [f"engine    none is shared; this command worked alone (PID {data['pid']})"]
    memory_mb = data["memory_bytes"] / 1_000_000
    lines = [
        f"engine    PID {data['pid']}, up {_duration(data['uptime_s'])}, {memory_mb:,.0f} MB, at {data['address']}",
        f"models    {', '.join(model['model'] for model in data['models']) or 'none loaded yet'}",
        f"log       {data['log']}",
    ]
    for client in data["clients"]:
        who = " ".join(part for part in (client["surface"], client["name"]) if part)
        lines.append(f"client    {who}, PID {client['pid']}, since {_clock(client['connected_at'])}")
    for name, times in data["latency"].items():
        spread = f"{times['p50_ms']:,.0f} / {times['p95_ms']:,.0f} / {times['p99_ms']:,.0f} ms"
        lines.append(f"latency   {name}: {spread} (p50 / p95 / p99 of {times['count']:,})")
    return lines


def _in_short(project: Json) -> str:
    todo = project["queued_documents"] + project["pending_embeddings"]
    state = f"{todo:,} to do" if todo else "nothing to do"
    return f"{project['root']}: {project['chunks']:,} chunks, {state}, {project['clients']} clients"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _clock(stamp: str | None) -> str:
    """The local time of day of an RFC 3339 stamp."""
    return f"{datetime.fromisoformat(stamp).astimezone():%H:%M:%S}" if stamp else "never"
