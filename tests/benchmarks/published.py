"""Published code in PostgreSQL beside the checkout that it is of: the same hits, how fast, how large, how long to publish.

Real files, synthetic vectors (`scale.project_of`), real questions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rag_ls.config.engine_settings import StoreSettings
from rag_ls.engine.client import Client, local_client
from rag_ls.engine.requests import SearchRequest
from rag_ls.indexing import Publishing
from rag_ls.model import SearchAnswer
from rag_ls.storage import Candidate, Publication, PublishedIndex, SearchedIndex, find_terms
from rag_ls.storage.postgres.publication import Publisher
from rag_ls.storage.postgres.published import PublishedServer
from tests.benchmarks.measure import percentiles, timed
from tests.benchmarks.scale import QUESTIONS, project_of
from tests.storage.postgres.servers import postgres

_NAME = "github.com/acme/large"
_SAID, _RUNS = 200, 5


def published(sources: Path, work: Path, sizes: Sequence[int]) -> dict[str, Any]:
    """Measure each size."""
    with postgres(_folder(work / "server")) as server:
        results = {}
        for size in sizes:
            name = server.vector_database()
            results[str(size)] = _measured(project_of(sources, work / f"published_{size}", size), server.url(name))
            ((taken,),) = server.run("SELECT pg_database_size(current_database())", name)
            results[str(size)]["disk_mb"] = round(int(str(taken)) / 1e6, 1)
    return results


def _measured(folder: Path, url: str) -> dict[str, Any]:
    client = local_client()
    client.engine.published._settings = _at(client, url)
    view = client.open(folder)
    index = view.project.index
    publisher = Publisher(url, _NAME)
    publishing = Publishing(index, publisher)
    first = timed(lambda: publishing.publish(Publication("", at="now")))
    again = timed(lambda: publishing.publish(Publication("", at="now")))
    publisher.close()
    published = PublishedServer(url)
    there = published.open(_NAME)
    code = client.engine.published.find_called(_NAME)
    assert code is not None
    view.project.model(60.0)
    local = [view.search(SearchRequest(question), wait_for_model_s=60.0) for question in QUESTIONS]
    remote = [
        code.search(SearchRequest(question), view.settings.search, wait_for_model_s=60.0) for question in QUESTIONS
    ]
    said = [(_said(index, question), _said(there, question)) for question in QUESTIONS]
    result = {
        "chunks": view.store.counts().chunks, "publish_s": round(first, 1), "publish_again_s": round(again, 1),
        "same_first_hit": _mean([_places(a)[:1] == _places(b)[:1] for a, b in zip(local, remote, strict=True)]),
        "same_ten_hits": _mean([_shared(_places(a), _places(b)) for a, b in zip(local, remote, strict=True)]),
        "bm25_same_first_100": _mean([_shared(a[:100], b[:100]) for a, b in said]),
        "bm25_greatest_difference": max(_difference(index, there, question) for question in QUESTIONS),
        "bm25_here": percentiles(_times(lambda question: _said(index, question))),
        "bm25_there": percentiles(_times(lambda question: _said(there, question))),
        "answered_there_dense": all(each.stats.dense for each in remote),
        "search_there": percentiles([each.stats.took_ms / 1000 for each in remote]),
        "search_here": percentiles([each.stats.took_ms / 1000 for each in local]),
    }  # fmt: skip
    published.close()
    client.close()
    return result


def _at(client: Client, url: str) -> StoreSettings:
    return replace(client.engine.settings.store, url=url)


def _words(question: str) -> list[str]:
    return list(dict.fromkeys(find_terms(question)))


def _found(index: SearchedIndex | PublishedIndex, question: str) -> list[Candidate]:
    return index.lexical.search(_words(question), _SAID)


def _said(index: SearchedIndex | PublishedIndex, question: str) -> list[str]:
    """The ids of the chunks that hold a question's words, best first."""
    found = _found(index, question)
    chunks = index.checkout.chunks.by_row([each.row for each in found])
    return [chunks[each.row].stored.id for each in found]


def _difference(here: SearchedIndex, there: PublishedIndex, question: str) -> float:
    """The greatest difference of a BM25 value, at the same rank."""
    pairs = zip(_found(here, question), _found(there, question), strict=True)
    return round(max((abs(a.value - b.value) for a, b in pairs), default=0.0), 4)


def _times(ask: Callable[[str], object]) -> list[float]:
    return [timed(lambda question=question: ask(question)) for question in QUESTIONS * _RUNS]  # type: ignore[misc]


def _places(answer: SearchAnswer) -> list[str]:
    return [hit.item.id for hit in answer.hits]


def _shared(one: Sequence[str], other: Sequence[str]) -> float:
    """The share of one that is in the other."""
    return len(set(one) & set(other)) / len(set(one)) if one else float(not other)


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 3)


def _folder(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder
