"""Which files that are not read yet hold a question's words."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from rag_ls.indexing import files_holding
from tests.support import write

FILES = {
    "app/retry.py": "class Backoff:\n    def wait(self):\n        sleep(self.delay)\n",
    "app/http.py": "def send(request):\n    # Retries twice.\n    return transport.send(request)\n",
    "app/cart.py": "def total(items):\n    return sum(items)\n",
    "app/mail.py": "def send(mail):\n    return smtp.send(mail)\n",
    "docs/send.md": "How to send.\n" * 20,
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "app", FILES)


def _holding(root: Path, words: Sequence[str], *, most_bytes: int = 10**6, largest: int = 10**6) -> list[str]:
    return files_holding(root, sorted(FILES), words, most_bytes=most_bytes, largest=largest, longest_s=60.0)


def test_files_without_a_word_are_left_out(root: Path) -> None:
    assert sorted(_holding(root, ["smtp", "transport"])) == ["app/http.py", "app/mail.py"]
    assert _holding(root, ["zebra"]) == []
    assert _holding(root, []) == []


def test_a_rare_word_says_more_than_one_that_is_everywhere(root: Path) -> None:
    assert _holding(root, ["send", "smtp"])[0] == "app/mail.py"


def test_other_forms_of_a_word_count_and_so_do_names_of_files(root: Path) -> None:
    assert set(_holding(root, ["retrying"])) == {"app/retry.py", "app/http.py"}


def test_the_best_files_come_up_to_so_many_bytes_and_always_one(root: Path) -> None:
    every = _holding(root, ["send", "retry"])
    assert _holding(root, ["send", "retry"], most_bytes=1) == every[:1]
    assert set(_holding(root, ["send", "retry"], most_bytes=10**6)) == set(every)


def test_what_cannot_be_read_or_is_too_large_is_passed_over(root: Path) -> None:
    assert "docs/send.md" not in _holding(root, ["send"], largest=200)
    (root / "app" / "mail.py").unlink()
    assert "app/mail.py" not in _holding(root, ["send"])


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes in folders")
def test_a_pipe_a_folder_and_a_link_are_passed_over(root: Path) -> None:
    for name in ("cart.py", "http.py", "retry.py"):
        (root / "app" / name).unlink()
    os.mkfifo(root / "app" / "cart.py")
    (root / "app" / "http.py").mkdir()
    (root / "app" / "retry.py").symlink_to(root / "app" / "mail.py")
    assert _holding(root, ["smtp"]) == ["app/mail.py"]


def test_a_large_file_shuts_out_no_smaller_ones_behind_it(root: Path) -> None:
    write(
        root,
        {"app/retry.py": "retry transport\n", "app/http.py": "retry transport " * 20, "app/cart.py": "transport\n"},
    )
    assert _holding(root, ["retry", "transport"], most_bytes=100) == ["app/retry.py", "app/cart.py"]


def test_files_that_are_never_indexed_are_not_looked_at(root: Path) -> None:
    write(root, {"app/cart.min.js": "zebra", "package-lock.json": "zebra", "app/cart.py": "zebra"})
    paths = ["app/cart.min.js", "app/cart.py", "package-lock.json"]
    assert files_holding(root, paths, ["zebra"], most_bytes=10**6, largest=10**6, longest_s=60.0) == ["app/cart.py"]


def test_words_that_are_no_text_find_nothing(root: Path) -> None:
    assert _holding(root, ["\ud800", "が"]) == []
