"""Very many projects in one PostgreSQL database: making them, a question to one of them, and listing them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from rag_ls.storage.postgres.project_vectors import PostgresProjectVectors
from rag_ls.storage.postgres.schema import PostgresProjects
from tests.benchmarks.measure import percentiles, timed
from tests.storage.postgres.servers import postgres
from tests.support import digest, unit_vectors

MODEL = "model@1"
_VECTORS, _ASKED, _RUNS = 20, 50, 100


def store_projects(work: Path, count: int) -> dict[str, Any]:
    """Measure with `count` projects of 20 vectors each."""
    made = unit_vectors(_VECTORS, 384)
    with postgres(work) as server:
        url = server.url(name := server.vector_database())
        makings = []
        for number in range(count):
            store = PostgresProjectVectors(url, f"github.com/acme/project-{number}")
            hashes = [digest(f"{number} {text}") for text in range(_VECTORS)]
            started = time.perf_counter()
            store.put(MODEL, hashes, made)
            makings.append(time.perf_counter() - started)
            store.close()
        firsts, questions = [], []
        for number in np.random.default_rng(1).integers(0, count, _RUNS):
            store = PostgresProjectVectors(url, f"github.com/acme/project-{number}")
            firsts.append(timed(lambda store=store: store.nearest(MODEL, made[0], _ASKED)))  # type: ignore[misc]
            questions.append(timed(lambda store=store: store.nearest(MODEL, made[1], _ASKED)))  # type: ignore[misc]
            store.close()
        projects = PostgresProjects(url)
        listing = timed(projects.all)
        dropping = timed(lambda: projects.drop("github.com/acme/project-0"))
        projects.close()
        ((size,),) = server.run("SELECT pg_database_size(current_database())", name)
    return {
        "projects": count, "made_each": percentiles(makings), "first_question": percentiles(firsts),
        "question": percentiles(questions), "list_s": round(listing, 2), "drop_ms": round(1000 * dropping, 1),
        "disk_kb_each": round(int(str(size)) / 1000 / count, 1),
    }  # fmt: skip
