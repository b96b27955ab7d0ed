"""The log goes where the settings say, and nowhere else."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_ls.config import LogSettings, logs


@pytest.fixture(autouse=True)
def _restore() -> Iterator[None]:
    yield
    logging.getLogger("rag_ls").setLevel(logging.NOTSET)
    logs.configure(LogSettings())
    logging.getLogger("rag_ls").propagate = True


def test_a_file_takes_the_log_and_the_output_stays_empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rag-ls.log"
    assert logs.configure(LogSettings(level="info", file=str(file))) == ""
    logging.getLogger("rag_ls.engine.engine").info("a line for the file")
    logging.getLogger("rag_ls.engine.engine").debug("not this one")
    assert file.read_text().count("\n") == 1
    assert "a line for the file" in file.read_text()
    assert capsys.readouterr() == ("", "")


def test_by_default_only_warnings_reach_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(LogSettings())
    logging.getLogger("rag_ls.engine.engine").info("quiet")
    logging.getLogger("rag_ls.engine.engine").warning("loud")
    output, errors = capsys.readouterr()
    assert (output, "loud" in errors, "quiet" in errors) == ("", True, False)


def test_a_file_that_cannot_be_written_is_named_and_stderr_takes_its_place(tmp_path: Path) -> None:
    problem = logs.configure(LogSettings(file=str(tmp_path / "no" / "such" / "folder.log")))
    assert "folder.log" in problem
    assert "stderr" in problem
