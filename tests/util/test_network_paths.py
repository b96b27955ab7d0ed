"""Paths that Windows would ask another machine about; what decides is arithmetic, so it is tested everywhere."""

from __future__ import annotations

import pytest

from rag_ls.util.paths import is_elsewhere, share_of


@pytest.mark.parametrize(
    ("path", "share"),
    [
        (r"\\evil\share\a.py", r"\\evil\share"), ("//Evil/share/a.py", r"\\evil\share"), (r"\\?\UNC\evil\share\a", r"\\?\unc\evil\share"),
        (r"\\.\pipe\x", r"\\.\pipe"), (r"C:\work\a.py", ""), ("a.py", ""), ("/tmp/a.py", ""), (r"\a.py", ""),
    ],
)  # fmt: skip
def test_a_share_is_told_from_a_drive(path: str, share: str) -> None:
    assert share_of(path).startswith(share) if share else share_of(path) == ""


def test_a_project_on_a_share_may_name_its_own() -> None:
    assert is_elsewhere(r"\\evil\share\x", r"C:\work", windows=True)
    assert is_elsewhere(r"\\evil\share\x", r"\\team\code\shop", windows=True)
    assert not is_elsewhere(r"\\TEAM\code\lib", r"\\team\code\shop", windows=True)
    assert not is_elsewhere(r"C:\other", r"C:\work", windows=True)


def test_other_systems_have_no_such_paths() -> None:
    assert not is_elsewhere("//evil/share/x", "/work", windows=False)
