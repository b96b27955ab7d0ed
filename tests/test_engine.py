"""The facade: projects, scratch documents, settings."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from rag_ls.engine import Engine
from rag_ls.errors import ProjectUnavailable
from rag_ls.indexing import Buffer
from rag_ls.requests import SearchRequest
from tests.support import PATIENCE_S, write


def test_a_project_is_opened_once(engine: Engine, shop: Path) -> None:
    opened = engine.open(shop)
    assert engine.open(shop) is opened
    assert engine.projects() == [opened]
    engine.close_project(shop)
    assert engine.projects() == []


def test_opening_indexes_nothing_by_itself(engine: Engine, shop: Path) -> None:
    opened = engine.open(shop)
    assert opened.never_indexed
    assert not opened.status().complete
    assert opened.store.documents() == {}


def test_a_missing_folder_cannot_be_opened(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(ProjectUnavailable):
        engine.open(tmp_path / "missing")


def test_a_file_belongs_to_the_innermost_project(engine: Engine, tmp_path: Path) -> None:
    write(tmp_path, {"outer/.rag-ls/x": "", "outer/inner/.rag-ls/x": ""})
    outer, inner = engine.open(tmp_path / "outer"), engine.open(tmp_path / "outer/inner")
    assert engine.project_of(tmp_path / "outer/inner/a.py") is inner
    assert engine.project_of(tmp_path / "outer/a.py") is outer
    assert engine.project_of(tmp_path / "a.py") is None


def test_a_scratch_project_holds_unsaved_text_and_goes_with_the_engine(engine: Engine) -> None:
    scratch = engine.open_scratch()
    scratch.buffer_changed(Buffer("untitled:1", "zebra = 1\n", "python", guest=True))
    assert scratch.indexing.wait_until_idle(PATIENCE_S)
    assert [hit.item.chunk.path for hit in scratch.search(SearchRequest("zebra")).hits] == ["untitled:1"]
    engine.close()
    assert not scratch.project.root.exists()


def test_closing_takes_unsaved_text_along_and_keeps_the_files(shop: Path) -> None:
    engine = Engine()
    opened = engine.open(shop)
    opened.indexing.index_tree()
    opened.buffer_changed(Buffer("src/cart.py", "zebra = 1\n"))
    assert opened.indexing.wait_until_idle(PATIENCE_S)
    engine.close()
    again = Engine()
    opened = again.open(shop)
    assert (opened.store.unsaved_documents(), len(opened.store.documents())) == ([], 4)
    again.close()


def test_an_index_survives_a_restart_without_new_embeddings(shop: Path) -> None:
    last = []
    for _ in range(2):
        engine = Engine()
        opened = engine.open(shop)
        opened.indexing.index_tree()
        assert opened.indexing.wait_until_idle(PATIENCE_S)
        last.append(opened.store.embeddings.last_id())
        engine.close()
    assert last[0] == last[1] > 0


def test_a_renamed_file_costs_no_embedding(engine: Engine, shop: Path) -> None:
    opened = engine.open(shop)
    opened.indexing.index_tree()
    assert opened.indexing.wait_until_idle(PATIENCE_S)
    before = opened.store.embeddings.last_id()
    (shop / "src/cart.py").rename(shop / "src/basket.py")
    opened.indexing.index_tree()
    assert opened.indexing.wait_until_idle(PATIENCE_S)
    assert {"src/basket.py"} == set(opened.store.documents()) - {"docs/guide.md", "src/auth.py", "src/mail.js"}
    assert opened.store.embeddings.last_id() == before


def test_all_data_is_readable_by_its_user_alone(engine: Engine, shop: Path, home: Path) -> None:
    from rag_ls.memory import NewMemory
    from rag_ls.model import Scope

    opened = engine.open(shop)
    opened.indexing.index_tree()
    for scope in (Scope.PROJECT, Scope.GLOBAL):
        opened.remember(NewMemory("use tabs", scope))
    assert opened.indexing.wait_until_idle(PATIENCE_S)
    for folder in (shop / ".rag-ls", home / "data"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        files = [file for file in folder.rglob("*") if file.is_file() and file.name != ".gitignore"]
        assert any(file.name == "memories.db" for file in files)
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_without_a_model_words_still_find_and_the_answer_says_so(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_LS_EMBEDDING_MODEL", "no-such-model")
    engine = Engine()
    opened = engine.open(shop)
    opened.indexing.index_tree()
    assert opened.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    answer = opened.search(SearchRequest("discount"))
    assert [hit.item.chunk.path for hit in answer.hits] == ["src/cart.py"]
    assert (answer.stats.dense, answer.stats.complete) == (False, False)
    assert "no-such-model" in answer.stats.note
    engine.close()


def test_settings_of_the_editor_hold_at_once(engine: Engine, shop: Path) -> None:
    opened = engine.open(shop)
    loaded = engine.apply_editor_settings({"search": {"k": 1, "unknown": 2}})
    assert opened.settings.search.k == 1
    assert [problem.source for problem in loaded.problems] == ["editor settings"]
