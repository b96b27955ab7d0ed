"""What tests of live sync need: a project that is watched, and the truth to compare its index with."""

from __future__ import annotations

from pathlib import Path

from rag_ls.engine.client import Client, local_client
from rag_ls.engine.requests import SearchRequest
from rag_ls.engine.session import ProjectSession
from rag_ls.storage.sqlite.checkout import CheckoutIndex
from tests.support import PATIENCE_S, until

Contents = dict[str, tuple[str, list[tuple[int, int, str, str]]]]
"""By path, a document's digest and its chunks: lines, symbol and digest of each."""


def watched(client: Client, root: Path) -> ProjectSession:
    """The project, indexed with its embeddings and watched."""
    view = client.open(root)
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    assert until(lambda: view.project.sync_state == "watching")
    settled(view)
    return view


def settled(view: ProjectSession) -> None:
    """Wait until all that is known to have changed is indexed and embedded."""
    assert view.indexing.wait_until_idle(PATIENCE_S)


def found(view: ProjectSession, word: str) -> list[str]:
    """The paths of the hits that hold a word, as a question gives them now."""
    hits = view.search(SearchRequest(word)).hits
    return sorted({hit.item.chunk.path for hit in hits if {"lexical", "symbol"} & set(hit.matched_by)})


def contents(store: CheckoutIndex) -> Contents:
    """All that an index says of the files."""
    result: Contents = {}
    for path, document in store.documents().items():
        rows = [row.stored for row in store.chunks.of_document(document.id)]
        chunks = [(row.chunk.start_line, row.chunk.end_line, row.chunk.symbol, row.content_hash) for row in rows]
        result[path] = (document.sha256, chunks)
    return result


def contents_from_scratch(root: Path, place: Path) -> Contents:
    """What an index says of the files that is made anew, in a copy of the tree as git and the rules see it."""
    import shutil

    copy = place / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(root, copy, symlinks=True, ignore=shutil.ignore_patterns(".rag-ls"))
    client = local_client()
    try:
        view = client.open(copy)
        view.indexing.index_tree()
        assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
        return contents(view.store)
    finally:
        client.close()
        shutil.rmtree(copy, ignore_errors=True)


def in_step(view: ProjectSession, place: Path) -> bool:
    """Whether the index comes to equal one that is made from scratch, with no comparison but what is noticed."""
    truth = contents_from_scratch(view.project.root, place)
    return until(lambda: contents(view.store) == truth and not view.store.queue_lengths()[0], 20)
