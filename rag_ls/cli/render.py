"""Answers as text for people: places, chunks, memories, the state of a project, and the values of any other answer."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from rag_ls.cli.terminal import FAINT, NAME, PLACE, PLAIN, WARNING, Paint
from rag_ls.cli.verbs import in_words_of_the_shell
from rag_ls.util.text import count_of, fold

Json = dict[str, Any]

_MAX_COLUMNS = 110
_MAX_LATENCIES = 5
_MAX_BODY_LINES = 8


def link_of(file: str) -> str:
    """Return the address of a file for terminals; empty for a document that is no file."""
    return Path(file).as_uri() if os.path.isabs(file) else ""


def path_from_here(data: Json) -> str:
    """Return the path of a hit on one line, whatever its name holds."""
    path = file_from_here(data)
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in path)


def file_from_here(data: Json) -> str:
    """Return the path of a hit as an editor or shell opens it: from the present folder, if it is in or beside the project."""
    file: str = data.get("file", "")
    return min(os.path.relpath(file), file, key=len) if os.path.isabs(file) else str(data["path"])


def flow_parts(parts: Sequence[tuple[str, str, str]], paint: Paint) -> list[str]:
    """Return texts with their styles and links in a line, or in several where the terminal is too narrow for one."""
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


def format_values(answer: Any, indent: str = "") -> Iterator[str]:
    """Yield a line for each value of an answer that is not empty, and one for each plain record of a list."""
    below = f"{indent}  "
    for key, value in answer.items():
        name = f"{indent}{key.replace('_', ' ')}:"
        if value in (None, "", [], {}):
            continue
        if not isinstance(value, list | Mapping):
            yield f"{name} {value:,}" if type(value) is int else f"{name} {value}"
            continue
        yield name
        for each in [value] if isinstance(value, Mapping) else value:
            if each is value or (
                isinstance(each, Mapping) and any(isinstance(item, list | Mapping) for item in each.values())
            ):
                yield from format_values(each, below)
            else:
                yield below + ("  ".join(map(str, each.values())) if isinstance(each, Mapping) else str(each))


# --- chunks and memories


def render_hit(data: Json, paint: Paint = PLAIN) -> str:
    """Return one chunk or memory, complete."""
    if data["kind"] == "memory":
        return render_memory(data, paint)
    file = data.get("file", "")
    why = f"[{data.get('why') or '+'.join(data['matched_by'])}, {data['freshness']}]"
    place = f"{path_from_here(data)}:{data['start_line']}-{data['end_line']}"
    parts = [(f"{data['score']:.2f}", FAINT, ""), (place, PLACE, link_of(file)), (data["symbol"], NAME, "")]
    head = flow_parts([*parts, (why, FAINT, ""), (data["id"], FAINT, "")], paint)
    shown = textwrap.dedent(data.get("text", "").strip("\n"))
    note = [f"({in_words_of_the_shell(data['note'])})"] if data.get("note") else []
    return "\n".join([*head, *(f"    {line}" for line in paint.code(shown, data["language"])), *note])


def render_memory(data: Json, paint: Paint = PLAIN, *, is_brief: bool = False, rows: Sequence[str] = ()) -> str:
    """Return one memory, or only `rows` of its content; in brief its id's first eight characters tell it from others."""
    name = f"memory {data['id'][:8] if is_brief else data['id']}"
    tags = " ".join(f"#{tag}" for tag in data["metadata"].get("tags", ()))
    score = "" if is_brief or "score" not in data else f"{data['score']:.2f} {'+'.join(data.get('matched_by') or ())}"
    about = [place_of(data["anchor"], paint)] if data.get("anchor") else []
    about += [f"on branch {data['branch']}"] if data.get("branch") else []
    about += [f"superseded by {data['superseded_by'][:8]}"] if data.get("superseded_by") else []
    if data.get("deleted_at"):
        restored = f"`rag-ls restore {data['id'][:8]}` brings it back"
        about.append(f"{data['reason']} {_format_minute(data['deleted_at'])}; {restored}")
    former = [
        line for item in data.get("history", ())
        for line in (
            f"  version {item['version']}, {item['reason']} {_format_minute(item['replaced_at'])}:",
            *(f"    {row}" for row in wrap_content(item["content"], paint)),
        )
    ]  # fmt: skip
    faint = [(text, FAINT, "") for text in (data["scope"], data["updated_at"][:10], tags, score)]
    content = (*about, *(rows or wrap_content(data["content"], paint)))
    return "\n".join([*flow_parts([(name, NAME, ""), *faint], paint), *(f"    {line}" for line in content), *former])


def wrap_content(text: str, paint: Paint) -> list[str]:
    """Return the lines of a memory's text, each in as many rows as the terminal needs."""
    columns = min(_MAX_COLUMNS, paint.width - 4) if paint.width > 24 else _MAX_COLUMNS
    return [row for line in text.split("\n") for row in textwrap.wrap(line, columns) or [""]]


