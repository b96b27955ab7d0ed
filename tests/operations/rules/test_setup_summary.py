"""The message of set-up counts in plain English."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from rag_ls.operations.rules.setup import _describe_set_up
from rag_ls.rules.survey.survey import Survey


@pytest.mark.parametrize(
    ("files", "said"), [(1, "read 1 file (no manifest)"), (2000, "read 2,000 files (no manifest)")]
)
def test_one_file_is_no_plural(files: int, said: str) -> None:
    nothing: dict[str, Any] = {field.name: () for field in fields(Survey)}
    survey = Survey(**{**nothing, "files": files})
    assert _describe_set_up(survey, (), has_rules=False) == f"{said}; wrote nothing."
