"""Commits as the index has them, whatever git holds."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path

import pytest

from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.embedding import Embedding, HostedModel, local_model
from rag_ls.history.project_history import ProjectHistory
from rag_ls.history.search import find_commits
from rag_ls.storage import CheckoutIndex
from tests.support import PATIENCE_S, git, git_repository, until, write


def _read(store: CheckoutIndex, root: Path, *, authors: bool = False) -> ProjectHistory:
    history = ProjectHistory(root, store.commits, lambda: authors)
    history.begin_reading()
    assert history.wait(PATIENCE_S)
    return history


def _commit(root: Path, message: bytes, *options: str) -> None:
    subprocess.run(
        ["git", "-C", str(root), "-c", "user.name=Tester", "-c", "user.email=t@example.org", *options, "commit", "--quiet",
         "--allow-empty", "--file", "-"],
        input=message, check=True,
    )  # fmt: skip


def _subjects(store: CheckoutIndex, question: str) -> list[str]:
    return [hit.commit.subject for hit in find_commits(store.commits, question, 5)]


def test_without_a_repository_or_a_commit_the_reason_is_told(store: CheckoutIndex, tmp_path: Path) -> None:
    assert _read(store, tmp_path).note == "this is no git repository: it has no history"
    git(tmp_path, "init", "--quiet")
    history = _read(store, tmp_path)
    assert history.note == "there is no commit yet"
    assert history.is_current


def test_a_commit_is_found_by_its_message_and_paths(store: CheckoutIndex, tmp_path: Path) -> None:
    root = git_repository(tmp_path / "shop", {"src/invoice.py": "x = 1\n"})
    write(root, {"src/invoice.py": "x = 2\n"})
    git(root, "commit", "--quiet", "--all", "--message", "Round half up\n\nThe tax office asks for it (#12).")
    _read(store, root)
    assert _subjects(store, "why do we round half up?") == ["Round half up"]
    assert _subjects(store, "tax office") == ["Round half up"]
    assert set(_subjects(store, "when was the invoice changed")) == {"Round half up", "first"}
    assert _subjects(store, "kubernetes") == []
    (hit,) = find_commits(store.commits, "tax office", 5)
    assert (hit.commit.paths, hit.commit.author) == (("src/invoice.py",), "")


def test_names_of_people_are_kept_only_where_the_settings_say_so(store: CheckoutIndex, tmp_path: Path) -> None:
    root = git_repository(tmp_path / "shop", {"a.py": "x = 1\n"})
    _read(store, root, authors=True)
    (commit,) = store.commits.by_id([1]).values()
    assert commit.author.startswith("Tester")


def test_odd_messages_are_read_as_text(store: CheckoutIndex, tmp_path: Path) -> None:
    root = git_repository(tmp_path / "shop", {"a.py": "x = 1\n"})
    _commit(root, "Größe der Räder".encode("latin-1"), "-c", "i18n.commitEncoding=ISO-8859-1")
    _commit(root, b"Ring \x1b[31mthe bell\x07\n\nbody \x01 with \x02 marks \x03")
    _commit(root, b"Huge reasons\n\n" + b"word " * 200_000)
    _commit(root, b"Set the key\n\npassword = " + b"ghp_" + b"a8Kd03LmQz71Xv5Rt9Bn2Wc6Ye4Uf8Hj1Kp0")
    _read(store, root)
    assert _subjects(store, "Räder Größe") == ["Größe der Räder"]
    assert _subjects(store, "ring the bell") == ["Ring [31mthe bell"]
    (huge,) = find_commits(store.commits, "huge reasons", 1)
    assert len(huge.commit.body) <= 20_000
    (key,) = find_commits(store.commits, "set the key", 1)
    assert "ghp_" not in key.commit.body


def test_a_broken_object_hides_one_commit_alone(store: CheckoutIndex, tmp_path: Path) -> None:
    root = git_repository(tmp_path / "shop", {"a.py": "x = 1\n" * 20, "b.py": "y = 1\n" * 20})
    for number in range(4):
        git(root, "mv", "a.py", "c.py") if number == 1 else write(root, {"b.py": f"y = {number + 5}\n" * 20})
        if number == 1:
            write(root, {"c.py": "x = 1\n" * 20 + "more\n"})
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "--message", f"change {number}")
    blob = git(root, "rev-parse", "HEAD~3:a.py").strip()
    (root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    history = _read(store, root)
    assert not history.problem
    assert store.commits.count() == 5
    assert _subjects(store, "change 1") == ["change 1"]


def test_a_shallow_clone_says_that_older_commits_are_not_here(store: CheckoutIndex, tmp_path: Path) -> None:
    root = git_repository(tmp_path / "shop", {"a.py": "x = 1\n"})
    _commit(root, b"second")
    subprocess.run(["git", "clone", "--quiet", "--depth=1", f"file://{root}", str(tmp_path / "clone")], check=True)
    history = _read(store, tmp_path / "clone")
    assert "shallow" in history.note
    assert store.commits.count() == 1


def test_git_runs_no_program_that_the_repository_names(store: CheckoutIndex, tmp_path: Path) -> None:
    root = git_repository(tmp_path / "shop", {"a.txt": "x\n", ".gitattributes": "*.txt diff=evil filter=evil\n"})
    trap = tmp_path / "ran"
    for key in (
        "diff.evil.textconv",
        "diff.evil.command",
        "diff.external",
        "gpg.program",
        "core.pager",
        "filter.evil.smudge",
    ):
        git(root, "config", key, f"touch {trap}")
    git(root, "config", "log.showSignature", "true")
    write(root, {"a.txt": "y\n"})
    subprocess.run(
        ["git", "-C", str(root), "-c", "filter.evil.clean=cat", "-c", "user.name=T", "-c", "user.email=t@e.org", "commit",
         "--quiet", "--all", "--message", "two"], check=True, env={**os.environ, "GIT_CONFIG_NOSYSTEM": "1"},
    )  # fmt: skip
    trap.unlink(missing_ok=True)
    _read(store, root)
    assert store.commits.count() == 2
    assert not trap.exists()


def test_it_is_closed_while_its_thread_starts(
    store: CheckoutIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history, failures = ProjectHistory(tmp_path, store.commits, lambda: False), list[BaseException]()

    def close() -> None:
        try:
            history.close()
        except RuntimeError as error:
            failures.append(error)

    closing, start = threading.Thread(target=close), threading.Thread.start

    def start_late(thread: threading.Thread) -> None:
        if thread is not closing:
            start(closing)
            time.sleep(0.05)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_late)
    history.begin_reading()
    closing.join(PATIENCE_S)
    assert not failures


@pytest.mark.slow
def test_a_commit_is_found_by_its_meaning_too(store: CheckoutIndex, tmp_path: Path, model: HostedModel) -> None:
    root = git_repository(tmp_path / "shop", {"a.py": "x = 1\n"})
    for message in ("Wait longer before giving up on the payment gateway", "Bring the colours of the logo up to date"):
        git(root, "commit", "--quiet", "--allow-empty", "--message", message)
    history = ProjectHistory(root, store.commits, lambda: False, find_model=lambda: model)
    history.begin_reading()
    assert history.wait(PATIENCE_S)
    assert until(lambda: not store.commits.list_without_vectors(model.model_id))
    question = "retry timeouts for card transactions"
    assert _subjects(store, question) == []
    found = find_commits(store.commits, question, 1, Embedding(model.card, model.embed_query(question)))
    assert found[0].commit.subject == "Wait longer before giving up on the payment gateway"
    assert 0 < found[0].score <= 1


def test_a_wish_to_read_that_comes_while_it_reads_is_kept(store: CheckoutIndex, tmp_path: Path) -> None:
    root = git_repository(tmp_path / "shop", {"a.py": "x = 1\n"})
    waits, goes_on = threading.Event(), threading.Event()

    def give_way() -> None:
        waits.set()
        goes_on.wait(PATIENCE_S)

    history = ProjectHistory(root, store.commits, lambda: False, give_way)
    history.begin_reading()
    assert waits.wait(PATIENCE_S)
    git(root, "commit", "--quiet", "--allow-empty", "--message", "Written meanwhile")
    history.begin_reading()
    assert not history.wait(0.0)
    goes_on.set()
    assert history.wait(PATIENCE_S)
    assert _subjects(store, "written meanwhile") == ["Written meanwhile"]
    history.close()


@pytest.mark.slow
def test_a_model_that_is_closed_meanwhile_is_no_problem_of_the_history(
    store: CheckoutIndex, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = git_repository(tmp_path / "shop", {"a.py": "x = 1\n"})
    closed = local_model("auto", EmbeddingSettings(backend="onnx"))
    closed.close()
    history = ProjectHistory(root, store.commits, lambda: False, find_model=lambda: closed)
    history.begin_reading()
    assert history.wait(PATIENCE_S)
    history.close()
    assert (history.problem, _subjects(store, "first")) == ("", ["first"])
    assert not [record for record in caplog.records if record.levelname == "WARNING"]
