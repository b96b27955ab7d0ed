"""What each language's declarations are called."""

from __future__ import annotations

import pytest

from rag_ls.chunking import Budget
from tests.grammars import SYNTAXES

from .checks import MEDIUM, chunks_of
from .samples import SAMPLES, Sample


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.language)
def test_declarations_are_found_by_their_symbols(sample: Sample) -> None:
    symbols = {chunk.symbol for chunk in chunks_of(sample.text, sample.language, MEDIUM)}
    assert set(sample.symbols) <= symbols


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.language)
def test_declarations_are_found_in_files_with_other_line_ends(sample: Sample) -> None:
    symbols = {c.symbol for c in chunks_of(sample.text.replace("\n", "\r\n"), sample.language, MEDIUM)}
    assert set(sample.symbols) <= symbols


def test_every_grammar_has_a_sample() -> None:
    assert {sample.language for sample in SAMPLES} == set(SYNTAXES)


def test_a_header_with_classes_is_read_as_cpp() -> None:
    text = "#pragma once\nnamespace a {\nclass Foo {\n public:\n  void bar(int x, int y, int z);\n};\n}\n"
    chunks = chunks_of(text, "c", Budget(), path="foo.h")
    assert [chunk.symbol for chunk in chunks] == ["a.Foo"]


def test_forty_languages_and_more_are_read_by_their_grammars() -> None:
    assert len(SYNTAXES) >= 45
