"""Properties that hold for every text in every language."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_ls.chunking import Budget, approximate_token_offsets, chunk_text, embedding_text
from rag_ls.languages import LANGUAGES as KNOWN
from tests.grammars import SYNTAXES
from tests.support import scale_examples

from .checks import MEDIUM, SMALL, chunks_of, joined
from .line_samples import LINE_SAMPLES
from .samples import SAMPLES

BY_LINES = sorted(name for name, language in KNOWN.items() if language.lines is not None)
LANGUAGES = st.sampled_from([*sorted(SYNTAXES), *BY_LINES, "notebook", "text", "rst", "unheard-of", None])
ODD = st.sampled_from(
    ["\n", "\r", "\r\n", "\f", "\x1c", "\x85", "\u2028", "\ufeff", "\U0001f600", "é", "漢", " ", "\t", "\0"]
)
SYNTAX = st.sampled_from(
    [
        "def f(x):",
        "class A",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        '"',
        "'",
        "/*",
        "*/",
        "//",
        "#",
        "---",
        "<a id=b>",
        ";",
    ]
)
TEXTS = st.lists(st.one_of(st.text(max_size=20), ODD, SYNTAX), max_size=40).map("".join)
BUDGETS = st.builds(
    lambda most, least, overlap: Budget(most, min(least, most), min(overlap, most)),
    st.integers(1, 60),
    st.integers(0, 60),
    st.integers(0, 20),
)


@pytest.mark.slow
@settings(max_examples=scale_examples(400), deadline=None)
@given(TEXTS, LANGUAGES)
def test_any_text_is_partitioned_within_the_budget(text: str, language: str | None) -> None:
    assert joined(chunks_of(text, language)) == text


@pytest.mark.slow
@settings(max_examples=scale_examples(120), deadline=None)
@given(st.sampled_from([*SAMPLES, *LINE_SAMPLES]), BUDGETS)
def test_any_budget_is_kept(sample, budget: Budget) -> None:
    assert joined(chunks_of(sample.text, sample.language, budget)) == sample.text


@st.composite
def mutated_samples(draw: st.DrawFn) -> tuple[str, str]:
    """Real code with pieces cut out, put in, doubled, or followed by other code."""
    sample = draw(st.sampled_from([*SAMPLES, *LINE_SAMPLES]))
    text = sample.text
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 60)))
        inserted = draw(st.one_of(ODD, SYNTAX, st.just(""), st.just(text[start:end] * 2)))
        text = text[:start] + inserted + text[end:]
    if draw(st.booleans()):
        text += draw(st.sampled_from(SAMPLES)).text
    if draw(st.booleans()):
        text = text.replace("\n", draw(st.sampled_from(["\r\n", "\r"])))
    return text, sample.language


@pytest.mark.slow
@settings(max_examples=scale_examples(250), deadline=None)
@given(mutated_samples(), st.sampled_from([SMALL, MEDIUM]))
def test_broken_code_is_partitioned_within_the_budget(case: tuple[str, str], budget: Budget) -> None:
    assert joined(chunks_of(*case, budget)) == case[0]


@settings(max_examples=scale_examples(60), deadline=None)
@given(mutated_samples())
def test_the_same_text_gives_the_same_chunks(case: tuple[str, str]) -> None:
    assert chunks_of(*case) == chunks_of(*case)


@settings(max_examples=scale_examples(60), deadline=None)
@given(mutated_samples())
def test_what_is_embedded_does_not_depend_on_the_path(case: tuple[str, str]) -> None:
    here = [embedding_text(chunk) for chunk in chunks_of(*case, path="a/here.x")]
    there = [embedding_text(chunk) for chunk in chunks_of(*case, path="b/there.y")]
    assert here == there


def test_the_empty_text_has_no_chunks() -> None:
    assert chunks_of("", "python") == []
    assert chunks_of("", None) == []


@pytest.mark.parametrize("language", [*sorted(SYNTAXES), *BY_LINES, None])
@pytest.mark.parametrize("text", ["\n", " \r\n\t\r", "\ufeff", "x", "\n\n\nx = 1", "\ud800"])
def test_next_to_nothing_is_one_chunk(text: str, language: str | None) -> None:
    assert len(chunks_of(text, language)) == 1


def test_the_document_is_tokenised_once() -> None:
    calls = []

    def counting(text: str):
        calls.append(text)
        return approximate_token_offsets(text)

    for sample in SAMPLES:
        calls.clear()
        chunk_text(sample.text, "x", language=sample.language, budget=SMALL, token_offsets=counting)
        assert calls == [sample.text]


def test_only_lf_crlf_and_cr_end_a_line() -> None:
    text = "a = 1\x0cb\x1cc\x85d\u2028e\r\nb = 2\rc = 3\n"
    for language in ("python", None):
        last = chunks_of(text, language)[-1]
        assert last.end_line == 3


@pytest.mark.parametrize("language", sorted(SYNTAXES))
@pytest.mark.parametrize("character", ["\U000febfd", "\U00054000", "\U0010fffd", "\ue0b0", "\uffff", "漢"])
def test_no_character_crashes_a_scanner(language: str, character: str) -> None:
    for before in ("{", "$", "${", "<<", "<", "[", "`", "- ", "# ", '"', "<!--", "a "):
        text = f"{before}{character}{character}\n"
        assert joined(chunks_of(text, language)) == text
