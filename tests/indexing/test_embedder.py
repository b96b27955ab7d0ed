"""What is embedded first."""

from __future__ import annotations

import psutil
import pytest

from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.indexing import reason_to_wait
from rag_ls.storage import Priority
from rag_ls.storage.sqlite.checkout import CheckoutIndex
from tests.support import MODEL, new_chunk, record


def _save(store: CheckoutIndex, path: str, *, priority: Priority = Priority.REST) -> int:
    chunks = [new_chunk(f"text of {path}", path=path)]
    store.replace_document(record(path), chunks, priority=priority)
    document = store.document(path)
    assert document is not None
    return document.id


def test_chunks_are_embedded_in_the_order_of_what_matters(store: CheckoutIndex) -> None:
    store.embeddings.activate(MODEL)
    numbers = {path: _save(store, path) for path in ("rest.py", "returned.py")}
    _save(store, "open.py", priority=Priority.INTERACTIVE)
    store.embeddings.prefer([numbers["returned.py"]], Priority.RETURNED)
    order = [chunk.path for _, chunk in store.embeddings.pending(MODEL, 10)]
    assert order == ["open.py", "returned.py", "rest.py"]
    assert [chunk.path for _, chunk in store.embeddings.pending(MODEL, 10, at_least=Priority.INTERACTIVE)] == [
        "open.py"
    ]


def test_background_embedding_waits_on_battery_unless_the_settings_say_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    battery = psutil._common.sbattery if hasattr(psutil._common, "sbattery") else psutil._ntuples.sbattery
    monkeypatch.setattr(psutil, "sensors_battery", lambda: battery(80, 3600, False), raising=False)
    assert "on battery" in reason_to_wait(EmbeddingSettings())
    assert reason_to_wait(EmbeddingSettings(on_battery=True)) == ""
    monkeypatch.setattr(psutil, "sensors_battery", lambda: battery(80, 3600, True), raising=False)
    assert reason_to_wait(EmbeddingSettings()) == ""
    monkeypatch.setattr(psutil, "sensors_battery", lambda: None, raising=False)
    assert reason_to_wait(EmbeddingSettings()) == ""
