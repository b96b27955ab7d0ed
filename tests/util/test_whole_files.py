"""Files that are written as a whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from rag_ls.util.files import whole_file


def test_a_file_takes_its_place_once_all_is_written(tmp_path: Path) -> None:
    target = tmp_path / "file.json"
    target.write_text("former")
    with whole_file(target) as stream:
        stream.write("new\n")
        assert target.read_text() == "former"
    assert target.read_bytes() == b"new\n"
    assert os.listdir(tmp_path) == ["file.json"]


def test_an_error_leaves_the_former_file(tmp_path: Path) -> None:
    target = tmp_path / "file.json"
    target.write_text("former")
    with pytest.raises(UnicodeEncodeError), whole_file(target) as stream:
        stream.write("new \ud83d")
    assert target.read_text() == "former"
    assert os.listdir(tmp_path) == ["file.json"]


def test_a_folder_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="missing"), whole_file(tmp_path / "missing/file"):
        pytest.fail("nothing is written")


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX")
def test_a_file_is_for_its_user_alone_unless_said_otherwise(tmp_path: Path) -> None:
    for name, mode in {"private": {}, "shared": {"mode": 0o644}}.items():
        with whole_file(tmp_path / name, **mode) as stream:
            stream.write(name)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert modes == {"private": 0o600, "shared": 0o644}
