"""Files that are read whole: only regular ones, and bounded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rag_ls.util.files import read_regular, regular_file


def test_what_is_no_file_is_not_opened_and_leaves_nothing_open(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("file")
    for name in ("folder", "link", "missing"):
        with pytest.raises(OSError), regular_file(tmp_path / name):  # noqa: PT011 - each says it in words of its own
            pass
    with regular_file(tmp_path / "file") as stream:
        number = stream.fileno()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(number)


@pytest.mark.skipif(os.name == "nt", reason="there are no devices among files")
def test_a_device_and_a_fifo_are_refused_at_once_even_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "endless").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "fifo")
    for name in ("endless", "fifo"):
        with pytest.raises(OSError, match="no regular file"):
            read_regular(tmp_path / name)


def test_a_file_larger_than_the_limit_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(OSError, match="more than 10,000,000 bytes"):
        read_regular(tmp_path / "sparse")
    (tmp_path / "small").write_bytes(b"123")
    assert read_regular(tmp_path / "small", 3) == b"123"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux has files that say they are empty")
def test_a_file_that_says_it_is_empty_is_read_to_its_end() -> None:
    assert b"Name:" in read_regular("/proc/self/status")
