"""How soon a repository answers, and how well it goes on: by words, then by meaning."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from rag_ls.chunking import Budget
from rag_ls.engine.client import local_client
from rag_ls.engine.requests import SearchRequest
from rag_ls.indexing import Cutting
from rag_ls.indexing.cutters import CutFile, Job, Tree, read_and_cut
from rag_ls.indexing.listing import list_files
from rag_ls.search.query import analyse
from tests.benchmarks import corpus
from tests.benchmarks.code.repositories import REPOSITORIES, fetch
from tests.benchmarks.measure import memory_mb, percentiles
from tests.support import ready

_QUESTION = "where is the retry delay computed"
_RUNS = 60
_EMBED_UP_TO = 5000


def tiers(work: Path, sizes: tuple[int, ...]) -> dict[str, Any]:
    """Measure repositories of about 100, 2,000 and 20,000 files, as far as they are among `sizes`."""
    found = {}
    for size, make in ((100, small), (2_000, middle), (20_000, large)):
        if size not in sizes:
            continue
        folder = make(work)
        found[str(size)] = _measured(folder)
        shutil.rmtree(folder, ignore_errors=True)
    return found


def small(work: Path) -> Path:
    """About a hundred files of Ruby."""
    repository = next(item for item in REPOSITORIES if item.name == "ruby-sidekiq")
    return corpus.copy_of(fetch(repository), work / "small")


def middle(work: Path) -> Path:
    """Django's tests: about two thousand files of Python."""
    return corpus.copy_of(corpus.django() / "tests", work / "middle")


def large(work: Path) -> Path:
    """Twenty thousand files of the packages that are installed beside us."""
    target, count = work / "large", 0
    packages = Path(os.__file__).parent / "site-packages"
    sources = packages if packages.is_dir() else Path(json.__file__).parents[1]
    sources = next((Path(path) for path in sys.path if path.endswith("site-packages")), sources)
    for file in sorted(sources.rglob("*")):
        if (
            file.suffix in (".py", ".pyi", ".h", ".hpp", ".md", ".txt", ".json")
            and file.is_file()
            and not file.is_symlink()
        ):
            place = target / file.relative_to(sources)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place)
            count += 1
            if count == 20_000:
                break
    return target


def _measured(folder: Path) -> dict[str, Any]:
    (folder / ".rag-ls").mkdir()
    _rag_ls(folder, "stop", check=False)
    started = time.perf_counter()
    first = json.loads(_rag_ls(folder, "search", _QUESTION, "--json", "--in", "code"))
    first_s = time.perf_counter() - started
    _rag_ls(folder, "index", "--words-only")
    words_s = time.perf_counter() - started
    complete = json.loads(_rag_ls(folder, "search", _QUESTION, "--json", "--in", "code"))
    assert complete["stats"]["pending_documents"] == 0
    _rag_ls(folder, "stop")
    client = local_client()
    view = client.open(folder)
    counts = view.store.counts()
    size = sum(file.stat().st_size for file in (folder / ".rag-ls").iterdir() if file.is_file())
    result: dict[str, Any] = {
        "documents": counts.documents,
        "chunks": counts.chunks,
        "first_answer_s": round(first_s, 2),
        "files_not_read_then": first["stats"]["pending_documents"],
        "hits_shared_with_the_complete_answer": len(_ids(first) & _ids(complete)),
        "all_words_s": round(words_s, 1),
        "index_mb_per_1000_chunks_before_embeddings": round(size / 1e6 / counts.chunks * 1000, 2),
        "lexical_query_ms": _queries(view, dense=False),
    }
    if counts.chunks <= _EMBED_UP_TO * 4:
        started = time.perf_counter()
        view.indexing.index_tree()
        view.indexing.wait_until_idle()
        result["all_vectors_s"] = round(time.perf_counter() - started, 1)
        result["query_ms"] = _queries(view, dense=True)
    result["cut_mb_per_s_and_core"] = _cutting_speed(folder)
    result["memory"] = memory_mb()
    client.close()
    return result


def _rag_ls(folder: Path, *arguments: str, check: bool = True) -> bytes:
    command = [sys.executable, "-P", "-m", "rag_ls.cli.main", *arguments]
    return subprocess.run(command, cwd=folder, check=check, capture_output=True).stdout


def _ids(answer: dict[str, Any]) -> set[str]:
    return {hit["id"] for hit in answer["results"]}


def _queries(view: Any, *, dense: bool) -> dict[str, float]:
    from tests.benchmarks.scale import QUESTIONS

    model = view.project.model(30.0) if dense else None
    times = []
    for number in range(_RUNS):
        # Another question each time: answers are cached.
        question = f"{QUESTIONS[number % len(QUESTIONS)]} {number}"
        vector = model.embed_query(question) if model else None
        started = time.perf_counter()
        view.project.searcher.search(
            analyse(question), k=10, settings=view.settings.search, filters=SearchRequest("x").filters, vector=ready(vector),
            model_id=model.model_id if model else "",
        )  # fmt: skip
        times.append(time.perf_counter() - started)
    return percentiles(times)


def _cutting_speed(folder: Path) -> float:
    """Megabytes of sources that one core reads, cuts and outlines in a second."""
    tree = Tree(folder, Cutting(Budget(224, 24, 24)), {})
    size, started = 0, time.process_time()
    for path in list(list_files(folder))[:1000]:
        outcome = read_and_cut(tree, Job(path))
        size += outcome.record.state.size if isinstance(outcome, CutFile) else 0
    return round(size / 1e6 / (time.process_time() - started), 2)
