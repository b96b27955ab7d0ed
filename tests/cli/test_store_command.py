"""`rag-ls store`: what a person publishes, lists and drops."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from rag_ls.storage.postgres.project_vectors import PostgresProjectVectors
from rag_ls.storage.qdrant.vectors import QdrantProjects, QdrantVectors
from tests.commands import run_command
from tests.storage.postgres.servers import Postgres
from tests.support import MODEL, SHOP, digest, git, git_repository, unit_vectors, write

pytestmark = pytest.mark.slow

_COMMAND = str(Path(sys.executable).with_name("rag-ls"))


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run_command(*words, folder=folder)


def _at_a_terminal(folder: Path, answer: str, *words: str) -> tuple[int, str]:
    """The exit code and standard error of a command whose input is a terminal."""
    ours, theirs = pytest.importorskip("pty").openpty()
    with subprocess.Popen(
        [_COMMAND, *words], cwd=folder, stdin=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        os.write(ours, f"{answer}\n".encode())
        _, said = process.communicate(timeout=120)
    os.close(ours)
    os.close(theirs)
    return process.returncode, said


def test_code_is_published_only_if_the_settings_say_so_and_found_without_a_checkout(
    home: Path, tmp_path: Path, server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, elsewhere = git_repository(tmp_path / "shop", SHOP), tmp_path / "elsewhere"
    elsewhere.mkdir()
    git(shop, "remote", "add", "origin", "git@github.com:acme/shop.git")
    monkeypatch.setenv("RAG_LS_STORE_URL", server.url(server.vector_database()))
    assert _run(shop, "store", "publish").stderr.startswith("rag-ls: store.share does not hold `chunks`")
    monkeypatch.setenv("RAG_LS_STORE_SHARE", "vectors,chunks")
    assert "has no index" in _run(shop, "store", "publish").stderr
    assert _run(shop, "index", "--words-only", "--standalone").returncode == 0
    assert "the index is not complete" in _run(shop, "store", "publish").stderr
    assert _run(shop, "index", "--standalone").returncode == 0
    name = "github.com/acme/shop"
    done = _run(shop, "store", "publish")
    assert (done.returncode, done.stderr) == (0, f"rag-ls: publishing {name} {len(SHOP)}/{len(SHOP)}\n")
    assert f"{name}: {len(SHOP)} files published on postgresql://teammate@" in done.stdout
    assert f"{len(SHOP)} sent now, 0 removed" in done.stdout
    assert json.loads(_run(shop, "store", "publish", "--json").stdout)["changed"] == 0
    found = _run(elsewhere, "search", "--published", "shop", "discount", "of", "the", "cart", "--standalone")
    assert "\n\nsrc/cart.py:" in found.stdout
    assert "published" in found.stdout
    assert "leave --in" in _run(elsewhere, "search", "--published", "shop", "--in", "memory", "x").stderr
    assert "the team published github.com/acme/shop" in _run(elsewhere, "projects", "list", "--standalone").stderr
    (listed,) = json.loads(_run(shop, "store", "projects", "--json").stdout)["projects"]
    assert listed["chunks"] == len(SHOP)
    assert not (elsewhere / ".rag-ls").exists()


def test_code_is_published_of_projects_alone_that_others_know_and_only_as_it_was_indexed(
    home: Path, tmp_path: Path, server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = git_repository(tmp_path / "shop", SHOP)
    monkeypatch.setenv("RAG_LS_STORE_URL", server.url(server.vector_database()))
    monkeypatch.setenv("RAG_LS_STORE_SHARE", "vectors,chunks")
    assert _run(shop, "index", "--standalone").returncode == 0
    nameless = _run(shop, "store", "publish")
    assert nameless.returncode == 1
    assert "shop is not published: the project has no git remote `origin`" in nameless.stderr
    git(shop, "remote", "add", "origin", "git@github.com:acme/shop.git")
    write(shop, {"src/late.py": "def late():\n    pass\n"})
    stale = _run(shop, "store", "publish")
    assert stale.returncode == 2
    assert "1 file changed after indexing (src/late.py did), and nothing is published" in stale.stderr
    write(shop, {"src/cart.py": "def changed():\n    pass\n"})
    assert _run(shop, "index", "--standalone").returncode == 0
    assert _run(shop, "store", "publish").returncode == 0
    found = json.loads(_run(tmp_path, "search", "--published", "shop", "late", "--standalone", "--json").stdout)
    (commit,) = re.findall(r" at ([0-9a-f]{10}) with changes;", found["stats"]["note"])
    assert git(shop, "rev-parse", "HEAD").startswith(commit)


def test_publishing_on_another_server_leaves_the_vectors_on_the_settings_own(
    home: Path, tmp_path: Path, server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = git_repository(tmp_path / "shop", SHOP)
    git(shop, "remote", "add", "origin", "git@github.com:acme/shop.git")
    monkeypatch.setenv("RAG_LS_STORE_URL", server.url(server.vector_database()))
    monkeypatch.setenv("RAG_LS_STORE_SHARE", "vectors,chunks")
    monkeypatch.setenv("RAG_LS_STORE_SEARCH", "server")
    assert _run(shop, "index", "--standalone").returncode == 0
    assert _served_texts(shop) == len(SHOP)
    other = server.url(server.vector_database())
    assert _run(shop, "store", "publish", "--store", other).returncode == 0
    assert _served_texts(shop) == len(SHOP)
    (listed,) = json.loads(_run(shop, "store", "projects", "--store", other, "--json").stdout)["projects"]
    assert (listed["chunks"], listed["vectors"]) == (len(SHOP), len(SHOP))


def _served_texts(project: Path) -> int:
    """How many texts a project's index knows to be on its server."""
    with contextlib.closing(sqlite3.connect(project / ".rag-ls" / "index.db")) as connection:
        (count,) = connection.execute("SELECT count(*) FROM served").fetchone()
    return int(count)


