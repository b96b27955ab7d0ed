"""The verbs that index, search and remember: each asks one operation and prints its answer."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from typing import Any

from rag_ls.cli import render
from rag_ls.cli.backend import ask
from rag_ls.cli.progress import showing
from rag_ls.errors import InvalidRequest

Json = dict[str, Any]

_KINDS = {"code": "code", "memory": "memory", "memories": "memory"}
_FIRST_SEARCH = "first search in this project: reading its files (`rag-ls index` adds the embeddings)"
_LOOK_AGAIN_S = 1.0


def index(arguments: argparse.Namespace) -> int:
    """Index a project and wait for it."""
    with showing() as show:
        answer = ask(arguments, "index", {"words_only": arguments.words_only}, show, folder=arguments.path)
    _print(arguments, answer, render.status(answer))
    if not (answer["complete"] or arguments.words_only):
        print(f"rag-ls: not finished: {answer.get('note') or answer['activity']}", file=sys.stderr)
        return 1
    return 0


def search(arguments: argparse.Namespace) -> int:
    """Search code and memories."""
    kinds = [kind.strip() for kind in arguments.kinds.split(",")]
    if not kinds or not set(kinds) <= set(_KINDS):
        raise InvalidRequest(f"--in {arguments.kinds!r}: give code, memory or both, with a comma between")
    question = {
        "query": arguments.query,
        "k": arguments.k,
        "language": arguments.language,
        "path_glob": arguments.path_glob,
        "scope": arguments.scope,
        "kinds": sorted({_KINDS[kind] for kind in kinds}),
    }
    with showing(first=_FIRST_SEARCH) as show:
        answer = ask(arguments, "search", question, show)
    _print(arguments, answer, render.answer(answer))
    return 0


def status(arguments: argparse.Namespace) -> int:
    """Show how the project and the engine stand, after comparing the files with the index."""
    try:
        while True:
            answer = ask(arguments, "status", {})
            _show_status(arguments, answer)
            if not arguments.watch:
                return 0
            time.sleep(_LOOK_AGAIN_S)
    except KeyboardInterrupt:
        if not arguments.watch:
            raise
        return 0


def _show_status(arguments: argparse.Namespace, answer: Json) -> None:
    if arguments.watch and sys.stdout.isatty():
        print("\x1b[H\x1b[2J", end="")
    _print(arguments, answer, render.status(answer))
    sys.stdout.flush()


def add(arguments: argparse.Namespace) -> int:
    """Store a memory."""
    content = sys.stdin.read() if arguments.content == "-" else arguments.content
    place = re.fullmatch(r"(.+?)(?::(\d+))?", arguments.at)
    metadata: Json = {"tags": arguments.tags}
    if place:
        # The shell's folder, not the project's root, is what a relative path starts from.
        metadata |= {"source_file": os.path.abspath(place[1]), "line": int(place[2]) if place[2] else None}
    new = {"content": content, "scope": arguments.scope, "memory_type": arguments.memory_type, "metadata": metadata}
    answer = ask(arguments, "store_memory", new)
    _print(arguments, answer, f"{answer['status']} {answer['id']} ({answer['scope']})")
    return 0


def list_memories(arguments: argparse.Namespace) -> int:
    """List memories."""
    question = {"scope": arguments.scope, "tags": arguments.tags, "limit": arguments.limit}
    answer = ask(arguments, "list_memories", question)
    _print(arguments, answer, render.memories(answer))
    if note := answer.get("note"):
        print(f"rag-ls: {note}", file=sys.stderr)
    return 1 if "note" in answer else 0


def show(arguments: argparse.Namespace) -> int:
    """Show a memory, else a chunk."""
    answer = ask(arguments, "show", {"id": arguments.id})
    _print(arguments, answer, render.hit(answer))
    return 0


def delete(arguments: argparse.Namespace) -> int:
    """Delete a memory."""
    answer = ask(arguments, "delete_memory", {"id": arguments.id})
    _print(arguments, answer, f"deleted {answer['id']}")
    return 0


def _print(arguments: argparse.Namespace, answer: Json, text: str) -> None:
    print(json.dumps(answer, indent=2, ensure_ascii=False) if arguments.json else text)
