"""Settings of the first documents do what they say: locations, connections, the log, and the pause before files are read."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from rag_ls.daemon import connecting
from rag_ls.daemon.channel import Channel
from rag_ls.daemon.paths import engine_paths
from rag_ls.engine.client import Client
from rag_ls.locations import user_config_file
from tests.daemon.engines import answer, engine, hello, run
from tests.support import PATIENCE_S, until, write


def _configure(text: str) -> None:
    file = user_config_file()
    write(file.parent, {file.name: text})


def _connect() -> Channel:
    found = connecting.connect(engine_paths(), PATIENCE_S)
    assert found is not None
    return Channel(found[0])


@pytest.mark.slow
@pytest.mark.parametrize("by", ["file", "environment"])
def test_indexes_and_memories_lie_where_the_settings_say(
    shop: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    data, indexes = tmp_path / "large/data", tmp_path / "large/indexes"
    if by == "file":
        _configure(f"[locations]\ndata = {json.dumps(str(data))}\nindexes = {json.dumps(str(indexes))}\n")
    else:
        monkeypatch.setenv("RAG_LS_LOCATIONS_DATA", str(data))
        monkeypatch.setenv("RAG_LS_LOCATIONS_INDEXES", str(indexes))
    for options in (["--standalone"], []):
        assert run("index", *options, folder=shop).returncode == 0
        assert run("add", f"Prices are net, {options}.", *options, folder=shop).returncode == 0
        assert answer("search", "total_price", *options, folder=shop / "src")["results"][0]["path"] == "src/cart.py"
    assert answer("list", folder=shop)["total"] == 2
    # What tells whose memories are meant stays with the project.
    assert {each.name for each in (shop / ".rag-ls").iterdir()} == {".gitignore", "memories.id"}
    assert not (home / "data").exists()
    assert len(list(indexes.glob("*/index.db"))) == 1
    assert list(data.rglob("memories.db"))
    assert f"as locations.indexes says: its index is in {indexes}" in run("doctor", folder=shop).stdout


@pytest.mark.slow
def test_a_location_that_is_no_full_path_is_told_and_does_not_count(shop: Path, home: Path) -> None:
    _configure('[locations]\ndata = "data"\n')
    done = run("add", "Prices are net.", folder=shop)
    assert "locations.data = 'data' must be a full path, or begin with ~" in done.stderr
    assert list((home / "data").rglob("memories.db"))


@pytest.mark.slow
def test_a_project_cannot_say_where_data_lie(shop: Path, tmp_path: Path) -> None:
    write(shop, {"rag-ls.toml": f"[locations]\nindexes = {json.dumps(str(tmp_path / 'mine'))}\n"})
    assert "[locations] is the user's to set" in run("index", folder=shop).stderr
    assert (shop / ".rag-ls/index.db").exists()
    assert not (tmp_path / "mine").exists()


@pytest.mark.slow
def test_further_clients_than_the_settings_allow_work_alone(shop: Path) -> None:
    with engine(RAG_LS_DAEMON_MAX_CONNECTIONS="1"):
        first = _connect()
        while not (hello(first) or {})["ok"]:
            # The fixture's own connection is not over yet.
            first = _connect()
        done = run("add", "Prices are net.", folder=shop)
        assert done.returncode == 0
        assert "serves 1 clients, the most that daemon.max_connections allows; working without it" in done.stderr
        first.hang_up()
        assert until(lambda: run("list", folder=shop).stderr == "")


@pytest.mark.slow
def test_the_log_has_a_line_for_each_client_and_file_and_at_debug_for_each_question(shop: Path) -> None:
    _configure('[log]\nlevel = "debug"\n')
    with engine():
        log = Path(engine_paths().log)
        assert run("index", folder=shop).returncode == 0
        write(shop, {"src/cart.py": "def other(): ...\n"})
        assert run("search", "other", folder=shop).returncode == 0
        assert until(lambda: log.read_text().count("'cli' left") > 1)
    said = log.read_text()
    assert "'cli' came" in said
    assert f"'src/cart.py' of {shop} was indexed anew in " in said or f"waiting files of {shop} were read in " in said
    assert "search for 'cli' took " in said


@pytest.mark.slow
def test_at_the_usual_level_the_log_names_no_question(shop: Path) -> None:
    with engine():
        assert run("index", folder=shop).returncode == 0
        assert run("search", "total_price", folder=shop).returncode == 0
    assert "search for 'cli'" not in Path(engine_paths().log).read_text()


@pytest.mark.slow
def test_files_are_read_once_nothing_was_written_for_the_pause(words_alone: None, client: Client, shop: Path) -> None:
    write(shop, {"rag-ls.toml": "[index]\ndebounce_ms = 1500\n"})
    view = client.open(shop)
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    assert until(lambda: not view.project.sync.problem)
    # The watch begins with a comparison of its own, which reads what it finds at once.
    assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    assert view.project.sync.quiet_s == 1.5
    write(shop, {"src/new.py": "def brand_new(): ...\n"})
    time.sleep(0.3)
    assert view.store.document("src/new.py") is None
    assert until(lambda: view.store.document("src/new.py") is not None)
