"""The facade: projects, scratch documents, settings."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest

from rag_ls.config.settings import Settings
from rag_ls.embedding import EMBEDDED_TEXTS
from rag_ls.engine.client import Client, local_client
from rag_ls.engine.requests import SearchRequest
from rag_ls.errors import ProjectUnavailable
from rag_ls.indexing import Buffer
from rag_ls.model import Coverage
from rag_ls.util.secret_texts import Blanked
from tests.support import PATIENCE_S, embedding_count, write


def test_a_project_is_opened_once(client: Client, shop: Path) -> None:
    view = client.open(shop)
    assert client.open(shop) is view
    assert client.projects() == [view]
    client.close_project(shop)
    assert client.projects() == []


def test_opening_indexes_nothing_by_itself(client: Client, shop: Path) -> None:
    view = client.open(shop)
    assert view.project.never_indexed
    assert not view.status().complete
    assert view.store.documents() == {}


def test_nothing_is_called_found_before_anything_was_read(client: Client, shop: Path) -> None:
    view = client.open(shop)
    assert (view.status().documents, view.status().coverage) == (0, Coverage(0, 0))
    view.keep_indexed()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    assert view.status().coverage.words == 100


def test_a_missing_folder_cannot_be_opened(client: Client, tmp_path: Path) -> None:
    with pytest.raises(ProjectUnavailable):
        client.open(tmp_path / "missing")


def test_a_file_belongs_to_the_innermost_project(client: Client, tmp_path: Path) -> None:
    write(tmp_path, {"outer/.rag-ls/x": "", "outer/inner/.rag-ls/x": ""})
    outer, inner = client.open(tmp_path / "outer"), client.open(tmp_path / "outer/inner")
    assert client.project_of(tmp_path / "outer/inner/a.py") is inner
    assert client.project_of(tmp_path / "outer/a.py") is outer
    assert client.project_of(tmp_path / "a.py") is None


def test_a_scratch_project_holds_unsaved_text_and_goes_with_the_engine(client: Client) -> None:
    scratch = client.open_scratch()
    scratch.buffer_changed(Buffer("untitled:1", "zebra = 1\n", "python", guest=True))
    assert scratch.indexing.wait_until_idle(PATIENCE_S)
    assert [hit.item.chunk.path for hit in scratch.search(SearchRequest("zebra")).hits] == ["untitled:1"]
    client.close()
    assert not scratch.project.root.exists()


def test_text_that_is_typed_while_the_index_is_gone_counts_in_the_one_that_is_made_anew(
    client: Client, shop: Path
) -> None:
    view = client.open(shop)
    former, text = view.project, "def zebra():\n    return 1\n"
    view.buffer_changed(Buffer("src/other.py", "def giraffe():\n    return 1\n"))
    shutil.rmtree(shop / ".rag-ls")
    view.buffer_changed(Buffer("src/cart.py", text))
    assert client.projects() == [view]
    assert view.project is not former
    assert view.unsaved_text("src/cart.py") == Blanked(text)
    assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    assert {record.path for record in view.store.unsaved_documents()} == {"src/cart.py", "src/other.py"}


def test_text_that_is_typed_stays_where_the_settings_of_the_index_made_anew_cannot_be_read(
    client: Client, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = client.open(shop)
    former, text = view.project, "def zebra():\n    return 1\n"
    view.buffer_changed(Buffer("src/cart.py", text))
    shutil.rmtree(shop / ".rag-ls")

    def fail() -> Settings:
        raise OSError("a drive hangs")

    with monkeypatch.context() as broken:
        broken.setattr(view, "_load_settings", fail)
        with pytest.raises(OSError, match="a drive hangs"):
            client.projects()
    assert (view.project, view.unsaved_text("src/cart.py")) == (former, Blanked(text))
    assert client.projects() == [view]
    assert view.project is not former
    assert view.unsaved_text("src/cart.py") == Blanked(text)


def test_closing_takes_unsaved_text_along_and_keeps_the_files(shop: Path) -> None:
    client = local_client()
    view = client.open(shop)
    view.indexing.index_tree()
    view.buffer_changed(Buffer("src/cart.py", "zebra = 1\n"))
    assert view.indexing.wait_until_idle(PATIENCE_S)
    client.close()
    again = local_client()
    view = again.open(shop)
    assert (view.store.unsaved_documents(), len(view.store.documents())) == ([], 4)
    again.close()


def test_text_that_comes_for_a_project_that_its_client_has_closed_is_in_no_index(client: Client, shop: Path) -> None:
    closed = client.open(shop)
    closed.buffer_changed(Buffer("src/cart.py", "def zebra():\n    return 1\n"))
    client.close_project(shop)
    closed.buffer_changed(Buffer("src/cart.py", "def giraffe():\n    return 1\n"))
    opened = client.open(shop)
    opened.indexing.index_tree()
    assert opened.indexing.wait_until_idle(PATIENCE_S)
    assert opened.store.unsaved_documents() == []
    assert closed.unsaved_text("src/cart.py") is None


def test_an_index_survives_a_restart_without_new_embeddings(shop: Path) -> None:
    last = []
    for _ in range(2):
        client = local_client()
        view = client.open(shop)
        view.indexing.index_tree()
        assert view.indexing.wait_until_idle(PATIENCE_S)
        last.append(embedding_count(view))
        client.close()
    assert last[0] == last[1] > 0


def test_a_renamed_file_costs_no_embedding(client: Client, shop: Path) -> None:
    view = client.open(shop)
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    before = embedding_count(view)
    (shop / "src/cart.py").rename(shop / "src/basket.py")
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    assert {"src/basket.py"} == set(view.store.documents()) - {"docs/guide.md", "src/auth.py", "src/mail.js"}
    assert embedding_count(view) == before


def test_all_data_is_readable_by_its_user_alone(client: Client, shop: Path, home: Path) -> None:
    from rag_ls.memory import NewMemory
    from rag_ls.model import Scope

    view = client.open(shop)
    view.indexing.index_tree()
    for scope in (Scope.PROJECT, Scope.GLOBAL):
        view.memories.store(NewMemory("use tabs", scope), view.project.model())
    assert view.indexing.wait_until_idle(PATIENCE_S)
    for folder in (shop / ".rag-ls", home / "data"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        files = [file for file in folder.rglob("*") if file.is_file() and file.name != ".gitignore"]
        assert {"index.db", "memories.db"} & {file.name for file in files}
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_without_a_model_words_still_find_and_the_answer_says_so(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_LS_EMBEDDING_MODEL", "no-such-model")
    client = local_client()
    view = client.open(shop)
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    answer = view.search(SearchRequest("discount"))
    assert [hit.item.chunk.path for hit in answer.hits] == ["src/cart.py"]
    assert (answer.stats.dense, answer.stats.complete) == (False, False)
    assert "no-such-model" in str(answer.stats.notes)
    client.close()


def test_settings_of_the_editor_hold_at_once(client: Client, shop: Path) -> None:
    view = client.open(shop)
    loaded = client.apply_editor_settings({"search": {"codeK": 1, "unknown": 2}})
    assert view.settings.search.code_k == 1
    assert [problem.source for problem in loaded.problems] == ["editor settings"]


@pytest.mark.slow
def test_a_copy_of_a_project_costs_no_embedding(client: Client, tmp_path: Path) -> None:
    functions = "".join(f"def function_{n}(value):\n    return value * {n} + {n * n}\n\n\n" for n in range(200))
    write(tmp_path, {"one/.rag-ls/x": "", "one/a.py": functions, "two/.rag-ls/x": "", "two/a.py": functions})
    embedded = []
    for name in ("one", "two"):
        view = client.open(tmp_path / name)
        view.indexing.index_tree()
        assert view.indexing.wait_until_idle(PATIENCE_S)
        assert view.status().complete
        embedded.append(client.engine.counts[EMBEDDED_TEXTS])
    assert embedded[0] > 0
    assert embedded[1] == embedded[0]
