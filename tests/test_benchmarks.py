"""The benchmarks can be started, and judge rightly: nobody runs them with the tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.benchmarks import __main__ as benchmarks
from tests.benchmarks.code import evaluate, finding, learn
from tests.benchmarks.code.judge import judge
from tests.benchmarks.code.questions import Answer, Question
from tests.benchmarks.foreign.repositories import ask_about, copy_repository, largest_by_language, source_files
from tests.support import git, git_repository, write


def test_every_benchmark_can_be_imported() -> None:
    assert callable(benchmarks.main)
    assert {evaluate.__name__, learn.__name__} <= sys.modules.keys()


def test_another_hit_of_a_file_gains_nothing_and_takes_a_place() -> None:
    assert finding.ndcg(["a.py", "a.py", "b.py"], {"a.py"}) == 1
    assert finding.ndcg(["a.py", "a.py", "b.py"], {"a.py", "b.py"}) == pytest.approx((1 + 0.5) / (1 + 0.6309), abs=1e-3)
    assert finding.ndcg(["c.py"], {"a.py"}) == 0


def test_a_place_is_found_by_half_of_the_shorter_of_the_two() -> None:
    answer = Answer("a.py", 10, 19)
    assert judge([Answer("a.py", 15, 40)], [answer]).ndcg == 1
    assert judge([Answer("a.py", 16, 40)], [answer]).ndcg == 0
    assert judge([Answer("b.py", 10, 19)], [answer]).ndcg == 0


def test_windows_are_found_by_rare_words_first(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("common\n" * 60 + "rare\n")
    (tmp_path / "b.py").write_text("common\n" * 10)
    windows = finding.Windows(tmp_path, ["a.py", "b.py"])
    question = Question("r", "python", "common rare", "web", ())
    assert windows.by_bm25(question)[0] == Answer("a.py", 51, 62)
    assert windows.by_words(question)[0] == Answer("a.py", 51, 62)


def test_questions_about_a_repository_are_in_its_own_words(tmp_path: Path) -> None:
    root = git_repository(tmp_path / "shop", {"a.py": "def total_price():\n    pass\n", "a.md": "# Paying refunds\n"})
    git(root, "commit", "--quiet", "--allow-empty", "--message", "Refunds are paid within a week")
    assert set(ask_about(root, source_files(root))) == {
        "total_price", "Paying refunds", "Refunds are paid within a week",
    }  # fmt: skip


def test_the_largest_file_of_each_language_is_taken_from_a_copy_without_an_index(tmp_path: Path) -> None:
    root = git_repository(
        tmp_path / "shop", {"a.py": "x = 1\n", "b.py": "x = 1\n" * 9, "c.go": "package c\n", "d.bin": "\0"}
    )
    write(root, {".rag-ls/index.db": "an index"})
    copy = copy_repository(root, tmp_path / "copies")
    assert not (copy / ".rag-ls").exists()
    largest = {language: files[0].path for language, files in largest_by_language(source_files(copy)).items()}
    assert largest == {"python": "b.py", "go": "c.go"}