def place_of(anchor: Json, paint: Paint) -> str:
    """Return the place that a memory is about, and how that stands."""
    renamed = f"; {anchor['former_symbol']} is now {anchor.get('symbol', 'gone')}" if "former_symbol" in anchor else ""
    # A memory about a whole file has no line.
    place = paint.style(f"{anchor['path']}:{anchor['line']}" if "line" in anchor else anchor["path"], PLACE)
    state = paint.style(f"({anchor['state']}{renamed})", FAINT if anchor["state"] == "fresh" else WARNING)
    return f"at {place} {state}"


def _format_minute(stamp: str) -> str:
    return stamp[:16].replace("T", " ")


def format_commit(data: Json, paint: Paint) -> str:
    """Return one commit, with the beginning of its message."""
    mark = "came with " if data.get("introduces") else ""
    author = f"  {data['author']}" if data.get("author") else ""
    head = f"{data['date']}  {paint.style(data['id'], FAINT)}  {mark}{paint.style(data['subject'], NAME)}{author}"
    was = [f"then in {paint.style(data['path'], PLACE)}"] if data.get("path") else []
    files = [*data.get("files", ()), *([f"and {data['more_files']:,} more"] if data.get("more_files") else [])]
    body = [row for row in wrap_content(data.get("body", ""), paint) if row.strip()]
    cut = ["…"] if len(body) > _MAX_BODY_LINES else []
    about = [paint.style(", ".join(files), FAINT)] if files else []
    return textwrap.indent("\n".join([head, *was, *body[:_MAX_BODY_LINES], *cut, *about]), "    ")[4:]


# --- the state of a project


def render_status(data: Json, paint: Paint = PLAIN) -> str:
    """Return the state of a project."""
    skipped = ", ".join(f"{count:,} {reason}" for reason, count in data["skipped"].items())
    entries = [
        ("project", fold(data["root"])),
        ("index", _describe_index(data)),
        ("contents", f"{count_of(data['documents'], 'file')} in {count_of(data['chunks'], 'chunk')}"),
        ("skipped", skipped or "none"),
        *(("", f"{item['path']}: {item['reason']}") for item in data.get("skipped_files", ())),
        ("model", data["model"] or "none"),
        (
            "memories",
            ", ".join(f"{count:,} {scope}" for scope, count in data["memories"].items() if scope != "session"),
        ),
        ("rules", _count_rules(data["rules"]) if data.get("rules") else ""),
        ("activity", _describe_activity(data)),
        ("sync", f"{data['sync']}, last {_format_clock(data.get('last_sync'))}" if data.get("sync") else ""),
        ("trust", data.get("trust")),
        ("note", data.get("note")),
        *(_describe_engine(data["engine"]) if data.get("engine") else ()),
        *(("also open", _sum_up(each)) for each in data.get("projects", ()) if each["root"] != data["root"]),
    ]
    return "\n".join(f"{paint.style(f'{name:<10}', FAINT)}{text}" for name, text in entries if text)


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


def _count_rules(data: Json) -> str:
    counts = data["collectionCounts"] or {}
    kinds = [name for name in ("constraints", "patterns") if counts.get(name)]
    if kinds or data["initialized"]:
        return ", ".join(f"{count_of(counts[name], 'section')} of {name}" for name in kinds) or "set up, and empty"
    return "none: `rag-ls rules setup` writes some from the code"


def _describe_engine(data: Json) -> Iterator[tuple[str, str]]:
    if data["mode"] == "standalone":
        yield "\nengine    ", f"none is shared; this command worked alone (PID {data['pid']})"
        return
    minutes, size = int(data["uptime_s"]) // 60, f"{data['memory_bytes'] / 1_000_000:,.0f} MB"
    yield "\nengine    ", f"PID {data['pid']}, up {minutes // 60} h {minutes % 60} min, {size}, at {data['address']}"
    yield "models", ", ".join(model["model"] for model in data["models"])
    yield "log", data["log"]
    for client in data["clients"]:
        who = " ".join(part for part in (client["surface"], client["name"]) if part)
        process = f", PID {client['pid']}" if client["pid"] else ""
        yield "client", f"{who}{process}, since {_format_clock(client['connected_at'])}"
    # Those that are asked for most; `--json` has all.
    often = sorted(data["latency"].items(), key=lambda item: -item[1]["count"])[:_MAX_LATENCIES]
    for name, times in often:
        spread = " / ".join(f"{times[key]:,.0f}" for key in ("p50_ms", "p95_ms", "p99_ms"))
        yield "latency", f"{name}: {spread} ms (p50 / p95 / p99 of {times['count']:,})"


def _sum_up(project: Json) -> str:
    todo = project["queued_documents"] + project["pending_embeddings"]
    state = f"{todo:,} to do" if todo else "nothing to do"
    return f"{fold(project['root'])}: {count_of(project['chunks'], 'chunk')}, {state}, {count_of(project['clients'], 'client')}"


def _format_clock(stamp: str | None) -> str:
    """Return the local time of day of an RFC 3339 stamp."""
    return f"{datetime.fromisoformat(stamp).astimezone():%H:%M:%S}" if stamp else "never"
