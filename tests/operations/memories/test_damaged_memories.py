"""One memory whose record or place is damaged, unreadable, missing or huge never hides the others."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rag_ls.engine.client import Client
from rag_ls.engine.code.hovers import find_memory_lenses, hover
from rag_ls.engine.session import ProjectSession
from rag_ls.lsp.features.hover import markdown
from rag_ls.model import Scope
from rag_ls.operations import Operations
from rag_ls.storage.sqlite.memory_rows import NAMES, from_record, from_row
from tests.support import PATIENCE_S, scale_examples, write

_GOOD = "Cart prices are net of tax, the invoice adds it"
_BAD = "Cart prices are damaged in a way of their own"

_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**30), 10**30), st.floats(), st.text(max_size=20),
    st.sampled_from(["src/cart.py", "src/auth.py", "total_price", "~not base 85~", "a" * 100_000, "\0", "\ud800"]),
)  # fmt: skip
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
_PATHS = st.sampled_from([
    "src/cart.py", "src/gone.py", "", ".", "..", "../out.py", "/etc/passwd", "untitled:1", "a\0b", "n" * 300, "loop/a.py",
    "src/cart.py/below", "docs", "x/" * 3000,
])  # fmt: skip
_ANCHORS = st.one_of(
    _VALUES,
    st.lists(_VALUES, max_size=12),
    st.tuples(_PATHS, st.lists(_VALUES, max_size=11)).map(lambda parts: [parts[0], *parts[1]]),
)
_METADATA = st.one_of(
    _VALUES,
    st.dictionaries(
        st.sampled_from(["tags", "source_file", "language", "chunk_index", "importance_score", "custom", "new"]),
        _VALUES,
    ),
)


@pytest.fixture
def repository(indexed_repository: Path) -> Path:
    """The shop as a git repository, which is indexed already."""
    return indexed_repository


@pytest.fixture
def operations(client: Client, repository: Path) -> Operations:
    """The shop with a memory that is whole, and one to damage."""
    (repository / "loop").symlink_to("loop")
    view = client.open(repository)
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    operations = Operations(client, wait_for_model_s=PATIENCE_S)
    for content in (_GOOD, _BAD):
        place = {"source_file": "src/cart.py", "symbol": "total_price"}
        operations.run("store_memory", {"content": content, "scope": "project", "metadata": place})
    return operations


def _view(operations: Operations) -> ProjectSession:
    return operations._caller.client.projects()[0]


def _file(operations: Operations) -> Path:
    return Path(_view(operations).memories.of(Scope.PROJECT).place)


def _damage(operations: Operations, column: str, text: str) -> None:
    with closing(sqlite3.connect(_file(operations))) as connection, connection:
        connection.execute(f"UPDATE memories SET {column} = ? WHERE content = ?", (text, _BAD))


def _contents(found: dict[str, Any], name: str = "memories") -> set[str]:
    return {item["content"] for item in found[name]}


def _check_both_answer(operations: Operations, folder: Path) -> None:
    """Both memories are listed, found, exported and kept by whatever looks at them."""
    for order in ("updated", "importance", "uses"):
        assert _contents(operations.run("list_memories", {"order": order})) == {_GOOD, _BAD}
    operations.run("list_memories", {"filters": {"language": "python", "path": "src/cart.py", "anchor": "any"}})
    assert _GOOD in _contents(operations.run("search_memory", {"query": "cart prices"}), "results")
    assert _GOOD in _contents(operations.run("memories_about", {"path": "src/cart.py", "line": 1}), "results")
    view = _view(operations)
    assert _GOOD in markdown(view, hover(view, "src/cart.py", 1))
    assert any(_GOOD in {item.content for item in found} for _, found in find_memory_lenses(view, "src/cart.py"))
    for form in ("json", "md"):
        target = folder / f"all.{form}"
        operations.run("export_memories", {"output": str(target), "scope": "project"})
        assert _GOOD in target.read_text(encoding="utf-8")
    json.dumps(operations.run("list_memories", {}), allow_nan=False).encode()


@pytest.mark.slow
def test_no_anchor_whatever_is_in_it_hides_another_memory(operations: Operations, tmp_path: Path) -> None:
    @settings(max_examples=scale_examples(60))
    @given(_ANCHORS)
    @example(["src/cart.py", "total_price", "", 10**30, "", "f", "b", "~not base 85~", "~", 10**30, "x"])
    @example(["n" * 300])
    @example(["loop/a.py", "gone"])
    @example(["a\0b"])
    def check(anchor: object) -> None:
        _damage(operations, "anchor", json.dumps(anchor, allow_nan=False) if _is_json(anchor) else "[]")
        _check_both_answer(operations, tmp_path)

    check()


@pytest.mark.slow
def test_no_metadata_whatever_is_in_it_hides_another_memory(operations: Operations, tmp_path: Path) -> None:
    @settings(max_examples=scale_examples(60))
    @given(_METADATA.map(json.dumps) | st.text(st.characters(codec="utf-8"), max_size=30))
    @example("")
    @example("[" * 100_000)
    @example('{"importance_score": NaN}')
    def check(text: str) -> None:
        _damage(operations, "metadata", text)
        _check_both_answer(operations, tmp_path)

    check()


def _is_json(value: object) -> bool:
    """Whether SQLite takes it for JSON: it refuses NaN, and an index on anchors keeps what is no JSON out."""
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            return bool(connection.execute("SELECT json_valid(?)", (json.dumps(value, allow_nan=False),)).fetchone()[0])
    except ValueError:
        return False


@given(
    st.lists(
        st.one_of(_SCALARS.filter(lambda value: value != "\ud800"), st.binary(max_size=20)),
        min_size=len(NAMES),
        max_size=len(NAMES),
    )
)
def test_a_row_of_anything_is_a_memory(values: list[object]) -> None:
    assert from_row(values, Scope.PROJECT).scope is Scope.PROJECT


@given(st.one_of(st.text(), _VALUES.map(json.dumps)))
def test_a_former_version_of_anything_is_a_memory(record: str) -> None:
    assert from_record(record, Scope.PROJECT).scope is Scope.PROJECT


@pytest.mark.parametrize("path", ["n" * 300, "loop/a.py"])
def test_a_place_that_cannot_be_looked_at_is_unknown(operations: Operations, path: str) -> None:
    """ENAMETOOLONG and ELOOP: the same for root as for anybody."""
    with pytest.raises(OSError, match=r"too long|Too many levels"):
        os.stat(_view(operations).project.root / path)
    _damage(operations, "anchor", json.dumps([path]))
    found = operations.run("list_memories", {"filters": {"anchor": "unknown"}})
    assert _contents(found) == {_BAD}
    assert operations.run("list_memories", {"filters": {"anchor": "fresh"}})["total"] == 1


def test_a_confirmed_memory_keeps_a_place_that_cannot_be_read(operations: Operations) -> None:
    _damage(operations, "anchor", json.dumps(["loop/a.py", "gone"]))
    found = operations.run("list_memories", {"filters": {"anchor": "unknown"}})["memories"]
    assert operations.run("update_memory", {"id": found[0]["id"]})["anchor"]["path"] == "loop/a.py"


def test_changes_of_many_memories_are_taken_back_beside_a_damaged_record_of_others(
    operations: Operations, repository: Path
) -> None:
    write(repository, {"more.json": json.dumps([{"content": "Refunds take fourteen days"}])})
    operations.run("import_memories", {"input": str(repository / "more.json"), "scope": "project"})
    with closing(sqlite3.connect(_file(operations))) as connection, connection:
        connection.execute("INSERT INTO batches VALUES ('x', 'imported', '2000-01-01T00:00:00Z', '[[', NULL)")
    assert operations.run("undo", {})["changes"]["deleted"] == 1
