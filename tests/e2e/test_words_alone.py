"""Somebody who wants no embedding model: words answer, nothing waits, and nothing is told as missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.locations import user_config_file
from tests.daemon.engines import answer, run
from tests.support import write

pytestmark = pytest.mark.slow


_OFF = 'embedding is off (embedding.model = "none"); set it to "auto"'


def _choose_model(name: str) -> None:
    user_config_file().parent.mkdir(parents=True, exist_ok=True)
    user_config_file().write_text(f'[embedding]\nmodel = "{name}"\n')


def test_without_a_model_an_index_is_complete_and_answers_say_nothing_of_it(repository: Path) -> None:
    _choose_model("none")
    done = run("index", folder=repository)
    assert (done.returncode, "model" in done.stderr) == (0, False)
    found = answer("search", "discount", folder=repository)
    assert found["results"]
    assert found["stats"]["complete"]
    assert "note" not in found["stats"]
    status = answer("status", folder=repository)
    assert (status["complete"], status["pending_embeddings"], "note" in status) == (True, 0, False)
    assert "none, as embedding.model says" in run("doctor", folder=repository).stdout
    assert status["indexed_percent"] == {"words": 100, "vectors": 100}
    assert run("add", "discounts are for members", folder=repository).returncode == 0
    assert "note" not in answer("memory", "search", "members", folder=repository)["stats"]
    assert "note" not in answer("related", "src/shop.py:1", folder=repository)["stats"]
    for arguments in (("memory", "consolidate"), ("doctor", "--confirm-endpoint", "--yes")):
        assert _OFF in run(*arguments, folder=repository).stderr
    publish = ("store", "publish", "--store", "postgresql://127.0.0.1:1/shop")
    assert _OFF in run(*publish, folder=repository, RAG_LS_STORE_SHARE="vectors,chunks").stderr


def test_vectors_of_a_former_model_rest_until_there_is_one_again(repository: Path) -> None:
    assert run("index", folder=repository).returncode == 0
    run("stop")
    _choose_model("none")
    write(repository, {"src/late.py": "def settle_invoice():\n    return 1\n"})
    assert run("index", folder=repository).returncode == 0
    assert not answer("search", "settle the invoice", folder=repository)["stats"]["dense"]
    run("stop")
    _choose_model("auto")
    assert run("index", folder=repository).returncode == 0
    assert answer("search", "settle the invoice", folder=repository)["stats"]["dense"]


def test_a_running_engine_makes_way_for_one_without_a_model_and_back(repository: Path) -> None:
    engines = set()
    for name, model in (("auto", True), ("none", False), ("auto", True)):
        _choose_model(name)
        status = answer("status", folder=repository)
        assert bool(status["model"]) is model
        engines.add(status["engine"]["pid"])
    assert len(engines) == 3
