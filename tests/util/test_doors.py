"""The front doors of rooms."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import rag_ls

_STUBS = sorted(Path(rag_ls.__file__).parent.glob("*/__init__.pyi"))


@pytest.mark.parametrize("stub", _STUBS, ids=lambda stub: stub.parent.name)
def test_each_name_of_a_door_is_there(stub: Path) -> None:
    room = importlib.import_module(f"rag_ls.{stub.parent.name}")
    names = [line.split()[3] for line in stub.read_text().splitlines() if line.startswith("from ")]
    assert names
    for name in names:
        assert getattr(room, name) is not None
        assert not (stub.parent / f"{name}.py").exists(), f"{name} is a module too, and would hide the name"


def test_a_name_that_a_door_does_not_have_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'rag_ls\.search' has no attribute 'nothing'"):
        importlib.import_module("rag_ls.search").nothing  # noqa: B018


def test_a_door_loads_nothing_before_it_is_asked() -> None:
    code = "import sys, rag_ls.storage, rag_ls.memory; print([m for m in sys.modules if m.startswith(('rag_ls.storage.', 'numpy'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
