"""An editor on the shop, with its server in this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_ls.engine.client import local_client
from tests.lsp.in_process import InProcessEditor, in_process_editor
from tests.support import until

ASKS_FOR_NOTES = {"experimental": {"ragLs": {"asksForNotes": True}}}


@pytest.fixture
def editor(shop: Path) -> Iterator[InProcessEditor]:
    """The shop, indexed; the editor asks its user for notes."""
    client = local_client("lsp")
    with in_process_editor(client, shop, capabilities=ASKS_FOR_NOTES) as editor:
        assert until(lambda: editor.command("status")["complete"])
        yield editor


@pytest.fixture
def cart(editor: InProcessEditor, shop: Path) -> Path:
    """`src/cart.py`, open in the editor; `total_price` is on its first line."""
    file = shop / "src/cart.py"
    editor.open(file)
    return file
