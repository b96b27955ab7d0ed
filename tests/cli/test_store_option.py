"""`rag-ls index --store`, as CI uses it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import run_command
from tests.storage.postgres.servers import postgres
from tests.support import SHOP, write

_COMMAND = str(Path(sys.executable).with_name("rag-ls"))


def _index(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return run_command("index", *options, "--json", folder=folder)


@pytest.mark.slow
def test_ci_fills_the_store(home: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = write(tmp_path / "shop", SHOP)
    with postgres(tmp_path_factory.mktemp("store")) as server:
        database = server.database()
        done = _index(folder, "--store", server.url(database), "--only-missing")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["complete"]
        ((count,),) = server.run("SELECT count(*) FROM rag_ls.rag_vector", database)
        assert count == len(SHOP)


@pytest.mark.parametrize("options", [(), ("--only-missing",)])
def test_a_store_that_cannot_be_asked_fails_and_shows_no_password(
    home: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    folder = write(tmp_path / "shop", SHOP)
    done = _index(folder, "--store", "postgresql://ci:hush@127.0.0.1:1/team", *options)
    assert done.returncode == 1
    assert "127.0.0.1:1/team cannot be reached" in done.stderr
    assert "hush" not in done.stderr + done.stdout
    assert (folder / ".rag-ls/index.db").exists() is not bool(options), "nothing is embedded with --only-missing"
