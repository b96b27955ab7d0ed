"""`rag-ls serve --with-postgres`: a store for trials that comes and goes with the engine."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.commands import RAG_LS
from tests.daemon.engines import engine, run
from tests.support import PATIENCE_S, SHOP, until, write

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
