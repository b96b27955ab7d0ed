"""From a change in a 2,000-line file to a search that finds it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tests.benchmarks.corpus import long_file
from tests.benchmarks.measure import percentiles
from tests.e2e.clients import Editor, editor

EDITS = 40


async def typing(folder: Path) -> dict[str, Any]:
    """Edit one function again and again in an editor session."""
    file = folder / "long.py"
    file.write_text(long_file(2000))
    async with editor(folder) as ed:
        await ed.until_complete()
        ed.open(file)
        await ed.until_complete()
        found, dense, embedded = [], [], []
        for number in range(EDITS):
            started = time.perf_counter()
            # The fifth function's body: its chunk is the only one that changes.
            ed.type(file, f"    brandnew{number} = value\n", at=(11 * 90 + 4, 0))
            await _until_found(ed, f"brandnew{number}")
            found.append(time.perf_counter() - started)
            embedded.append(await _until_embedded(ed))
            dense.append(time.perf_counter() - started)
        return {
            "lines": 2000,
            "change_to_found": percentiles(found),
            "change_to_embedded": percentiles(dense),
            "chunks_embedded_per_edit": max(embedded),
        }


async def _until_found(ed: Editor, word: str) -> None:
    while True:
        answer = await ed.command("searchCode", query=word, k=3)
        if any(word in hit["text"] and hit["freshness"] == "buffer" for hit in answer["results"]):
            return


async def _until_embedded(ed: Editor) -> int:
    """Wait until nothing is pending; the most chunks that were pending at once."""
    most = 0
    while True:
        status = (await ed.command("status"))["projects"][0]
        most = max(most, status["pending_embeddings"])
        if status["complete"]:
            return most
