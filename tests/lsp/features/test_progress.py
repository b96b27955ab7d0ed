"""Indexing as an editor shows it: one bar, in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from rag_ls.engine.client import local_client
from rag_ls.indexing import Phase, Progress
from rag_ls.lsp.features.progress import make_end, make_report
from rag_ls.util.journey import Journey
from tests.lsp.in_process import InProcessEditor, in_process_editor
from tests.support import until, write

_CAPABILITIES = {"window": {"workDoneProgress": True}}


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InProcessEditor]:
    """A project whose files are many enough for progress to be shown; nothing is embedded."""
    monkeypatch.setenv("RAG_LS_EMBEDDING_MODEL", "none")
    root = write(tmp_path / "many", {f"src/part_{each}.py": f"def part_{each}():\n    pass\n" for each in range(60)})
    with in_process_editor(local_client("lsp"), root, capabilities=_CAPABILITIES) as editor:
        yield editor


def _steps(editor: InProcessEditor) -> list[dict[str, Any]]:
    return [each["params"]["value"] for each in editor.notified if each["method"] == "$/progress"]


@pytest.mark.slow
def test_the_end_of_indexing_is_said_in_words(editor: InProcessEditor) -> None:
    assert until(lambda: any(step["kind"] == "end" for step in _steps(editor)))
    first, *_, last = _steps(editor)
    assert (first["title"], last["message"]) == ("Indexing many", "done")


@pytest.mark.slow
def test_a_bar_ends_with_the_reason_where_embedding_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    battery = psutil._common.sbattery if hasattr(psutil._common, "sbattery") else psutil._ntuples.sbattery
    monkeypatch.setattr(psutil, "sensors_battery", lambda: battery(80, 3600, False), raising=False)
    root = write(tmp_path / "many", {f"src/part_{each}.py": f"def part_{each}():\n    pass\n" for each in range(60)})
    with in_process_editor(local_client("lsp"), root, capabilities=_CAPABILITIES) as editor:
        assert until(lambda: any(step["kind"] == "end" for step in _steps(editor)))
        assert _steps(editor)[-1]["message"].startswith("found by words; embedding waits: on battery")


@contextmanager
def _no_room_beside(database: Path) -> Iterator[None]:
    """Meanwhile this process may write no longer files than a database is now."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    longest = max(file.stat().st_size for file in (database, database.with_name(f"{database.name}-wal")))
    resource.setrlimit(resource.RLIMIT_FSIZE, (longest + 1, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.slow
def test_a_bar_ends_with_what_the_disk_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_LS_EMBEDDING_MODEL", "none")
    code = "".join(f"def part_{each}():\n    return {each}\n" for each in range(60))
    root = write(tmp_path / "many", {f"src/part_{each}.py": f"# {each}\n{code}" for each in range(1500)})
    with in_process_editor(local_client("lsp"), root, capabilities=_CAPABILITIES) as editor:
        assert until(lambda: any(step.get("message") == "reading files" for step in _steps(editor)))
        with _no_room_beside(root / ".rag-ls/index.db"):
            assert until(lambda: any(step["kind"] == "end" for step in _steps(editor)))
            told = _steps(editor)[-1]["message"]
    assert told.startswith("waits: this process may write no longer files")


@pytest.mark.parametrize(
    ("embeds", "percentages", "after_reading"),
    [(False, [0, 50, 100, 100, 100], "reading files"), (True, [0, 4, 8, 54, 100], "loading the model")],
)
def test_one_percentage_leads_from_the_first_file_to_the_end(
    embeds: bool, percentages: list[int], after_reading: str
) -> None:
    journey = Journey(embeds=embeds, now=lambda: 0.0)
    steps = [
        Progress(Phase.SCANNING), Progress(Phase.READING, 50, 100), Progress(Phase.READING, 100, 100),
        Progress(Phase.EMBEDDING, 500, 1000), Progress(Phase.EMBEDDING, 1000, 1000),
    ]  # fmt: skip
    reports = [make_report(journey, step) for step in steps]
    assert [report.percentage for report in reports] == percentages
    assert [report.message for report in reports][:3] == [
        "comparing files with the index", "reading files", after_reading,
    ]  # fmt: skip


def test_indexing_that_was_stopped_says_what_goes_on_with_it() -> None:
    assert make_end(Progress(Phase.CANCELLED)).message == "stopped; ragLs.reindex goes on"
