"""Nearest neighbours: exact, and through snapshots that are never trusted blindly."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_ls.storage.sqlite.checkout import CheckoutIndex
from rag_ls.storage.sqlite.vector_index import VectorIndex, VectorRows
from tests.support import MODEL, digest, finished, open_checkout, put_vectors, python, unit_vectors

_LIMIT = 50


def _add(store: CheckoutIndex, vectors: NDArray[np.float32], name: str = "", model: str = MODEL) -> None:
    put_vectors(store, model, [digest(f"{name}{number}") for number in range(len(vectors))], vectors)


def _rows(store: CheckoutIndex) -> VectorRows:
    return VectorRows(store._database)


def _brute_force(vectors: NDArray[np.float32], query: NDArray[np.float32], k: int) -> list[int]:
    similarities = vectors.astype(np.float16).astype(np.float32) @ query
    return [int(number) + 1 for number in np.argsort(-similarities, kind="stable")[:k]]


def _index(store: CheckoutIndex, folder: Path | None, *, model: str = MODEL) -> VectorIndex:
    index = VectorIndex(_rows(store), model, folder, exact_limit=_LIMIT)
    index.refresh()
    return index


@pytest.fixture
def snapshot(store: CheckoutIndex, tmp_path: Path) -> Path:
    """The folder of a snapshot of 300 vectors."""
    _add(store, unit_vectors(300))
    _index(store, tmp_path).build_snapshot()
    assert len(list(tmp_path.glob("vectors-*.usearch"))) == 1
    return tmp_path


@given(count=st.integers(1, 60), k=st.integers(1, 70), seed=st.integers(0, 99), parts=st.integers(1, 4))
def test_an_exact_search_is_a_sort_of_all_similarities(count: int, k: int, seed: int, parts: int) -> None:
    store = open_checkout(None)
    vectors, query = unit_vectors(count, seed=seed), unit_vectors(1, seed=seed + 1)[0]
    index = VectorIndex(_rows(store), MODEL, None)
    for number, part in enumerate(np.array_split(vectors, parts)):
        if len(part):
            _add(store, part, f"part{number}-")
        index.refresh()
    found = index.search(query, k)
    assert [neighbour.id for neighbour in found] == _brute_force(vectors, query, k)
    assert all(found[i].similarity >= found[i + 1].similarity for i in range(len(found) - 1))


def test_without_a_folder_the_newest_of_many_vectors_are_found(store: CheckoutIndex) -> None:
    vectors = unit_vectors(12 * _LIMIT)
    _add(store, vectors)
    index = _index(store, None)
    assert index.search(vectors[-1], 1)[0].id == len(vectors)
    assert not index.tail_is_long or index.search(vectors[0], 1)[0].id == 1


def test_a_search_of_nothing_finds_nothing(store: CheckoutIndex, tmp_path: Path) -> None:
    index = _index(store, tmp_path)
    assert index.search(unit_vectors(1)[0], 5) == []
    index.build_snapshot()
    assert list(tmp_path.glob("vectors-*")) == []


def test_a_restricted_search_finds_the_best_of_what_is_allowed(store: CheckoutIndex, tmp_path: Path) -> None:
    vectors, query = unit_vectors(80), unit_vectors(1, seed=1)[0]
    _add(store, vectors)
    only = list(range(1, 81, 7))
    found = [neighbour.id for neighbour in _index(store, tmp_path).search(query, 4, only)]
    assert found == [number for number in _brute_force(vectors, query, 80) if number in only][:4]


def test_vectors_of_other_models_are_never_neighbours(store: CheckoutIndex, tmp_path: Path) -> None:
    _add(store, unit_vectors(5), "mine")
    _add(store, unit_vectors(5, dimensions=8), "other", model="other@1")
    index = _index(store, tmp_path)
    assert {neighbour.id for neighbour in index.search(unit_vectors(1)[0], 10)} == {1, 2, 3, 4, 5}


@pytest.mark.slow
def test_a_commit_of_another_process_is_found_after_a_refresh(tmp_path: Path) -> None:
    store = open_checkout(tmp_path / "index.db")
    _add(store, unit_vectors(3))
    index = _index(store, tmp_path)
    finished(
        python(
            "import sys; from pathlib import Path; from tests.support import open_checkout, put_vectors\n"
            "from tests.support import MODEL, digest, unit_vectors\n"
            "store = open_checkout(Path(sys.argv[1]))\n"
            "put_vectors(store, MODEL, [digest('theirs')], unit_vectors(1, seed=77))\n"
            "store.close()",
            tmp_path / "index.db",
        )
    )
    index.refresh()
    assert index.search(unit_vectors(1, seed=77)[0], 1)[0].id == 4


def test_without_a_snapshot_the_tail_is_long_and_exact(store: CheckoutIndex, tmp_path: Path) -> None:
    vectors, query = unit_vectors(300), unit_vectors(1, seed=5)[0]
    _add(store, vectors)
    index = _index(store, tmp_path)
    assert index.tail_is_long
    assert [neighbour.id for neighbour in index.search(query, 10)] == _brute_force(vectors, query, 10)


def test_a_snapshot_makes_the_tail_short_and_finds_nearly_the_same(store: CheckoutIndex, snapshot: Path) -> None:
    index = _index(store, snapshot)
    assert not index.tail_is_long
    vectors = unit_vectors(300)
    wanted = found = 0
    for query in unit_vectors(20, seed=8):
        best = set(_brute_force(vectors, query, 10))
        found += len(best & {neighbour.id for neighbour in index.search(query, 10)})
        wanted += len(best)
    assert found / wanted > 0.9


def test_the_index_that_built_a_snapshot_goes_on_with_it(store: CheckoutIndex, tmp_path: Path) -> None:
    vectors = unit_vectors(300)
    _add(store, vectors)
    index = _index(store, tmp_path)
    index.build_snapshot()
    assert not index.tail_is_long
    assert index.search(vectors[17], 1)[0].id == 18


def test_an_index_with_a_snapshot_sees_later_commits(store: CheckoutIndex, snapshot: Path) -> None:
    index = _index(store, snapshot)
    _add(store, unit_vectors(5, seed=123), "later")
    index.refresh()
    found = index.search(unit_vectors(5, seed=123)[3], 300)
    assert found[0].id == 304
    ids = [neighbour.id for neighbour in found]
    assert len(ids) == len(set(ids))


def test_a_newer_snapshot_replaces_the_former_file(store: CheckoutIndex, snapshot: Path) -> None:
    former = set(snapshot.glob("vectors-*.usearch"))
    reader = _index(store, snapshot)
    _add(store, unit_vectors(100, seed=9), "later")
    _index(store, snapshot).build_snapshot()
    assert len(list(snapshot.glob("vectors-*.usearch"))) == 1
    assert not former & set(snapshot.glob("vectors-*.usearch"))
    reader.refresh()
    assert reader.search(unit_vectors(300)[42], 1)[0].id == 43
    assert reader.search(unit_vectors(100, seed=9)[42], 1)[0].id == 343


@pytest.mark.parametrize("place", [0, 100, -100])
def test_a_snapshot_with_flipped_bytes_is_ignored(store: CheckoutIndex, snapshot: Path, place: int) -> None:
    file = next(snapshot.glob("vectors-*.usearch"))
    data = bytearray(file.read_bytes())
    data[place] ^= 0xFF
    file.write_bytes(data)
    _assert_exact(store, snapshot)


def test_a_snapshot_that_somebody_else_sealed_is_ignored(
    store: CheckoutIndex, snapshot: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """usearch would read it, and some files crash it."""
    assert not _index(store, snapshot).tail_is_long
    monkeypatch.setenv("RAG_LS_HOME", str(tmp_path_factory.mktemp("another")))
    _assert_exact(store, snapshot)
    _index(store, snapshot).build_snapshot()
    assert not _index(store, snapshot).tail_is_long


@pytest.mark.parametrize(
    "change", [{"count": 299}, {"dimensions": 8}, {"last_id": 10**9}, {"seal": 3}, {"seal": "\xe9"}]
)
def test_a_description_that_was_changed_is_ignored(
    store: CheckoutIndex, snapshot: Path, change: dict[str, object]
) -> None:
    file = next(snapshot.glob("vectors-*.json"))
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    _assert_exact(store, snapshot)


@pytest.mark.skipif(os.name != "posix", reason="there are no pipes")
def test_a_description_leads_to_no_other_file(store: CheckoutIndex, snapshot: Path) -> None:
    """A pipe, for one, would be waited for."""
    os.mkfifo(snapshot / "pipe.usearch")
    os.mkfifo(snapshot / "vectors-0123456789ab-1.usearch")
    description = next(snapshot.glob("vectors-*.json"))
    for name in ("pipe.usearch", f"../{snapshot.name}/pipe.usearch", "vectors-0123456789ab-1.usearch"):
        description.write_text(json.dumps(json.loads(description.read_text()) | {"file": name}))
        _assert_exact(store, snapshot)
    description.unlink()
    os.mkfifo(description)
    _assert_exact(store, snapshot)


def test_a_truncated_snapshot_is_ignored(store: CheckoutIndex, snapshot: Path) -> None:
    file = next(snapshot.glob("vectors-*.usearch"))
    file.write_bytes(file.read_bytes()[:-500])
    _assert_exact(store, snapshot)


def test_a_snapshot_whose_file_is_gone_is_ignored(store: CheckoutIndex, snapshot: Path) -> None:
    next(snapshot.glob("vectors-*.usearch")).unlink()
    _assert_exact(store, snapshot)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"file": 1}', "\udcff"])
def test_a_damaged_description_is_ignored(store: CheckoutIndex, snapshot: Path, text: str) -> None:
    next(snapshot.glob("vectors-*.json")).write_bytes(text.encode("utf-8", "surrogateescape"))
    _assert_exact(store, snapshot)


def test_a_snapshot_of_a_former_index_is_ignored(snapshot: Path) -> None:
    later = open_checkout(snapshot / "later.db")
    _add(later, unit_vectors(300, seed=1), "later")
    index = _index(later, snapshot)
    assert index.tail_is_long
    query = unit_vectors(1, seed=31)[0]
    found = [neighbour.id for neighbour in index.search(query, 10)]
    assert found == _brute_force(unit_vectors(300, seed=1), query, 10)


def test_a_snapshot_of_another_model_is_not_used(store: CheckoutIndex, snapshot: Path) -> None:
    _add(store, unit_vectors(60, seed=3), "other", model="other@1")
    other = _index(store, snapshot, model="other@1")
    found = {neighbour.id for neighbour in other.search(unit_vectors(1)[0], 300)}
    assert found == set(range(301, 361))


def test_a_damaged_snapshot_is_replaced_by_the_next_one(store: CheckoutIndex, snapshot: Path) -> None:
    next(snapshot.glob("vectors-*.usearch")).write_bytes(b"garbage")
    _index(store, snapshot).build_snapshot()
    assert not _index(store, snapshot).tail_is_long


def test_a_snapshot_is_readable_by_its_user_alone_and_leaves_no_temporary_file(snapshot: Path) -> None:
    files = list(snapshot.glob("vectors-*"))
    assert sorted(file.suffix for file in files) == [".json", ".usearch"]
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert json.loads(next(snapshot.glob("*.json")).read_text())["count"] == 300


def _assert_exact(store: CheckoutIndex, folder: Path) -> None:
    index, query = _index(store, folder), unit_vectors(1, seed=31)[0]
    assert index.tail_is_long
    found = [neighbour.id for neighbour in index.search(query, 10)]
    assert found == _brute_force(unit_vectors(300), query, 10)
