"""Files cut in processes of their own: in order, all of them, whatever one file does to its process."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rag_ls.chunking import Budget
from rag_ls.indexing.cutters import CutterFailed, Cutters, _Cutter
from rag_ls.indexing.cutting import CutFile, Cutting, Job, read_and_cut
from rag_ls.indexing.files import Rejected
from rag_ls.storage import DocumentRecord

_CUTTING = Cutting(Budget(200, 24, 24))
_LIMIT = 100_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for number in range(60):
        (tmp_path / f"module_{number:02}.py").write_text(
            f"def function_{number}(value):\n    return value + {number}\n"
        )
    (tmp_path / "image.py").write_bytes(b"\0\0")
    return tmp_path.resolve()


@pytest.fixture
def cutters(root: Path) -> Iterator[Cutters]:
    made = Cutters(root, _LIMIT, count=2)
    yield made
    made.close()


def test_many_files_are_cut_as_one_alone_is_and_come_in_order(root: Path, cutters: Cutters) -> None:
    jobs = [Job(f"module_{number:02}.py") for number in range(60)]
    cut = [item for batch in cutters.cut(jobs, _CUTTING) for item in batch]
    assert [job for job, _, _ in cut] == jobs
    for job, outcome, sound in cut:
        assert sound
        alone = read_and_cut(root, job, _CUTTING, _LIMIT)
        assert isinstance(outcome, CutFile)
        assert isinstance(alone, CutFile)
        assert (outcome.chunks, outcome.outline) == (alone.chunks, alone.outline)


def test_a_file_that_is_not_for_the_index_says_why_and_a_known_one_is_not_cut(root: Path, cutters: Cutters) -> None:
    first = read_and_cut(root, Job("module_01.py"), _CUTTING, _LIMIT)
    assert isinstance(first, CutFile)
    jobs = [Job("image.py"), Job("module_01.py", first.record), Job("gone.py")]
    binary, known, gone = (item for batch in cutters.cut(jobs, _CUTTING) for item in batch)
    assert isinstance(binary[1], Rejected)
    assert binary[1].reason == "binary"
    assert isinstance(known[1], DocumentRecord)
    assert isinstance(gone[1], Rejected)
    assert gone[1].gone


def test_a_file_on_which_the_process_dies_is_cut_by_lines_and_the_others_as_ever(
    cutters: Cutters, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = _Cutter.ask

    def dying(cutter: _Cutter, request: tuple[Path, Cutting, int, list[Job]], timeout_s: float) -> list[object]:
        _, cutting, _, jobs = request
        if not cutting.by_lines and any(job.path == "module_07.py" for job in jobs):
            # What a grammar that crashes does to the process.
            process = cutter._process
            assert process is not None
            os.kill(process.pid, signal.SIGSEGV)
        return ask(cutter, request, timeout_s)  # type: ignore[return-value]

    monkeypatch.setattr(_Cutter, "ask", dying)
    jobs = [Job(f"module_{number:02}.py") for number in range(20)]
    cut = [item for batch in cutters.cut(jobs, _CUTTING) for item in batch]
    assert [job.path for job, _, sound in cut if not sound] == ["module_07.py"]
    by_path = {job.path: outcome for job, outcome, _ in cut}
    crashing, other = by_path["module_07.py"], by_path["module_08.py"]
    assert isinstance(crashing, CutFile)
    assert isinstance(other, CutFile)
    assert crashing.record.language == "python"
    assert [new.chunk.symbol for new in crashing.chunks] == [""]
    assert [new.chunk.symbol for new in other.chunks] == ["function_8"]


def test_a_process_that_hangs_is_ended_in_time(root: Path) -> None:
    cutter = _Cutter()
    try:
        process = cutter._process
        assert process is not None
        os.kill(process.pid, signal.SIGSTOP)
        started = time.monotonic()
        with pytest.raises(CutterFailed):
            cutter.ask((root, _CUTTING, _LIMIT, [Job("module_01.py")]), 0.5)
        assert time.monotonic() - started < 20
        # The next one is asked of a new process.
        (outcome,) = cutter.ask((root, _CUTTING, _LIMIT, [Job("module_01.py")]), 60)
        assert isinstance(outcome, CutFile)
    finally:
        cutter.close()


def test_processes_end_with_the_one_that_started_them(root: Path) -> None:
    cutter = _Cutter()
    process = cutter._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(timeout=30) == 0
    cutter.close()


def test_other_settings_have_other_fingerprints() -> None:
    others = [replace(_CUTTING, by_lines=True), replace(_CUTTING, languages=("go",)), Cutting(Budget(100, 24, 24))]
    assert len({cutting.fingerprint for cutting in (_CUTTING, *others)}) == 4
