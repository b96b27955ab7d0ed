"""How long set-up reads a new project, by its number of source files: seconds waited, and seconds of processor time.

The project is made of a repository's own files, as often as it takes, each time in another folder. Nothing is indexed before.
"""

from __future__ import annotations

import os
import shutil
import time
from itertools import count, islice
from pathlib import Path
from typing import Any

from rag_ls.engine.client import local_client
from rag_ls.indexing import list_files
from rag_ls.languages import detect_language
from rag_ls.operations import Operations
from rag_ls.rules.survey.sources import is_surveyed


def rules_setup(sources: Path, work: Path, sizes: tuple[int, ...]) -> dict[str, Any]:
    """The seconds for each number of source files."""
    return {f"{size:,} source files": _measured(_project_of(sources, work / f"setup_{size}", size)) for size in sizes}


def _project_of(sources: Path, folder: Path, size: int) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    code = [path for path in sorted(list_files(sources)) if is_surveyed(detect_language(path) or "")]
    for copy, path in islice(((copy, path) for copy in count() for path in code), size):
        target = folder / f"part{copy}" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(sources / path, target)
    return folder


def _measured(folder: Path) -> dict[str, Any]:
    before, started = os.times(), time.perf_counter()
    client = local_client()
    try:
        answer = Operations(client).run("rag_setup", {"project_root": str(folder), "dry_run": True})
        waited = time.perf_counter() - started
    finally:
        # The processor time of other processes is known when they have ended.
        client.close()
    spent = [now - then for now, then in zip(os.times()[:4], before[:4], strict=True)]
    return {"waited_s": round(waited, 1), "processor_s": round(sum(spent), 1), "told": answer["message"]}
