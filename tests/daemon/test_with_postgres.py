"""`rag-ls serve --with-postgres`: a store for trials that comes and goes with the engine."""

from __future__ import annotations

import re
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.commands import RAG_LS
from tests.daemon.engines import engine, run
from tests.support import IS_ROOT, PATIENCE_S, SHOP, until, write

pytestmark = pytest.mark.slow


@contextmanager
def _trial() -> Iterator[str]:
    """An engine with its PostgreSQL; the URL that it prints."""
    process = subprocess.Popen(
        [RAG_LS, "serve", "--with-postgres"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        yield next(found[1] for line in lines if (found := re.search(r"for trials at (\S+);", line)))
    finally:
        run("stop")
        process.communicate(timeout=PATIENCE_S)


def _servers(folder: Path) -> list[int]:
    running = (process.info for process in psutil.process_iter(["pid", "cmdline"]))
    return [
        item["pid"] for item in running if str(folder) in " ".join(item["cmdline"] or []) and "-D" in item["cmdline"]
    ]


def test_a_trial_needs_one_command_and_keeps_its_data(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_LS_STORE_SEARCH", "server")
    shop = write(tmp_path / "shop", SHOP)
    for _ in range(2):
        with _trial() as url:
            assert run("index", str(shop)).returncode == 0
            listed = run("store", "projects", "--store", url)
            assert f"shop  {len(SHOP)} vectors" in listed.stdout, listed
            assert _servers(home)
        assert until(lambda: not _servers(home)), "it ends with the engine"


@pytest.mark.skipif(not IS_ROOT, reason="for others it is a folder of their own")
def test_for_root_it_lies_in_no_private_folder_and_outlives_what_makes_one(home: Path, tmp_path: Path) -> None:
    shop = write(tmp_path / "shop", SHOP)
    with _trial() as url:
        (number,) = {each for each in _servers(home) if psutil.Process(each).username() != "root"}
        assert run("add", "Prices are net.", folder=shop).returncode == 0
        assert stat.S_IMODE((home / "data").stat().st_mode) == 0o700
        folder = Path(psutil.Process(number).cwd())
        assert home / "data" not in folder.parents
        # Its user can open it by its path, as it does when it makes a connection or ends.
        enters = ["setpriv", "--reuid", folder.owner(), "--clear-groups", "test", "-r", str(folder / "postmaster.pid")]
        assert subprocess.run(enters, check=False).returncode == 0
        assert "searches no projects" in run("store", "projects", "--store", url).stderr
    assert until(lambda: not _servers(home))


@pytest.mark.parametrize("options", [("--detach",), ()])
def test_what_cannot_be_combined_says_so(home: Path, options: tuple[str, ...]) -> None:
    if options:
        done = run("serve", "--with-postgres", *options)
        assert "leave out --detach" in done.stderr
    else:
        with engine():
            done = run("serve", "--with-postgres")
        assert "`rag-ls stop` ends it" in done.stderr
    assert done.returncode == 1
