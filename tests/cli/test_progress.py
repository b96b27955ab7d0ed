"""Progress as a pipe or a log gets it."""

from __future__ import annotations

import pytest

from rag_ls.cli.progress import show_progress


def _step(phase: str, done: int = 0, total: int = 0) -> dict[str, object]:
    return {"project": "shop", "phase": phase, "done": done, "total": total}


def test_a_pipe_gets_a_line_a_step_and_one_for_each_tenth(capsys: pytest.CaptureFixture[str]) -> None:
    with show_progress() as show:
        show(_step("scanning"))
        for _ in range(50):
            show(_step("reading", 153, 153))
        show(_step("idle"))
        show(_step("loading"))
        for done in range(0, 101):
            show(_step("embedding", done, 100))
    lines = capsys.readouterr().err.splitlines()
    assert lines[:4] == [
        "rag-ls: comparing files with the index",
        "rag-ls: reading files 153/153",
        "rag-ls: loading the model",
        "rag-ls: embedding chunks 0/100",
    ]
    assert len(lines) == 14
