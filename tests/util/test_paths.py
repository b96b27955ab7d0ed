"""Project paths as people and tools write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.util.paths import is_among, portable, text_in


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