def test_finding_a_project_by_its_name_does_not_ask_the_teams_server(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = write(tmp_path / "shop", SHOP)
    assert _run(shop, "index", "--words-only", "--standalone").returncode == 0
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("RAG_LS_STORE_URL", f"postgresql://127.0.0.1:{silent.getsockname()[1]}/x")
        monkeypatch.setenv("RAG_LS_STORE_SHARE", "chunks")
        assert _run(home, "status", "--project", "shop", "--standalone").returncode == 0
        silent.setblocking(False)
        with pytest.raises(BlockingIOError):
            silent.accept()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("projects",), "give --store URL, or set store.url"),
        (("drop", "x", "--store", "postgresql://me:hush@127.0.0.1:1/x"), "127.0.0.1:1/x cannot be reached"),
    ],
)
def test_what_cannot_be_done_says_why(home: Path, tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    shop = write(tmp_path / "shop", SHOP)
    assert _run(shop, "index", "--words-only", "--standalone").returncode == 0
    done = _run(shop, "store", *words)
    assert done.returncode != 0
    assert message in done.stderr
    assert "hush" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_project_is_dropped_only_by_somebody_who_says_yes(home: Path, tmp_path: Path, server: Postgres) -> None:
    url = server.url(server.vector_database())
    store = PostgresProjectVectors(url, "github.com/acme/old")
    store.put(MODEL, [digest("one")], unit_vectors(1, 16))
    store.close()
    listed = json.loads(_run(tmp_path, "store", "projects", "--store", url, "--json").stdout)
    assert [(each["name"], each["known_here"]) for each in listed["projects"]] == [("github.com/acme/old", False)]
    assert "correct" not in json.dumps(listed)
    drop = ("store", "drop", "github.com/acme/old", "--store", url)
    unattended = _run(tmp_path, *drop)
    assert unattended.returncode == 1
    assert "nothing was dropped" in unattended.stderr
    code, said = _at_a_terminal(tmp_path, "n", *drop)
    assert code == 1
    assert "will lose" in said
    assert "for everybody who shares it" in said
    assert "github.com/acme/old" in _run(tmp_path, "store", "projects", "--store", url).stdout
    code, said = _at_a_terminal(tmp_path, "y", *drop)
    assert code == 0, said
    assert "searches no projects" in _run(tmp_path, "store", "projects", "--store", url).stderr
    assert "has no project" in _run(tmp_path, *drop).stderr


def test_the_projects_of_qdrant_are_listed_and_dropped(tmp_path: Path) -> None:
    url = f"qdrant://{tmp_path}/qdrant"
    for name, count in (("shop", 3), ("other", 2)):
        store = QdrantVectors(url, name)
        store.put(MODEL, [digest(str(number)) for number in range(count)], unit_vectors(count, 16))
        store.close()
    projects = QdrantProjects(url)
    assert [(each.name, each.vectors) for each in projects.all()] == [("other", 2), ("shop", 3)]
    projects.drop("shop")
    assert [each.name for each in projects.all()] == ["other"]
    projects.close()
