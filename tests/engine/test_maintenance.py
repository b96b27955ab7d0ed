"""What an engine does by itself: it follows settings files, and consolidates where that is wanted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rag_ls.config.trust import users_trusted_folders
from rag_ls.engine.client import Client, local_client
from rag_ls.engine.events import Event, SettingsChanged
from rag_ls.engine.requests import SearchRequest
from rag_ls.memory import NewMemory, utc_now
from rag_ls.model import Scope
from tests.support import PATIENCE_S, until, write


@pytest.mark.slow
def test_a_settings_file_counts_as_soon_as_it_is_written(client: Client, shop: Path, home: Path) -> None:
    view = client.open(shop)
    write(home, {"config/config.toml": "[search]\ncode_k = 3\n"})
    assert until(lambda: view.settings.search.code_k == 3)
    write(shop, {"rag-ls.toml": "[search]\ncode_k = 4\n"})
    assert until(lambda: view.settings.search.code_k == 4)
    write(shop, {"rag-ls.toml": "[search]\ncode_k = many\n"})
    assert until(lambda: any("is not TOML" in problem.message for problem in client.problems()))
    assert view.settings.search.code_k == 4
    (shop / "rag-ls.toml").unlink()
    assert until(lambda: view.settings.search.code_k == 3)


@pytest.mark.slow
def test_a_folder_s_waiting_settings_count_as_soon_as_it_is_trusted(client: Client, shop: Path) -> None:
    write(shop, {"rag-ls.toml": "[index]\nmax_file_bytes = 5000000\n"})
    view = client.open(shop)
    assert view.settings.index.max_file_bytes == 1_000_000
    users_trusted_folders().add(shop)
    assert until(lambda: view.project.settings.index.max_file_bytes == 5_000_000)
    assert view.settings.index.max_file_bytes == 5_000_000
    users_trusted_folders().remove(shop)
    assert until(lambda: view.project.settings.index.max_file_bytes == 1_000_000)


@pytest.mark.slow
def test_listeners_are_told_until_they_leave(client: Client, shop: Path) -> None:
    client.open(shop)
    told: list[str] = []

    def listener(name: str) -> Callable[[Event], None]:
        return lambda event: told.append(name) if isinstance(event, SettingsChanged) else None

    leave = client.engine.events.listen(listener("one"))
    client.engine.events.listen(listener("other"))
    # The first look at a project's file is no change.
    assert until(lambda: not told)
    write(shop, {"rag-ls.toml": "[search]\ncode_k = 4\n"})
    assert until(lambda: {"one", "other"} <= set(told))
    leave()
    told.clear()
    write(shop, {"rag-ls.toml": "[search]\ncode_k = 40\n"})
    assert until(lambda: "other" in told)
    assert "one" not in told


def test_one_file_that_cannot_be_read_at_all_does_not_end_the_care_for_others(
    client: Client, shop: Path, home: Path
) -> None:
    view = client.open(shop)
    write(shop, {"rag-ls.toml": "x = " + "[" * 20_000})
    assert until(lambda: any("is not TOML" in problem.message for problem in client.problems()))
    write(shop, {"rag-ls.toml": "[search]\ncode_k = 4\n"})
    assert until(lambda: view.settings.search.code_k == 4)


@pytest.mark.slow
def test_memories_without_vectors_get_them_by_and_by(client: Client, shop: Path) -> None:
    view = client.open(shop)
    assert until(lambda: view.project.model(1.0))
    model = view.project.model(0.0)
    assert model is not None
    store = view.memories.of(Scope.PROJECT)
    for number in range(20):
        view.memories.store(NewMemory(f"Retry rule number {number}", Scope.PROJECT), None)
    assert until(lambda: store.vectors.missing_count(model.card.id) == 0)


def test_what_fails_at_every_look_is_logged_once(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without its model an engine wrote a line into its log at each look, more than once a second."""
    monkeypatch.setenv("RAG_LS_EMBEDDING_MODEL", "no-such-model")
    client = local_client()
    looks: list[Event] = []
    try:
        view = client.open(shop)
        client.engine.events.listen(lambda event: looks.append(event) if isinstance(event, SettingsChanged) else None)
        view.memories.store(NewMemory("Prices are net of tax", Scope.GLOBAL), None)
        for number in range(1, 4):
            write(shop, {"rag-ls.toml": f"[search]\ncode_k = {number}\n"})
            assert until(lambda number=number: len(looks) >= number)
    finally:
        client.close()
    assert capsys.readouterr().err.count("no-such-model") == 1


@pytest.mark.slow
def test_other_languages_and_another_strategy_cut_the_index_anew(client: Client, shop: Path) -> None:
    view = client.open(shop)
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)

    def symbols() -> set[str]:
        return {hit.item.chunk.symbol for hit in view.search(SearchRequest("total price discount")).hits}

    def paths() -> set[str]:
        return {hit.item.chunk.path for hit in view.search(SearchRequest("invoice discount session refund")).hits}

    assert "total_price" in symbols()
    write(shop, {"rag-ls.toml": '[languages]\nenabled = ["python"]\n'})
    assert until(lambda: paths() == {"src/auth.py", "src/cart.py"})
    assert until(lambda: view.status().skipped.get("language not enabled", 0) >= 2)
    write(shop, {"rag-ls.toml": '[chunking]\nstrategy = "lines"\n'})
    assert until(lambda: symbols() == {""} and "src/mail.js" in paths())


def test_memories_that_say_the_same_are_merged_while_idle_where_that_is_wanted(shop: Path) -> None:
    users_trusted_folders().add(shop)
    client = local_client(editor={"consolidation": {"auto_consolidate": True, "similarity_threshold": 0.8}})
    try:
        view = client.open(shop)
        assert until(lambda: view.project.model(1.0))
        for content in ("Cart prices are net of tax", "The cart prices are net of tax."):
            view.memories.store(NewMemory(content, Scope.PROJECT), view.project.model())
        view.project.memories.consolidate_if_wanted(utc_now)
        assert view.memories.of(Scope.PROJECT).count() == 1
    finally:
        client.close()


def test_nothing_is_merged_unasked(client: Client, shop: Path) -> None:
    view = client.open(shop)
    assert until(lambda: view.project.model(1.0))
    for content in ("Cart prices are net of tax", "The cart prices are net of tax."):
        view.memories.store(NewMemory(content, Scope.PROJECT), view.project.model())
    view.project.memories.consolidate_if_wanted(utc_now)
    assert view.memories.of(Scope.PROJECT).count() == 2


def test_a_model_of_another_dimension_is_refused_by_name(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_LS_EMBEDDING_DIMENSION", "768")
    client = local_client()
    try:
        view = client.open(shop)
        assert until(lambda: "384 dimensions, embedding.dimension asks for 768" in view.status().note)
    finally:
        client.close()
