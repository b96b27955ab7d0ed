"""The message of set-up counts in plain English."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from rag_ls.operations.rules.setup import _describe_set_up
from rag_ls.rules.survey.survey import ProjectSurvey, Survey


@pytest.mark.parametrize(
    ("read", "files", "said"),
    [
        (1, 1, "read 1 source file, and counted in 1 file of the product (no manifest)"),
        (3011, 2000, "read 3,011 source files, and counted in 2,000 files of the product (no manifest)"),
    ],
)
def test_one_file_is_no_plural_and_those_that_were_read_are_as_many_as_the_progress_said(
    read: int, files: int, said: str
) -> None:
    nothing: dict[str, Any] = {field.name: () for field in fields(Survey)}
    survey = Survey(**{**nothing, "files": files})
    surveyed = ProjectSurvey(survey, read, ())
    assert _describe_set_up(surveyed, (), has_rules=False, is_current=False) == f"{said}; wrote nothing."
    again = _describe_set_up(surveyed, (), has_rules=False, is_current=True)
    assert again == f"{said}; wrote nothing, since each file is as it would be written."
