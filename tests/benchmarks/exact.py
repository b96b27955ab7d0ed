"""Every line that holds a text: how long it takes at 60,000 chunks, what it costs at rest, and whether grep finds the same lines.

    python -m tests.benchmarks.exact FOLDER [CHUNKS]

FOLDER holds repositories. Their text files become documents of chunks of whole lines, until there are CHUNKS of them. Times
are of processor and clock, for finding and counting all lines and showing the first fifty.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rag_ls.languages import detect_language
from rag_ls.search import MAX_OCCURRENCES, TextPattern, TextQuery, View, find_occurrences, show_places
from rag_ls.storage import DISK, DocumentRecord, FileState, NewChunk
from rag_ls.util.text import lines_of
from tests.support import new_chunk, open_checkout

_CHUNK_LINES = 30
_EACH = 60
_SHOWN = 50
_VIEW = View(frozenset(), None)


@dataclass(frozen=True, slots=True)
class Question:
    """A query, and what grep is asked for the same."""

    kind: str
    query: TextQuery
    flags: tuple[str, ...]


def measure(folder: Path, work: Path, chunks: int) -> dict[str, Any]:
    """Index text files as they are, ask, and compare with grep."""
    store = open_checkout(work / "index.db")
    files: list[Path] = []
    count = size = 0
    for path in _text_files(folder):
        text = path.read_text(encoding="utf-8")
        parts = text.splitlines(keepends=True)
        texts = ["".join(parts[at : at + _CHUNK_LINES]) for at in range(0, len(parts), _CHUNK_LINES)]
        name = path.relative_to(folder).as_posix()
        record = DocumentRecord(name, detect_language(name) or "text", "", FileState(len(text), 0, 0, 0), DISK)
        store.replace_document(record, _chunks(texts, name))
        files.append(path)
        count, size = count + len(texts), size + len(text)
        if count >= chunks:
            break
    listed = work / "files"
    listed.write_bytes(b"\0".join(os.fsencode(file.relative_to(folder)) for file in files))
    results: dict[str, Any] = {"chunks": count, "files": len(files), "text_mb": round(size / 1e6, 1)}
    with contextlib.closing(sqlite3.connect(work / "index.db")) as connection:
        signed = connection.execute("SELECT sum(length(bits)) FROM signatures").fetchone()[0]
    results["signatures_mb"] = round(signed / 1e6, 1)
    results["index_mb_without_vectors"] = round((work / "index.db").stat().st_size / 1e6, 1)
    differing = 0
    times: dict[str, list[tuple[float, float, float]]] = {}
    for question in _questions(files):
        started, spent = time.perf_counter(), time.process_time()
        pattern = TextPattern(question.query)
        found = find_occurrences(store, pattern, _VIEW, time.monotonic() + 60)
        first = found.choose_first({}, _SHOWN, files_only=False)
        show_places(store, first, 200_000)
        took, cpu = time.perf_counter() - started, time.process_time() - spent
        every = found.choose_first({}, 2 * MAX_OCCURRENCES, files_only=False)
        mine = {(place.document.path, place.match.line) for place in every}
        counted = found.lines
        started = time.perf_counter()
        theirs = _grep(question, folder, listed)
        if (mine != theirs or counted != len(theirs)) and counted < MAX_OCCURRENCES:
            differing += 1
            print(question, counted, len(mine), len(theirs), sorted(mine ^ theirs)[:3], file=sys.stderr)
        times.setdefault(question.kind, []).append((took, cpu, time.perf_counter() - started))
    for kind, taken in times.items():
        results[kind] = {"questions": len(taken)} | {
            name: _percentiles([each[at] for each in taken])
            for at, name in enumerate(("clock_ms", "processor_ms", "grep_clock_ms"))
        }
    store.close()
    return results | {"differing": differing}


def _chunks(texts: list[str], path: str) -> list[NewChunk]:
    """Chunks that say in which lines they are."""
    chunks, line = [], 1
    for number, text in enumerate(texts):
        new, end = new_chunk(text, path=path, ordinal=number), line + text.count("\n")
        last = end - text.endswith("\n")
        chunks.append(replace(new, chunk=replace(new.chunk, start_line=line, end_line=last)))
        line = end
    return chunks


def _percentiles(seconds: list[float]) -> str:
    ordered = sorted(1000 * each for each in seconds)
    return f"p50 {ordered[len(ordered) // 2]:.1f}, p95 {ordered[int(len(ordered) * 0.95)]:.1f}, most {ordered[-1]:.1f}"


def _text_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if ".git" in path.parts or not path.is_file() or path.is_symlink() or not detect_language(path.name):
            continue
        data = path.read_bytes()
        if 0 < len(data) <= 500_000 and b"\0" not in data and b"\r" not in data:
            try:
                data.decode()
            except UnicodeDecodeError:
                continue
            yield path


def _questions(files: list[Path]) -> list[Question]:
    """Names, parts of names, whole lines and regular expressions from random lines of the files."""
    chance = random.Random(11)
    lines = [
        line.strip()
        for file in chance.sample(files, min(len(files), 4 * _EACH))
        for line in chance.choices(lines_of(file.read_text(encoding="utf-8")), k=3)
    ]
    names = [name for line in lines for name in re.findall(r"[A-Za-z_]\w{3,}", line)]
    chance.shuffle(names)
    whole = [line for line in lines if 8 < len(line) < 120 and "\t" not in line]
    asked = [Question("names", TextQuery(name), ("-F",)) for name in names[:_EACH]]
    asked += [Question("words", TextQuery(name, whole_words=True), ("-F", "-w")) for name in names[_EACH : 2 * _EACH]]
    asked += [Question("lines", TextQuery(line), ("-F",)) for line in whole[:_EACH]]
    asked += [
        Question("any case", TextQuery(name.upper(), ignore_case=True), ("-F", "-i"))
        for name in names[2 * _EACH : 3 * _EACH]
    ]
    for name in names[3 * _EACH : 4 * _EACH]:
        form = chance.choice((r"\b{}\s*[(.=]", r"\w+\.{}\b", r"{}\w+", r"^\s*\w+ {}\b", r"{}.*\)$", "({}|zzz{})"))
        asked.append(Question("expressions", TextQuery(form.replace("{}", name), is_regex=True), ("-P",)))
    three = [name[:3] for name in names[4 * _EACH : 5 * _EACH]]
    asked += [Question("of three letters", TextQuery(rf"\b{each}\w*\(", is_regex=True), ("-P",)) for each in three]
    return asked


def _grep(question: Question, folder: Path, listed: Path) -> set[tuple[str, int]]:
    # Letters beyond ASCII are letters for rag-ls, too.
    knows_letters = "(*UCP)" if "-P" in question.flags else ""
    command = [
        "xargs",
        "-0",
        "-a",
        str(listed),
        "grep",
        "-nHa",
        "--null",
        *question.flags,
        "-e",
        knows_letters + question.query.pattern,
        "--",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
    rows = (row.partition(b"\0") for row in done.stdout.split(b"\n") if row)
    return {(os.fsdecode(path), int(rest.split(b":", 1)[0])) for path, _, rest in rows}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        print(json.dumps(measure(Path(sys.argv[1]), Path(place), int((sys.argv[2:] or ["60000"])[0])), indent=2))
