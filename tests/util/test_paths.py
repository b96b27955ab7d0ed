"""Project paths as people and tools write them."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from rag_ls.util import paths
from rag_ls.util.paths import (
    file_identity,
    is_among,
    is_same_file,
    leads_out,
    portable,
    project_file,
    text_in,
)
from tests.support import write


def test_backslashes_of_windows_become_slashes() -> None:
    assert portable(" src\\shop\\cart.py\n") == "src/shop/cart.py"


@pytest.mark.parametrize(
    ("path", "places", "expected"),
    [
        ("src/cart.py", (), True),
        ("src/cart.py", ("",), True),
        ("src/cart.py", ("src",), True),
        ("src/cart.py", ("lib", "src/cart.py"), True),
        ("src/cart.py", ("src/cart",), False),
        ("srcs/cart.py", ("src",), False),
    ],
)
def test_a_path_is_among_files_and_folders(path: str, places: tuple[str, ...], expected: bool) -> None:
    assert is_among(path, places) is expected


def test_what_cannot_be_read_has_no_text(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_bytes(b"caf\xe9")
    assert text_in(tmp_path, "odd.py") == "caf\ufffd"
    assert text_in(tmp_path, "missing.py") == ""
    assert text_in(tmp_path, "") == ""


def test_a_reader_of_many_files_reads_what_each_alone_gives(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(root, {"top.py": "a = 1\r\n", "src/a.py": "b = 1\n", "src/b.py": "c = 1\n"})
    write(tmp_path, {"outside/secret.py": "x = 1\n"})
    (root / "src/within.py").symlink_to("a.py")
    (root / "src/out.py").symlink_to(tmp_path / "outside/secret.py")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "ok").symlink_to("src")
    paths = (
        "top.py",
        "src/a.py",
        "src/b.py",
        "src/within.py",
        "ok/a.py",
        "src/out.py",
        "out/secret.py",
        "../outside/secret.py",
    )
    reader = partial(text_in, root)
    assert [reader(path) for path in paths] == ["a = 1\n", "b = 1\n", "c = 1\n", "b = 1\n", "b = 1\n", "", "", ""]
    assert [reader(path) for path in ("", "src", "missing/a.py")] == ["", "", ""]


def test_a_file_that_was_deleted_or_replaced_is_not_the_same_and_one_that_was_never_there_is_none(
    tmp_path: Path,
) -> None:
    file, other = tmp_path / "index.db", tmp_path / "new.db"
    assert not is_same_file(file, file_identity(file)), "it was gone before anybody looked"
    file.write_text("one")
    identity = file_identity(file)
    assert is_same_file(file, identity)
    other.write_text("two")
    other.replace(file)
    assert not is_same_file(file, identity)
    file.unlink()
    assert not is_same_file(file, identity)


def test_what_leads_out_of_a_folder_is_told_through_links_and_dots(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / "inner").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "alias").symlink_to("inner")
    (root / "inner" / "back").symlink_to(root / "out")
    (tmp_path / "link").symlink_to(root)
    inside = (".", "inner", "inner/new.py", "alias/new.py", "inner/../inner/new.py")
    assert not any(leads_out(root, root / path) for path in inside)
    assert not leads_out(tmp_path / "link", tmp_path / "link" / "inner" / "new.py")
    outside = ("..", "out", "out/new.py", "inner/back/new.py", "inner/../../outside/new.py", "alias/../../outside")
    assert all(leads_out(root, root / path) for path in outside)
    assert leads_out(root, tmp_path / "project2" / "new.py")


@pytest.mark.skipif(os.name != "posix", reason="other systems open no file below an open folder")
@pytest.mark.parametrize("place", ["sub", "sub/inner"])
def test_a_link_that_comes_after_the_look_leads_to_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    root = write(tmp_path / "project", {"sub/inner/a.py": "mine\n"})
    write(tmp_path / "outside", {"a.py": "theirs\n", "inner/a.py": "theirs\n"})
    handles = len(os.listdir("/dev/fd"))
    with project_file(root, "sub/inner/a.py") as stream:
        assert stream.read() == b"mine\n"
    (root / place).rename(tmp_path / "away")
    (root / place).symlink_to(tmp_path / "outside")
    monkeypatch.setattr(paths, "is_behind_link", lambda root, path: False)
    with pytest.raises(OSError, match=r"Not a directory|symbolic link"), project_file(root, "sub/inner/a.py"):
        pytest.fail("it was opened")
    assert len(os.listdir("/dev/fd")) == handles


def test_what_a_link_that_vanishes_leads_to_is_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to(tmp_path)

    def vanish(link: str) -> str:
        raise FileNotFoundError(2, "No such file or directory", link)

    monkeypatch.setattr(os, "readlink", vanish)
    assert leads_out(tmp_path, tmp_path / "link" / "a.py")
