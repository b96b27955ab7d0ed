"""Answers that would be refused for their length are cut, and say so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rag_ls.mcp.code_text import MAX_ANSWER_CHARACTERS, fit_answer

_ROWS = [{"path": f"src/module_{number}.py", "text": "total = 1\n" * 5} for number in range(2000)]


def test_an_answer_that_fits_stays_as_it_is() -> None:
    answer = {"results": _ROWS[:20], "stats": {"complete": True}}
    assert fit_answer(answer) is answer


@pytest.mark.parametrize(
    ("answer", "where"),
    [
        ({"results": _ROWS, "stats": {"complete": True, "note": "by words"}}, "results"),
        ({"violations": _ROWS, "note": "of two rules"}, "violations"),
        ({"text": "x = 1\n" * 100_000, "id": "a"}, "text"),
        ({"impact": {"files": _ROWS, "tests": _ROWS}}, "impact.files"),
        ({"results": [{"text": "x = 1\n" * 100_000, "path": "a.py"}]}, "results.text"),
        ({"results": [{"lines": ["ü" * 400] * 100}] * 10}, "results"),
    ],
)
def test_one_that_does_not_fit_is_cut_with_a_count(answer: dict[str, Any], where: str) -> None:
    before = json.dumps(answer)
    fitted = fit_answer(answer)
    assert json.dumps(answer) == before
    assert len(json.dumps(fitted, ensure_ascii=False)) < MAX_ANSWER_CHARACTERS + 1000
    assert len(json.dumps(fitted, ensure_ascii=False)) > MAX_ANSWER_CHARACTERS / 4
    note = fitted["stats"]["note"] if "stats" in fitted else fitted["note"]
    assert f" of {where}" in note
    assert "the answer was too long, and is cut" in note
    assert set(answer) <= set(fitted)
