"""How long an agent waits for an answer: `search_code` through MCP, warm engine, another question each time.

The chunks are real, their vectors synthetic (see `scale`); the questions are sentences from the code's own documentation.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from rag_ls.engine.client import local_client
from tests.benchmarks.measure import percentiles, timed
from tests.benchmarks.scale import project_of
from tests.benchmarks.startup import mcp_session

_RUNS = 150
_WARM = 10
_WORDS = range(4, 25)


def answering(sources: Path, work: Path, sizes: tuple[int, ...]) -> dict[str, Any]:
    """p50 and p95 through MCP, by number of chunks; with vectors and by words alone."""
    return {str(size): _measured(project_of(sources, work / f"answering_{size}", size)) for size in sizes}


def _measured(folder: Path) -> dict[str, Any]:
    questions = sentences(folder, _RUNS + _WARM)
    return {
        "with vectors": _asked(folder, questions),
        "by words": _asked(folder, questions, RAG_LS_EMBEDDING_MODEL="none"),
    }


def _asked(folder: Path, questions: list[str], **environment: str) -> dict[str, float]:
    session = mcp_session(folder, "--standalone", **environment)
    if not environment:
        session.until_dense("warm up")

    def ask(question: str) -> float:
        return timed(lambda: session.ask("tools/call", {"name": "search_code", "arguments": {"query": question}}))

    seconds = [ask(question) for question in questions]
    session.leave()
    return percentiles(seconds[_WARM:])


def sentences(folder: Path, count: int) -> list[str]:
    """First sentences of documentation in a project, as questions, each once."""
    client = local_client()
    store = client.open(folder).store
    docs = {
        row.stored.chunk.doc.split(".")[0].strip()
        for document in store.documents().values()
        for row in store.chunks.of_document(document.id)
    }
    client.close()
    found = sorted(doc for doc in docs if len(doc.split()) in _WORDS)
    return random.Random(5).sample(found, min(count, len(found)))
