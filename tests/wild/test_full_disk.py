"""A disk that is full: it is said with its path, nothing is tried in a hurry, and work goes on when there is room."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.errors import StoreUnavailable
from rag_ls.operations import Operations
from rag_ls.operations.projects.status import index_and_wait
from rag_ls.storage.opening import open_memory_copy
from rag_ls.storage.sqlite.file_faults import describe_fault, disk_full, is_disk_full
from tests.support import PATIENCE_S, write

_SOURCES = {
    f"m{number}.py": "".join(f"def function_{number}_{line}(alpha, beta): return alpha_{line}\n" for line in range(40))
    for number in range(60)
}


_FAILED_WRITES = """
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
ssize_t write(int file, const void *bytes, size_t count) {
    if (file <= 2) return syscall(SYS_write, file, bytes, count);
    errno = REASON;
    return -1;
}
ssize_t pwrite64(int file, const void *bytes, size_t count, off_t at) { errno = REASON; return -1; }
"""
_WRITE = """
import sqlite3, sys
from pathlib import Path
from rag_ls.storage.opening import open_memory_copy
from rag_ls.storage.sqlite.file_faults import disk_full, is_disk_full
file = Path(sys.argv[1])
try:
    sqlite3.connect(file).execute("CREATE TABLE memories (content TEXT)")
except sqlite3.OperationalError as error:
    print(error, is_disk_full(error, file), disk_full("memories", file))
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of its own, of 2 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.mark.slow
def test_a_full_disk_is_named_and_work_goes_on_when_there_is_room(client: Client, small_disk: Path) -> None:
    root = write(small_disk / "project", _SOURCES)
    session = client.open(root)
    operations = Operations(client)
    with pytest.raises(StoreUnavailable) as raised:
        index_and_wait(session, lambda name, progress: None, words_only=True)
    assert str(raised.value).startswith("the disk is full")
    assert str(root / ".rag-ls" / "index.db") in str(raised.value)
    assert "the disk is full" in session.status().note
    found = operations.run("search_code", {"query": "function_3_7"})
    assert found["stats"]["note"].startswith(f"the disk is full: nothing was written to the index ({root}")
    with contextlib.suppress(OSError), (small_disk / "rest").open("wb", buffering=0) as rest:
        while rest.write(b"x" * 4096):
            pass
    # Memories lie in the user's data, where there is room.
    kept = operations.run("store_memory", {"content": "Refunds take a week. " * 1000, "scope": "project"})
    assert kept["status"] == "inserted"
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    index_and_wait(session, lambda name, progress: None, words_only=True)
    assert session.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    assert session.status().documents == len(_SOURCES)
    assert not session.indexing.problem
    assert (
        operations.run("store_memory", {"content": "Refunds take a week.", "scope": "project"})["status"] == "inserted"
    )


@pytest.mark.slow
def test_the_copy_of_the_memories_waits_until_its_disk_has_room(client: Client, small_disk: Path) -> None:
    root = write(small_disk / "project", {"a.py": "a = 1\n"})
    session = client.open(root)
    copy = root / ".rag-ls" / "memories.db"
    Operations(client).run("store_memory", {"content": "Refunds take a week. " * 1000, "scope": "project"})
    copy.unlink(missing_ok=True)
    with contextlib.suppress(OSError), (small_disk / "rest").open("wb", buffering=0) as rest:
        while rest.write(b"x" * 4096):
            pass
    copying = open_memory_copy(copy.parent, session.project.memories.opened)
    assert not copying.exchange(lambda store, other: None).problem
    assert not copy.exists()


def test_a_disk_that_takes_no_more_files_is_named_although_it_has_space(small_disk: Path) -> None:
    file = small_disk / "memories.db"
    connection = sqlite3.connect(file)
    subprocess.run(["mount", "-o", "remount,nr_inodes=3", str(small_disk)], check=True)
    (small_disk / "rest").touch()
    with contextlib.closing(connection), pytest.raises(sqlite3.OperationalError) as raised:
        # The journal would be one file more.
        connection.execute("CREATE TABLE memories (content TEXT)")
    assert is_disk_full(raised.value, file)
    assert str(disk_full("memories", file)).startswith("the disk is full: nothing was")


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("EDQUOT", "disk I/O error True your disk quota is used up: nothing was written to the memories ("),
        ("ENOSPC", "database or disk is full True the disk is full: nothing was written to the memories ("),
    ],
)
def test_a_disk_that_refuses_writes_although_it_shows_space_is_named(tmp_path: Path, reason: str, told: str) -> None:
    """A library in front of the system's makes each write fail, as one over the quota does."""
    if (compiler := shutil.which("cc")) is None:
        pytest.skip("no compiler")
    source, library = tmp_path / "quota.c", tmp_path / "quota.so"
    source.write_text(_FAILED_WRITES)
    subprocess.run([compiler, "-shared", "-fPIC", f"-DREASON={reason}", "-o", library, source], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    tried = subprocess.run(
        [sys.executable, "-c", _WRITE, str(tmp_path / "memories.db")],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert tried.stdout.startswith(told)


def test_errors_that_mean_a_full_disk(tmp_path: Path) -> None:
    def failed(code: int) -> sqlite3.OperationalError:
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = code  # type: ignore[misc]
        return error

    file = tmp_path / "memories.db"
    assert is_disk_full(failed(sqlite3.SQLITE_FULL), file)
    assert is_disk_full(OSError(errno.ENOSPC, "No space left on device"), file)
    # There is room here: these have other reasons.
    assert not is_disk_full(failed(sqlite3.SQLITE_IOERR_WRITE), file)
    assert not is_disk_full(failed(sqlite3.SQLITE_CANTOPEN), file)
    assert not is_disk_full(PermissionError(errno.EACCES, "Permission denied"), file)


def test_a_limit_on_the_length_of_files_is_blamed_only_where_it_is_near(tmp_path: Path) -> None:
    import resource

    file = tmp_path / "index.db"
    file.write_bytes(bytes(100_000))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    denied, failed = PermissionError(errno.EACCES, "Permission denied"), sqlite3.OperationalError("disk I/O error")
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10**11, hard))
        assert describe_fault(denied, file, "make it yours") == f"{denied}; make it yours"
        resource.setrlimit(resource.RLIMIT_FSIZE, (120_000, hard))
        assert "ulimit -f" in describe_fault(failed, file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
