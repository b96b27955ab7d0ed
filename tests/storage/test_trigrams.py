"""Signatures rule out only what cannot be."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_ls.search.expressions import Expression
from rag_ls.storage import Need
from rag_ls.storage.terms import SIGNATURE_BYTES, sign
from tests.support import scale_examples

LETTERS = st.text(alphabet="abc\u0130\u0131\u017f\u212asikSIK \u00e9\u6f22\n\t", max_size=40)


def may_hold(text: str, need: Need) -> bool:
    bits = np.frombuffer(sign(text).bits, dtype=np.uint8).reshape(-1, SIGNATURE_BYTES)
    return bool(len(need.find_blocks(bits, np.arange(len(bits)))))


@settings(max_examples=scale_examples(500), deadline=None)
@given(before=LETTERS, literal=LETTERS, after=LETTERS)
def test_a_text_that_holds_a_literal_is_never_ruled_out(before: str, literal: str, after: str) -> None:
    for line in literal.split("\n"):
        need = Need((line,))
        assert need.is_empty or may_hold(before + line + after, need)


@settings(max_examples=scale_examples(500), deadline=None)
@given(literal=LETTERS, text=LETTERS)
def test_a_text_that_holds_it_in_another_case_is_never_ruled_out(literal: str, text: str) -> None:
    need = Need((literal,), any_case=True)
    if re.search(re.escape(literal), text, re.IGNORECASE) and "\n" not in literal:
        assert need.is_empty or may_hold(text, need)


def test_what_no_line_holds_is_mostly_ruled_out() -> None:
    text = "".join(f"value_{number} = compute({number})\n" for number in range(500))
    assert may_hold(text, Need(("compute(499)",)))
    assert not may_hold(text, Need(("zebra_quilt",)))
    # All trigrams of a literal must be in one block.
    assert len(sign(text).bits) // SIGNATURE_BYTES > 5


@pytest.mark.parametrize(
    ("pattern", "holding", "lacking"),
    [
        (r"raise\s+NotImplementedError\(", "raise NotImplementedError(", "raise ValueError("),
        (r"def get_.*_display", "def get_status_display", "def set_status"),
        (r"(foobar|bazqux)_\d", "bazqux_1", "other_1"),
        (r"(?i)TIMEOUT", "timeout", "retries"),
        (r"(?:needle)+", "needleneedle", "haystack"),
        (r"a{2}", "xx", ""),
        (r"(needle)?", "haystack", ""),
        (r"needle|", "haystack", ""),
        (r"\bneedle\b", "a needle", "haystack"),
        (r"nee\x64le", "needle", "haystack"),
        (r"nee[dt]le", "needle", "haystack"),
    ],
)
def test_a_regular_expression_needs_the_text_that_each_match_holds(pattern: str, holding: str, lacking: str) -> None:
    need = Expression.read(pattern).need()
    assert need.is_empty or may_hold(holding, need)
    assert need.is_empty == (not lacking)
    if lacking:
        assert not may_hold(lacking, need)
