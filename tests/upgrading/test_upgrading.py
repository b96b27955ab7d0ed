"""What versions before this one left on disk, as `scripts/keep_data.py` kept it, is opened, searched and gone on with.

2026-11-22 is the first format of memories, 2026-11-24 came before anything was sealed, and memories lay in the project's folder.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.engines import answer, run
from tests.support import end_engine

pytestmark = pytest.mark.slow

KEPT = sorted(Path(__file__).parent.glob("*.tar.xz"))


@dataclass(frozen=True, slots=True)
class Former:
    """A project that a former version worked on, and what should be there."""

    shop: Path
    expected: dict[str, Any]

    def memories(self) -> list[dict[str, Any]]:
        found = [answer("list", "--scope", scope, folder=self.shop) for scope in ("project", "global")]
        return [memory for each in found for memory in each["memories"]]


@pytest.fixture(params=KEPT, ids=lambda kept: kept.name.removesuffix(".tar.xz"))
def former(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Former]:
    with tarfile.open(request.param) as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.setenv("RAG_LS_HOME", str(tmp_path / "home"))
    # Before folders were trusted, nothing said whose memories lay in one; the user says so once.
    assert run("trust", "--yes", folder=tmp_path / "shop").returncode == 0
    yield Former(tmp_path / "shop", json.loads((tmp_path / "expected.json").read_text()))
    end_engine()


def test_a_former_version_s_data_is_there_whole_and_goes_on(former: Former) -> None:
    described = [
        {name: memory.get(name) for name in ("id", "content", "scope", "version")} for memory in former.memories()
    ]
    assert sorted(described, key=str) == sorted(former.expected["memories"], key=str)

    assert run("index", ".", folder=former.shop).returncode == 0
    found = answer("search", former.expected["question"], folder=former.shop)
    best = {hit["kind"]: hit for hit in reversed(found["results"])}
    assert best["chunk"]["path"] == "auth.py"
    assert best["memory"]["content"] == former.expected["answer"]
    assert best["memory"]["anchor"]["state"] == "fresh"
    assert found["stats"]["complete"]
    assert found["stats"]["dense"]

    changed = former.expected["changed"]
    answer("restore", changed, "--version", "1", folder=former.shop)
    record = answer("show", changed, folder=former.shop)
    assert record["content"] == "Prices are shown without taxes"
    assert record["version"] == 3
    answer("add", "Customers are asked before their cart is emptied", folder=former.shop)
    assert len(former.memories()) == len(described) + 1


def test_data_of_former_versions_was_kept() -> None:
    assert KEPT, "scripts/keep_data.py writes it"
