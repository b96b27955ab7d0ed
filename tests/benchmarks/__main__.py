"""`make bench`: all measurements as one JSON object on standard output. `--only startup,typing` runs some of them.

`foreign FOLDER...` measures memory on real repositories instead, `soak FOLDER...` for an hour, `installing FOLDER` the way from
nothing to an answer, `unread FOLDER...` answers while a repository is read for the first time, and `history FOLDER...` the commits
of declarations, all as lines of text.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.benchmarks import corpus, history, installing, unread
from tests.benchmarks.agent_tasks import agent_tasks
from tests.benchmarks.anchors import anchors
from tests.benchmarks.answering import answering
from tests.benchmarks.foreign import memory_run, soak
from tests.benchmarks.freshness import freshness
from tests.benchmarks.indexing import indexing, reopening
from tests.benchmarks.measure import machine
from tests.benchmarks.memory import memory
from tests.benchmarks.memory_scale import memory_scale
from tests.benchmarks.over_http import over_http
from tests.benchmarks.published import published
from tests.benchmarks.quality import quality
from tests.benchmarks.recall_quality import recall_quality
from tests.benchmarks.rules.judge import rules
from tests.benchmarks.rules_latency import rules_latency
from tests.benchmarks.rules_setup import rules_setup
from tests.benchmarks.scale import scale
from tests.benchmarks.sharing import sharing, switching
from tests.benchmarks.startup import startup
from tests.benchmarks.store_projects import store_projects
from tests.benchmarks.stores import stores
from tests.benchmarks.team import team
from tests.benchmarks.tiers import tiers
from tests.benchmarks.typing import typing


def main() -> None:
    # `timeout` ends a measurement so: PostgreSQL, an engine and folders that it made go with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended before all was measured"))
    on_foreign = {
        "foreign": memory_run.main,
        "soak": soak.main,
        "installing": installing.main,
        "unread": unread.main,
        "history": history.main,
    }
    if sys.argv[1:2] and sys.argv[1] in on_foreign:
        on_foreign[sys.argv[1]](sys.argv[2:])
    else:
        _measure_all()


def _measure_all() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only",
        default="",
        help="some of: indexing, startup, typing, reopening, sharing, switching, tiers, quality, scale, answering, recall, memories, "
        "memory, freshness, anchors, agent, rules, rule latencies, http, team, stores, store projects, published",
    )
    parser.add_argument("--embed", type=int, default=2000, help="how many chunks of the repository to embed (0: all)")
    parser.add_argument("--sizes", default="1000,10000,100000", help="chunks, for scale, answering, published")
    parser.add_argument("--vectors", default="100000", help="vectors, for stores; 1000000 takes an hour")
    parser.add_argument("--projects", type=int, default=1000, help="projects, for store projects")
    parser.add_argument("--files", default="100,2000,20000", help="files, for tiers")
    parser.add_argument("--memories", default="10000,100000", help="memories, for memories; 1000000 takes half an hour")
    parser.add_argument("--repositories", type=int, default=10, help="repositories that one engine indexes, for memory")
    parser.add_argument("--model", default="auto", help="an embedding model, or the folder of one, for recall")
    parser.add_argument(
        "--histories",
        nargs="*",
        default=[],
        metavar="REPOSITORY",
        help="git repositories with their histories, for anchors",
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["RAG_LS_HOME"] = str(Path(temporary) / "home")
        results: dict[str, Any] = {"machine": machine(), "repository": corpus.DJANGO}
        for name, run in _runs(Path(temporary), arguments).items():
            if not arguments.only or name in arguments.only.split(","):
                print(f"measuring {name}", file=sys.stderr, flush=True)
                results[name] = run()
        print(json.dumps(results, indent=2))


def _runs(work: Path, arguments: argparse.Namespace) -> dict[str, Callable[[], Any]]:
    project = work / "django"
    sizes = tuple(int(size) for size in arguments.sizes.split(","))
    vectors = tuple(int(size) for size in arguments.vectors.split(","))
    return {
        "indexing": lambda: indexing(_project(project), embed=arguments.embed or 10**9),
        "startup": lambda: startup(_indexed(project)),
        "typing": lambda: asyncio.run(typing(_folder(work / "typing"))),
        "reopening": lambda: reopening(corpus.many_files(work / "many", 10_000)),
        "sharing": lambda: sharing(_indexed(project)),
        "switching": lambda: switching(_indexed(project)),
        "tiers": lambda: tiers(work, tuple(int(size) for size in arguments.files.split(","))),
        "quality": lambda: quality(corpus.django(), _folder(work / "quality")),
        "scale": lambda: scale(corpus.django(), work, sizes),
        "http": lambda: over_http(_indexed(project)),
        "team": lambda: team(corpus.django(), _folder(work / "team")),
        "stores": lambda: stores(corpus.django(), _folder(work / "stores"), vectors),
        "store projects": lambda: store_projects(_folder(work / "store-projects"), arguments.projects),
        "published": lambda: published(corpus.django(), work / "published", sizes),
        "rules": lambda: rules(_folder(work / "rules")),
        "rule latencies": lambda: rules_latency(corpus.django(), work, sizes),
        "rules setup": lambda: rules_setup(corpus.django(), work, (1_000, 5_000, 20_000)),
        "answering": lambda: answering(corpus.django(), work, sizes),
        "recall": lambda: recall_quality(_folder(work / "recall"), arguments.model),
        "memory": lambda: memory(_folder(work / "memory"), repositories=arguments.repositories),
        "freshness": lambda: freshness(_folder(work / "freshness")),
        "anchors": lambda: anchors([Path(each) for each in arguments.histories]),
        "agent": lambda: asyncio.run(agent_tasks(_library(work / "tasks"))),
        "memories": lambda: memory_scale(work, tuple(int(size) for size in arguments.memories.split(","))),
    }


def _project(folder: Path) -> Path:
    """The repository, with the index that a former measurement made of it."""
    return folder if folder.exists() else corpus.copy_of(corpus.django(), folder)


def _indexed(folder: Path) -> Path:
    """The repository, indexed by words and a little by meaning."""
    if not (folder / ".rag-ls").exists():
        indexing(_project(folder), embed=64)
    return folder


def _library(folder: Path) -> Path:
    """The repository without documentation and most of its tests (so that embedding it takes minutes), indexed whole."""
    _project(folder)
    for part in ("docs", "js_tests", *(f"tests/{each.name}" for each in (folder / "tests").iterdir())):
        if part != "tests/utils_tests":
            shutil.rmtree(folder / part, ignore_errors=True)
    indexing(folder, embed=10**9)
    return folder


def _folder(folder: Path) -> Path:
    folder.mkdir()
    return folder


if __name__ == "__main__":
    main()
