"""Exact search in a project that is still being read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rag_ls.engine.client import local_client
from rag_ls.engine.code.exact_places import PlacesRequest, find_places
from rag_ls.indexing.progress import Depth
from rag_ls.search.text_patterns import TextQuery
from tests.support import PATIENCE_S, write


@pytest.mark.slow
def test_what_the_index_has_is_found_though_more_files_wait_than_there_is_time_for(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", {"cart.py": "def zebra_price():\n    return 1\n"})
    client = local_client()
    view = client.open(root)
    view.indexing.index_tree(Depth.WORDS)
    assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    client.close()
    large = write(tmp_path, {"large.py": "value = 1\n" * 80_000}) / "large.py"
    for number in range(2000):
        os.link(large, root / f"large_{number}.py")
    client = local_client()
    view = client.open(root)
    view.indexing.index_tree(Depth.COMPARE)
    assert view.indexing.wait_for_scan(PATIENCE_S)
    request = PlacesRequest((TextQuery("zebra_price"),), counted=1000, longest_s=1.5)
    found = find_places(view, request)
    client.close()
    assert [place.path for place in found.places] == ["cart.py"]
    assert found.unread
