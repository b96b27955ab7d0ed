"""The verbs that index, search and remember."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag_ls.cli import render
from rag_ls.cli.progress import follow
from rag_ls.engine import Engine
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.indexing import Depth, Phase
from rag_ls.operations import Operations
from rag_ls.wire import Json
from rag_ls.workspace import OpenProject

_MODEL_WAIT_S = 20.0
# A question is worth a short wait for files that changed since the last run.
_CATCH_UP_S = 3.0
_KINDS = ("code", "memory", "memories")


def index(arguments: argparse.Namespace) -> int:
    """Index a project and wait for it."""
    with _opened(arguments.path) as (engine, opened):
        opened.indexing.index_tree(Depth.WORDS if arguments.words_only else Depth.EMBEDDINGS)
        follow(opened, embeddings=not arguments.words_only)
        status = Operations(engine).index_status()["projects"][0]
        _print(arguments, status, render.status(status))
        if not (status["complete"] or arguments.words_only):
            print(f"rag-ls: not finished: {status.get('note') or status['activity']}", file=sys.stderr)
            return 1
    return 0


def search(arguments: argparse.Namespace) -> int:
    """Search code and memories."""
    kinds = {kind.strip() for kind in arguments.kinds.split(",")}
    if not kinds or not kinds <= set(_KINDS):
        raise InvalidRequest(f"--in {arguments.kinds!r}: give code, memory or both, with a comma between")
    with _opened(arguments.project) as (engine, opened):
        operations = Operations(engine, wait_for_model_s=_MODEL_WAIT_S)
        results: list[Json] = []
        stats: Json = {}
        if "code" in kinds:
            _catch_up(opened)
            question = {"query": arguments.query, "k": arguments.k, "language": arguments.language}
            answer = operations.search_code({**question, "path_glob": arguments.path_glob})
            results, stats = answer["results"], answer["stats"]
        if kinds & {"memory", "memories"}:
            question = {"query": arguments.query, "k": arguments.k, "scope": arguments.scope}
            remembered = operations.search_memory(question)
            results, stats = [*results, *remembered["results"]], stats or remembered["stats"]
        answer = {"query": arguments.query, "results": results, "stats": stats}
        _print(arguments, answer, render.answer(answer))
    return 0


def status(arguments: argparse.Namespace) -> int:
    """Show how the project stands, after comparing its files with the index."""
    with _opened(arguments.project) as (engine, opened):
        opened.indexing.index_tree(Depth.COMPARE)
        opened.indexing.wait_for_scan(_CATCH_UP_S)
        shown = Operations(engine).index_status()["projects"][0]
        _print(arguments, shown, render.status(shown))
    return 0


def add(arguments: argparse.Namespace) -> int:
    """Store a memory."""
    content = sys.stdin.read() if arguments.content == "-" else arguments.content
    place = re.fullmatch(r"(.+?)(?::(\d+))?", arguments.at)
    metadata: Json = {"tags": arguments.tags}
    if place:
        # The shell's folder, not the project's root, is what a relative path starts from.
        metadata |= {"source_file": str(Path(place[1]).absolute()), "line": int(place[2]) if place[2] else None}
    with _opened(arguments.project) as (engine, _):
        stored = Operations(engine, wait_for_model_s=_MODEL_WAIT_S).store_memory(
            {"content": content, "scope": arguments.scope, "memory_type": arguments.memory_type, "metadata": metadata}
        )
        _print(arguments, stored, f"{stored['status']} {stored['id']} ({stored['scope']})")
    return 0


def list_memories(arguments: argparse.Namespace) -> int:
    """List memories."""
    with _opened(arguments.project) as (engine, _):
        listed = Operations(engine).list_memories(
            {"scope": arguments.scope, "tags": arguments.tags, "limit": arguments.limit}
        )
        _print(arguments, listed, render.memories(listed))
        if note := listed.get("note"):
            print(f"rag-ls: {note}", file=sys.stderr)
    return 1 if "note" in listed else 0


def show(arguments: argparse.Namespace) -> int:
    """Show a memory, else a chunk."""
    with _opened(arguments.project) as (engine, _):
        operations = Operations(engine)
        try:
            memory = operations.get_memory({"id": arguments.id})
            _print(arguments, memory, render.memory(memory))
        except NotFound:
            try:
                chunk = operations.get_chunk({"id": arguments.id})
            except NotFound:
                raise NotFound(
                    f"no memory and no chunk has the id {arguments.id!r}; `rag-ls list` and `rag-ls search` show ids"
                ) from None
            _print(arguments, chunk, render.hit(chunk))
    return 0


def delete(arguments: argparse.Namespace) -> int:
    """Delete a memory."""
    with _opened(arguments.project) as (engine, _):
        deleted = Operations(engine).delete_memory({"id": arguments.id})
        _print(arguments, deleted, f"deleted {deleted['id']}")
    return 0


@contextmanager
def _opened(folder: Path) -> Iterator[tuple[Engine, OpenProject]]:
    engine = Engine()
    try:
        yield engine, engine.open(folder)
    finally:
        engine.close()


def _catch_up(opened: OpenProject) -> None:
    """Take in what changed since the last run: all of a project never seen, else what a moment suffices for."""
    never_seen = opened.never_indexed
    if never_seen:
        print(
            "rag-ls: first search in this project: reading its files (`rag-ls index` adds the embeddings)",
            file=sys.stderr,
        )
    opened.indexing.index_tree(Depth.WORDS if never_seen else Depth.EMBEDDINGS)
    if never_seen:
        follow(opened, embeddings=False)
    else:
        opened.indexing.wait_until_idle(_CATCH_UP_S, embeddings=False)
        if opened.indexing.progress.phase is not Phase.WAITING:
            opened.indexing.wait_until_idle(_CATCH_UP_S / 3)


def _print(arguments: argparse.Namespace, data: Json, text: str) -> None:
    print(json.dumps(data, indent=2, ensure_ascii=False) if arguments.json else text)
