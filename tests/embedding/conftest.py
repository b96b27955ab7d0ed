"""The former model is exported once for all tests: it takes as long as ten of them."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _exported_once(home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    shared = tmp_path_factory.getbasetemp() / "openvino"
    shared.mkdir(exist_ok=True)
    models = home / "data" / "models"
    models.mkdir(parents=True, mode=0o700, exist_ok=True)
    if not (models / "openvino").exists():
        (models / "openvino").symlink_to(shared)
