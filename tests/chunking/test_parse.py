"""What parsing keeps once it is done: nothing."""

from __future__ import annotations

import tracemalloc

import pytest

from rag_ls.chunking.parse import parse
from tests.grammars import SYNTAXES

from .samples import SAMPLES, Sample

_ROUNDS = 6
_TEXT_BYTES = 10_000


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.language)
def test_a_parsed_text_is_not_kept(sample: Sample) -> None:
    # The binding kept what was read: the text itself, and a slice of it wherever a scanner looks ahead.
    text = sample.text.encode() * (1 + _TEXT_BYTES // len(sample.text))

    def parse_rounds() -> int:
        for number in range(_ROUNDS):
            # Each is another text, as each keystroke makes it.
            parse(text + b"\n" * number, SYNTAXES[sample.language])
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        first, second = parse_rounds(), parse_rounds()
    finally:
        tracemalloc.stop()
    assert second - first < len(text)
