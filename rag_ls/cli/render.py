"""Answers as text for people."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from rag_ls.cli.terminal import FAINT, NAME, PLACE, PLAIN, WARNING, Paint
from rag_ls.cli.wording import in_words_of_the_shell
from rag_ls.util.text import count_of, fold

Json = dict[str, Any]

_MAX_COLUMNS = 110
_MAX_LATENCIES = 5
ALL_IN_STATUS = "(`rag-ls status` shows index, memories, rules and engine together)"


def hit(data: Json, paint: Paint = PLAIN) -> str:
    """One chunk or memory, complete."""
    if data["kind"] == "memory":
        return memory(data, paint)
    file = data.get("file", "")
    why = f"[{data.get('why') or '+'.join(data['matched_by'])}, {data['freshness']}]"
    place = f"{path_from_here(data)}:{data['start_line']}-{data['end_line']}"
    parts = [(f"{data['score']:.2f}", FAINT, ""), (place, PLACE, link_of(file)), (data["symbol"], NAME, "")]
    head = flowing([*parts, (why, FAINT, ""), (data["id"], FAINT, "")], paint)
    shown = textwrap.dedent(data.get("text", "").strip("\n"))
    note = [f"({in_words_of_the_shell(data['note'])})"] if data.get("note") else []
    return "\n".join([*head, *(f"    {line}" for line in paint.code(shown, data["language"])), *note])


def link_of(file: str) -> str:
    """The address of a file for terminals; empty for a document that is no file."""
    return Path(file).as_uri() if os.path.isabs(file) else ""


def path_from_here(data: Json) -> str:
    """The path of a hit on one line, whatever its name holds."""
    path = file_from_here(data)
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in path)


def file_from_here(data: Json) -> str:
    """The path of a hit as an editor or shell opens it: from the present folder, if it is in or beside the project."""
    file: str = data.get("file", "")
    return min(os.path.relpath(file), file, key=len) if os.path.isabs(file) else str(data["path"])


def flowing(parts: Sequence[tuple[str, str, str]], paint: Paint) -> list[str]:
    """Texts with their styles and links in a line, or in several where the terminal is too narrow for one."""
    lines: list[list[str]] = [[]]
    room = paint.width
    for text, style, link in parts:
        if not text:
            continue
        if lines[-1] and paint.width and len(text) + 2 > room:
            lines.append([])
            room = paint.width - 4
        lines[-1].append(paint.style(text, style, link))
        room -= len(text) + 2
    return [("    " if number else "") + "  ".join(line) for number, line in enumerate(lines)]


def memory(data: Json, paint: Paint = PLAIN, *, has_whole_id: bool = True) -> str:
    """One memory; in a list its id's first eight characters tell it from others."""
    score = f"{data['score']:.2f}" if "score" in data else ""
    tags = " ".join(f"#{tag}" for tag in data["metadata"].get("tags", ()))
    name = f"memory {data['id'] if has_whole_id else data['id'][:8]}"
    parts = [(score, FAINT), (name, NAME), (data["scope"], FAINT), (data["updated_at"][:10], FAINT), (tags, FAINT)]
    about = [place_of(data["anchor"], paint)] if data.get("anchor") else []
    about += [f"on branch {data['branch']}"] if data.get("branch") else []
    if data.get("deleted_at"):
        restored = f"`rag-ls restore {data['id'][:8]}` brings it back"
        about.append(f"{data['reason']} {_format_minute(data['deleted_at'])}; {restored}")
    content = wrap_lines(data["content"], min(_MAX_COLUMNS, paint.width - 4) if paint.width > 24 else _MAX_COLUMNS)
    former = [line for item in data.get("history", ()) for line in _version(item)]
    return "\n".join(
        [*flowing([(*part, "") for part in parts], paint), *(f"    {line}" for line in (*about, *content)), *former]
    )


def wrap_lines(text: str, columns: int) -> list[str]:
    """The lines of a text, each in as many rows as it needs."""
    return [row for line in text.split("\n") for row in textwrap.wrap(line, columns) or [""]]


def place_of(anchor: Json, paint: Paint) -> str:
    """The place that a memory is about, and how that stands."""
    renamed = f"; {anchor['former_symbol']} is now {anchor.get('symbol', 'gone')}" if "former_symbol" in anchor else ""
    # A memory about a whole file has no line.
    place = paint.style(f"{anchor['path']}:{anchor['line']}" if "line" in anchor else anchor["path"], PLACE)
    state = paint.style(f"({anchor['state']}{renamed})", FAINT if anchor["state"] == "fresh" else WARNING)
    return f"at {place} {state}"


