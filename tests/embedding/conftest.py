"""Models that tests export are exported once."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _exported_once(exported: None) -> None:
    pass
