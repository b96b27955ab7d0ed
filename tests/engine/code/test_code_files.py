"""The documents as references read them."""

from __future__ import annotations

from pathlib import Path

from rag_ls.engine.client import Client
from rag_ls.engine.code.references.code_files import CodeFiles
from rag_ls.model import Use, UseKind
from tests.operations.code.projects import index_project
from tests.support import write


def test_the_text_before_a_use_is_read_by_bytes_and_ends_with_the_document(client: Client, tmp_path: Path) -> None:
    client.open(write(tmp_path / "shop", {"shop/cart.py": 'first = "größe" + pack(1)\nsecond = pack(2)\n'}))
    index_project(client, embeddings=False)
    files = CodeFiles(client.projects()[0])
    source = files.file_at("shop/cart.py")
    assert source is not None
    befores = [files.text_before(source, use) for use in source.read_uses({"pack"})]
    assert befores == ['first = "größe" + ', "second = "]
    assert files.text_before(source, Use("pack", UseKind.CALL, 99, 4)) == ""
