"""The log goes where the settings say, and nowhere else."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from logging.handlers import RotatingFileHandler
from pathlib import Path

import pytest

from rag_ls.config import logs
from rag_ls.config.engine_settings import LogSettings


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


def test_a_log_that_another_process_of_windows_reads_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "used by another process")

    file = tmp_path / "engine.log"
    logs.to_rotating_file(file, LogSettings(), also_stderr=True)
    handler = next(item for item in logging.getLogger("rag_ls").handlers if isinstance(item, RotatingFileHandler))
    monkeypatch.setattr(os, "replace", refuse)
    handler.doRollover()
    logging.getLogger("rag_ls").error("still here")
    assert "still here" in file.read_text()
