"""A client as its surface serves it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_ls.engine.client import local_client
from rag_ls.errors import NotConfirmed, NotIndexed
from rag_ls.operations import OPERATIONS, ClientSession, client_session
from tests.support import PATIENCE_S, write

_CODE = "\n\n".join(f"def zebra_{number}(value):\n    return value + {number}\n" for number in range(10))


@pytest.fixture(params=["lsp", "mcp", "cli"])
def session(request: pytest.FixtureRequest) -> Iterator[ClientSession]:
    """A client of each surface, with an engine of its own."""
    session = ClientSession(local_client(request.param))
    yield session
    session.client.close()


def test_a_client_that_stays_in_a_folder_has_it_indexed(session: ClientSession, shop: Path) -> None:
    assert session.work_in(shop).project.root == shop.resolve()
    assert session.client.projects()[0].indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    assert session.operations.run("search_code", {"query": "total_price"})["results"][0]["path"] == "src/cart.py"


def test_a_folder_that_is_no_project_says_so_and_leaves_memories(session: ClientSession) -> None:
    with pytest.raises(NotIndexed):
        session.work_in(Path(tempfile.gettempdir()))
    with pytest.raises(NotIndexed):
        session.operations.run("search_code", {"query": "anything"})
    stored = session.operations.run("store_memory", {"content": "Prices are rounded half up.", "scope": "global"})
    assert stored["scope"] == "global"


def test_the_toolsets_are_those_of_the_project_where_there_is_one(session: ClientSession, shop: Path) -> None:
    write(shop, {"rag-ls.toml": '[mcp]\ntoolsets = ["memory"]\n'})
    assert set(session.toolsets) > {"memory"}
    session.work_in(shop)
    assert session.toolsets == ("memory",)


def test_one_operation_makes_a_project_of_a_folder_only_where_it_is_for_that(
    session: ClientSession, tmp_path: Path
) -> None:
    folder = write(tmp_path / "plain", {"a.py": "x = 1\n"})
    with pytest.raises(NotIndexed):
        session.enter(str(folder), OPERATIONS.find("search_code"))
    assert not (folder / ".rag-ls").exists()
    session.enter(str(folder), OPERATIONS.find("index"))
    assert (folder / ".rag-ls").is_dir()


def test_a_very_large_tree_is_indexed_for_the_first_time_only_by_force(
    session: ClientSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_session, "MAX_UNASKED_FILES", 10)
    files = {f"vendor/lib/{number}.py": "x = 1\n" for number in range(8)}
    folder = write(tmp_path / "large", files | {f"src/{number}.py": "y = 2\n" for number in range(3)})
    index = OPERATIONS.find("index")
    with pytest.raises(NotConfirmed, match=r"more than 10 files.* vendor/lib \(8\), src \(3\).*\.ragignore.*--force"):
        session.check_first_index(str(folder), index)
    assert not (folder / ".rag-ls").exists()
    session.check_first_index(str(folder), OPERATIONS.find("search_code"))
    write(folder, {".ragignore": "vendor/\n"})
    session.check_first_index(str(folder), index)
    # What is indexed once is not asked about again.
    session.enter(str(folder), index)
    view = session.client.projects()[0]
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    (folder / ".ragignore").unlink()
    session.check_first_index(str(folder), index)


@pytest.mark.slow
def test_answers_to_agents_alone_are_cut_to_a_budget(session: ClientSession, tmp_path: Path) -> None:
    files = {f"zebra_{file}.py": _CODE.replace("zebra", f"zebra_{file}") for file in range(120)}
    session.work_in(write(tmp_path / "large", files | {".git/HEAD": "ref: refs/heads/main\n"}))
    assert session.client.projects()[0].indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    answer = session.operations.run("search_code", {"query": "zebra value", "k": 100})
    assert ("raise it" in answer["stats"].get("note", "")) is (session.client.about.surface == "mcp")
