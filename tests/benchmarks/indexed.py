"""A repository whose words are indexed, for benchmarks that need no vectors."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag_ls.engine.client import local_client
from rag_ls.engine.session import ProjectSession
from rag_ls.indexing import Depth


@contextmanager
def indexed_by_words(root: Path) -> Iterator[ProjectSession]:
    """A client's session in a repository, once all of its files are read; it is left at the end."""
    client = local_client()
    try:
        view = client.open(root, on_purpose=True)
        view.indexing.index_tree(Depth.WORDS)
        view.indexing.wait_for_scan(600)
        while view.store.queue_lengths()[0]:
            time.sleep(0.1)
        yield view
    finally:
        client.close()
