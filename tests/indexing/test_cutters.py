"""Documents cut in processes of their own: in order, all of them, whatever one does to its process."""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rag_ls.chunking import Budget, outline_of_document
from rag_ls.indexing import Cutters
from rag_ls.indexing.cutters import CutFile, Cutting, Job, Outcome, Tree, cut_batch
from rag_ls.indexing.files import Rejected, Source
from rag_ls.storage import DocumentRecord, FileState
from rag_ls.util.guarded_processes import ProcessEnded

_CUTTING = Cutting(Budget(200, 24, 24))
# OCaml's scanner crashes on it, by recursion.
DEADLY = "(*\n" * 200_000


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    for number in range(60):
        (tmp_path / f"module_{number:02}.py").write_text(
            f"def function_{number}(value):\n    return value + {number}\n"
        )
    (tmp_path / "image.py").write_bytes(b"\0\0")
    (tmp_path / "deadly.ml").write_text(DEADLY)
    return Tree(tmp_path.resolve(), _CUTTING, {})


def _cut(cutters: Cutters, tree: Tree, paths: list[str], *, parallel: bool = True) -> dict[str, Outcome]:
    jobs = map(Job, paths)
    return {job.path: outcome for batch in cutters.cut_many(tree, jobs, parallel=parallel) for job, outcome in batch}


@pytest.mark.parametrize("parallel", [False, True])
def test_many_files_are_cut_as_one_alone_is_and_come_in_order(tree: Tree, cutters: Cutters, parallel: bool) -> None:
    paths = [f"module_{number:02}.py" for number in range(60)]
    cut = _cut(cutters, tree, paths, parallel=parallel)
    assert list(cut) == paths
    for path, outcome in cut.items():
        (alone,) = cut_batch(tree, [Job(path)])
        assert isinstance(outcome, CutFile)
        assert isinstance(alone, CutFile)
        assert (outcome.chunks, outcome.outline, outcome.ended) == (alone.chunks, alone.outline, "")


def test_a_file_that_is_not_for_the_index_says_why_and_a_known_one_is_not_cut(tree: Tree, cutters: Cutters) -> None:
    (first,) = cut_batch(tree, [Job("module_01.py")])
    assert isinstance(first, CutFile)
    jobs = [Job("image.py"), Job("module_01.py", first.record), Job("gone.py")]
    binary, known, gone = (cutters.cut_file(tree, job) for job in jobs)
    assert isinstance(binary, Rejected)
    assert binary.reason == "binary"
    assert isinstance(known, DocumentRecord)
    assert isinstance(gone, Rejected)
    assert gone.gone


def test_a_file_on_which_the_process_dies_is_cut_by_lines_and_the_others_as_ever(tree: Tree, cutters: Cutters) -> None:
    cut = _cut(cutters, tree, ["module_06.py", "deadly.ml", "module_08.py"])
    deadly, other = cut["deadly.ml"], cut["module_08.py"]
    assert isinstance(deadly, CutFile)
    assert isinstance(other, CutFile)
    assert deadly.record.language == "ocaml"
    assert "crashed" in deadly.ended
    assert "".join(new.chunk.text for new in deadly.chunks) == DEADLY
    assert [new.chunk.symbol for new in other.chunks] == ["function_8"]


def test_a_typed_text_on_which_the_process_dies_is_cut_by_lines(cutters: Cutters) -> None:
    source = Source(DEADLY, hashlib.sha256(DEADLY.encode()).hexdigest(), FileState(len(DEADLY), 0, 0, 1))
    cut = cutters.cut_text("deadly.ml", source, "ocaml", _CUTTING, {}, "session")
    assert "crashed" in cut.ended
    assert "".join(new.chunk.text for new in cut.chunks) == DEADLY
    with pytest.raises(ProcessEnded, match="crashed"):
        cutters.call(outline_of_document, DEADLY, "deadly.ml", "ocaml")


def test_a_text_that_is_known_to_end_a_process_is_not_parsed(tree: Tree) -> None:
    # In this process: it would not survive.
    digest = hashlib.sha256(DEADLY.encode()).hexdigest()
    (cut,) = cut_batch(replace(tree, ended={digest: "it crashed"}), [Job("deadly.ml")])
    assert isinstance(cut, CutFile)
    assert cut.ended == "it crashed"


@pytest.mark.slow
def test_a_text_that_takes_too_much_memory_is_cut_by_lines(tree: Tree, cutters: Cutters) -> None:
    (tree.root / "open.py").write_text("/*\n" * 3000)
    cut = cutters.cut_file(tree, Job("open.py"))
    assert isinstance(cut, CutFile)
    assert "more than" in cut.ended


def test_other_settings_have_other_fingerprints() -> None:
    others = [replace(_CUTTING, by_lines=True), replace(_CUTTING, languages=("go",)), Cutting(Budget(100, 24, 24))]
    assert len({cutting.fingerprint for cutting in (_CUTTING, *others)}) == 4


def _modules(cutters: Cutters) -> set[str]:
    """What one of the processes has imported."""
    return set(cutters.call(eval, "list(__import__('sys').modules)"))


def test_a_process_that_cuts_imports_no_database(tree: Tree) -> None:
    own = Cutters()
    try:
        assert isinstance(own.cut_file(tree, Job("module_01.py")), CutFile)
        assert not {"sqlite3", "usearch", "filelock", "rag_ls.config", "rag_ls.storage.api"} & _modules(own)
        # Another call may need more.
        assert (
            own.call(eval, "__import__('rag_ls.storage', fromlist=['open_index']).open_index.__name__") == "open_index"
        )
        assert "sqlite3" in _modules(own)
    finally:
        own.close()


def _lengths(paths: Sequence[str]) -> list[int]:
    if "deadly" in paths:
        os.kill(os.getpid(), signal.SIGSEGV)
    return [len(path) for path in paths]


@pytest.mark.slow
def test_a_file_that_ends_the_process_of_many_is_left_out_alone(cutters: Cutters) -> None:
    paths = [*("x" * number for number in range(1, 70)), "deadly", "y"]
    assert list(cutters.call_many(_lengths, paths)) == [*range(1, 70), None, 1]
    assert list(cutters.call_many(_lengths, [])) == []