def _version(data: Json) -> list[str]:
    head = f"  version {data['version']}, {data['reason']} {_format_minute(data['replaced_at'])}:"
    return [head, *(f"    {line}" for line in textwrap.wrap(data["content"], _MAX_COLUMNS))]


def _format_minute(stamp: str) -> str:
    return stamp[:16].replace("T", " ")


def format_stored(data: Json) -> str:
    """The outcome of storing a memory, and similar memories that existed already."""
    lines = [f"{data['status']} {data['id']} ({data['scope']})"]
    known = data.get("known", ())
    if opposed := [item for item in known if item.get("contradicts")]:
        lines.append("it may contradict what is known; if so, update or delete one of them:")
        lines += [f"  {_format_brief(item)}  ({item['contradicts']})" for item in opposed]
    if alike := [item for item in known if item not in opposed]:
        lines.append("known already (`rag-ls update ID` changes one, `rag-ls consolidate` merges what says the same):")
        lines += [f"  {_how_alike(item)}{_format_brief(item)}" for item in alike]
    return "\n".join(lines)


def _format_brief(data: Json) -> str:
    return f"{data['id'][:8]}  {data['content']}"


def _how_alike(data: Json) -> str:
    """The figures of a memory that says much the same; none where no model has compared them."""
    cosine = f" (cosine {data['cosine']:.2f})" if "cosine" in data else ""
    return f"{data['similarity']:.2f}{cosine}  " if "similarity" in data else ""


def consolidation(data: Json) -> str:
    """The merges of a consolidation or of its dry run, and its other findings."""
    if "restored" in data:
        head = "would bring back:" if data.get("dry_run") else "brought back:"
        return "\n\n".join([head, *map(memory, data["restored"])])
    count = count_of(len(data["merges"]), "group")
    lines = [f"{'would merge' if data['dry_run'] else 'merged'} {count} of memories that say the same"]
    for item in data["merges"]:
        lines.append(f"  keep  {_format_brief(item['kept'])}")
        lines += [f"  into it  {_format_brief(gone)}" for gone in item["merged"]]
    if data["proposals"]:
        lines.append("these may say the same; `rag-ls consolidate --merge ID ID` makes one of them:")
    for item in data["proposals"]:
        lines += [f"  cosine {item['cosine']:.2f}", *(f"    {_format_brief(side)}" for side in item["memories"])]
    if data["contradictions"]:
        lines.append("these may contradict each other; if so, update or delete one of each pair:")
    for item in data["contradictions"]:
        lines += [f"  {item['reason']}", *(f"    {_format_brief(side)}" for side in item["memories"])]
    if data["never_recalled"]:
        lines.append("never recalled in 30 days and more:")
        lines += [f"  {_format_brief(item)}" for item in data["never_recalled"]]
    return "\n".join([*lines, *(["`rag-ls consolidate --undo` takes it back"] if data["undo"] else [])])


def stats(data: Json) -> str:
    """Figures of each scope."""
    parts = []
    for scope, figures in data["scopes"].items():
        if scope == "session" and not figures["memories"]:
            continue
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in figures["types"].items()) or "none"
        tags = ", ".join(f"{tag} {count:,}" for tag, count in figures["tags"].items())
        lines = [
            f"{scope}: {count_of(figures['memories'], 'memory')} ({kinds}), {count_of(figures['bytes'], 'byte')}",
            f"  about code {figures['anchored']:,}, never recalled {figures['never_recalled']:,}",
        ]
        parts.append("\n".join([*lines, *([f"  tags: {tags}"] if tags else [])]))
    return "\n".join([*parts, ALL_IN_STATUS])


def memories(data: Json, paint: Paint = PLAIN) -> str:
    """A page of memories."""
    if not data["memories"]:
        return "; ".join(filter(None, ["no memories", data.get("hint", "")]))
    shown = "\n\n".join(memory(item, paint, has_whole_id=False) for item in data["memories"])
    rest = data["total"] - data["offset"] - len(data["memories"])
    return f"{shown}\n\n({rest} more)" if rest > 0 else shown


