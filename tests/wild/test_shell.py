"""Situations of the shell: options that name another place, what another account left, limits of the system."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from rag_ls.daemon import paths
from tests.commands import RAG_LS
from tests.daemon.engines import run
from tests.support import IS_ROOT, PATIENCE_S, git_repository

# A file system without locks, as some network drives are.
_NO_LOCKS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#define WRAPPED(NAME) int NAME(int file, int command, ...) { \\
  va_list rest; va_start(rest, command); void *value = va_arg(rest, void *); va_end(rest); \\
  if (command == F_SETLK || command == F_SETLKW || command == F_GETLK) { errno = ENOLCK; return -1; } \\
  return ((int (*)(int, int, void *))dlsym(RTLD_NEXT, #NAME))(file, command, value); }
int flock(int file, int operation) { errno = ENOLCK; return -1; }
WRAPPED(fcntl)
WRAPPED(fcntl64)
"""


def _limit_files(size: int = 50_000) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.slow
@pytest.mark.shared_engine
def test_a_project_that_an_option_names_is_set_up_and_the_current_folder_is_left_alone(
    home: Path, tmp_path: Path
) -> None:
    target = git_repository(tmp_path / "target", {"cart.py": "def total_price(): ...\n"})
    current = git_repository(tmp_path / "current", {"mail.py": "def send(): ...\n", "post.py": "def post(): ...\n"})
    done = run("rules", "setup", "--project-root", str(target), folder=current)
    assert "read 1 source file" in done.stdout
    assert (target / ".rag-ls").exists()
    assert not (current / ".rag-ls").exists()


@pytest.mark.skipif(not IS_ROOT, reason="only root can give a folder to another user")
def test_the_runtime_folder_of_another_user_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`su` and `sudo` leave its variable: an engine of root there would keep the user's out."""
    monkeypatch.delenv("RAG_LS_HOME", raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.delenv("HOME", raising=False)
    theirs = tmp_path / "runtime"
    theirs.mkdir()
    for value, expected in ((theirs, theirs / "rag-ls"), (tmp_path / "none", tmp_path / f"rag-ls-{os.getuid()}")):
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(value))
        assert paths.engine_paths().folder == str(expected)
    os.chown(theirs, 65534, 65534)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(theirs))
    assert paths.engine_paths().folder == str(tmp_path / f"rag-ls-{os.getuid()}")


def test_each_home_of_one_user_has_its_own_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine keeps the memories and reads the settings of the home that it was started with."""
    monkeypatch.delenv("RAG_LS_HOME", raising=False)
    (tmp_path / "link").symlink_to(tmp_path / "sandbox")
    monkeypatch.delenv("HOME", raising=False)
    account = os.path.expanduser("~")
    for runtime in ("none", "runtime"):
        (tmp_path / "runtime").mkdir(exist_ok=True)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / runtime))
        folders = []
        for home in (
            account,
            f"{account}/",
            str(tmp_path / "sandbox"),
            str(tmp_path / "link"),
            str(tmp_path / "other"),
        ):
            monkeypatch.setenv("HOME", home)
            folders.append(paths.engine_paths().folder)
        monkeypatch.delenv("HOME")
        assert folders[0] == folders[1] == paths.engine_paths().folder
        assert folders[2] == folders[3]
        assert len(set(folders)) == 3


@pytest.mark.slow
def test_a_file_system_without_locks_is_named(repository: Path, tmp_path: Path) -> None:
    if (compiler := shutil.which("gcc")) is None:
        pytest.skip("there is no compiler")
    (tmp_path / "no_locks.c").write_text(_NO_LOCKS)
    library = tmp_path / "no_locks.so"
    command = [compiler, "-shared", "-fPIC", "-o", str(library), str(tmp_path / "no_locks.c"), "-ldl"]
    subprocess.run(command, check=True)
    for words in (["search", "refund", "--standalone"], ["add", "Refunds take a week.", "--standalone"]):
        done = run(*words, folder=repository, LD_PRELOAD=str(library))
        assert done.returncode == 1
        assert "its file system gives no locks" in done.stderr
    for words in (["serve"], ["stop"]):
        done = run(*words, folder=repository, LD_PRELOAD=str(library))
        assert done.returncode == 1
        assert "cannot be locked" in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_an_index_that_reaches_the_limit_on_the_length_of_files_says_so_and_ends(repository: Path) -> None:
    """It tried again for ever, and told nobody: SQLite calls this an input/output error."""
    for number in range(200):
        text = "".join(f"def task_{number}_{each}():\n    return {each}\n" for each in range(100))
        (repository / f"tasks_{number}.py").write_text(text)
    done = subprocess.run(
        [RAG_LS, "index", "--words-only", "--standalone"],
        cwd=repository,
        capture_output=True,
        text=True,
        preexec_fn=lambda: _limit_files(1_000_000),
        timeout=PATIENCE_S,
    )
    assert done.returncode == 1
    assert "this process may write no longer files: allow more with `ulimit -f`" in done.stderr


@pytest.mark.slow
def test_a_limit_on_the_length_of_files_is_named(repository: Path) -> None:
    command = [RAG_LS, "search", "refund", "--standalone"]
    done = subprocess.run(
        command, cwd=repository, capture_output=True, text=True, preexec_fn=_limit_files, timeout=PATIENCE_S
    )
    assert done.returncode == 1
    assert "this process may write no longer files: allow more with `ulimit -f`" in done.stderr