def _describe_index(data: Json) -> str:
    if data["complete"]:
        return "complete"
    percent, files, chunks = data["indexed_percent"], data["queued_documents"], data["pending_embeddings"]
    if not (files or chunks):
        return "not complete: the note below says why"
    meaning = f", by meaning {percent['vectors']} %" if data["model"] or chunks else ""
    left = ((files, "file", "to read"), (chunks, "chunk", "to embed"))
    told = ", ".join(f"{count_of(count, name)} {what}" for count, name, what in left if count)
    return f"found by words {percent['words']} %{meaning}; not complete: {told}"


def _describe_activity(data: Json) -> str:
    is_waiting = data["queued_documents"] or data["pending_embeddings"]
    if is_waiting and data["activity"] in ("idle", "cancelled"):
        return "idle: `rag-ls index` goes on, or an editor or agent that opens the project"
    return "" if data["complete"] else str(data["activity"])


def status(data: Json, paint: Paint = PLAIN) -> str:
    """The state of a project."""
    skipped = ", ".join(f"{count:,} {reason}" for reason, count in data["skipped"].items())
    entries = [
        ("project", fold(data["root"])),
        ("index", _describe_index(data)),
        ("contents", f"{count_of(data['documents'], 'file')} in {count_of(data['chunks'], 'chunk')}"),
        ("skipped", skipped or "none"),
        *(("", f"{item['path']}: {item['reason']}") for item in data.get("skipped_files", ())),
        ("model", data["model"] or "none"),
        ("memories", _memory_counts(data)),
        ("rules", _rules(data["rules"]) if data.get("rules") else ""),
        ("activity", _describe_activity(data)),
        ("sync", f"{data['sync']}, last {_clock(data.get('last_sync'))}" if data.get("sync") else ""),
        ("trust", data.get("trust")),
        ("note", data.get("note")),
        *(_engine(data["engine"]) if data.get("engine") else ()),
        *(("also open", _in_short(each)) for each in data.get("projects", ()) if each["root"] != data["root"]),
    ]
    return "\n".join(f"{paint.style(f'{name:<10}', FAINT)}{text}" for name, text in entries if text)


def _memory_counts(data: Json) -> str:
    figures = data.get("memory_figures", {}).get("scopes", {})
    parts = []
    for scope, count in data["memories"].items():
        if scope == "session":
            continue
        more = [
            f"{figures[scope][key]:,} {words}"
            for key, words in (("anchored", "about code"), ("never_recalled", "never recalled"))
            if figures.get(scope, {}).get(key)
        ]
        parts.append(f"{count:,} {scope}" + (f" ({', '.join(more)})" if more else ""))
    return ", ".join(parts)


def _rules(data: Json) -> str:
    counts = data["collectionCounts"] or {}
    kinds = [name for name in ("constraints", "patterns") if counts.get(name)]
    if kinds or data["initialized"]:
        return ", ".join(f"{count_of(counts[name], 'section')} of {name}" for name in kinds) or "set up, and empty"
    return "none: `rag-ls rules setup` writes some from the code"


def _engine(data: Json) -> Iterator[tuple[str, str]]:
    if data["mode"] == "standalone":
        yield "\nengine    ", f"none is shared; this command worked alone (PID {data['pid']})"
        return
    size = f"{data['memory_bytes'] / 1_000_000:,.0f} MB"
    yield "\nengine    ", f"PID {data['pid']}, up {_duration(data['uptime_s'])}, {size}, at {data['address']}"
    yield "models", ", ".join(model["model"] for model in data["models"])
    yield "log", data["log"]
    for client in data["clients"]:
        who = " ".join(part for part in (client["surface"], client["name"]) if part)
        process = f", PID {client['pid']}" if client["pid"] else ""
        yield "client", f"{who}{process}, since {_clock(client['connected_at'])}"
    # Those that are asked for most; `--json` has all.
    often = sorted(data["latency"].items(), key=lambda item: -item[1]["count"])[:_MAX_LATENCIES]
    for name, times in often:
        spread = " / ".join(f"{times[key]:,.0f}" for key in ("p50_ms", "p95_ms", "p99_ms"))
        yield "latency", f"{name}: {spread} ms (p50 / p95 / p99 of {times['count']:,})"


def _in_short(project: Json) -> str:
    todo = project["queued_documents"] + project["pending_embeddings"]
    state = f"{todo:,} to do" if todo else "nothing to do"
    return f"{fold(project['root'])}: {count_of(project['chunks'], 'chunk')}, {state}, {count_of(project['clients'], 'client')}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _clock(stamp: str | None) -> str:
    """The local time of day of an RFC 3339 stamp."""
    return f"{datetime.fromisoformat(stamp).astimezone():%H:%M:%S}" if stamp else "never"
