"""A rule's relevance is a probability that grows with the evidence; its kind decides between equals."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag_ls.chunking import RuleKind
from rag_ls.rules.relevance import RuleEvidence, held_part, relevance

PART = st.floats(0, 1)


@given(PART, PART, PART, PART)
def test_relevance_is_a_probability_and_constraints_weigh_most(
    similar: float, words: float, title: float, more: float
) -> None:
    evidence = RuleEvidence(similar, words, title)
    constraint, pattern, code = (relevance(evidence, kind) for kind in (RuleKind.CONSTRAINT, RuleKind.PATTERN, "code"))
    assert 0 <= code <= pattern <= constraint <= 1
    assert relevance(RuleEvidence(min(1.0, similar + more), words, title), RuleKind.CONSTRAINT) >= constraint


def test_a_pattern_about_the_question_comes_before_a_constraint_about_something_else() -> None:
    fitting, other = RuleEvidence(0.6, 0.7, 0.5), RuleEvidence(0.1, 0.1, 0.0)
    assert relevance(fitting, RuleKind.PATTERN) > relevance(other, RuleKind.CONSTRAINT)


def test_the_held_part_counts_rare_words_more() -> None:
    weights = {"retri": 5.0, "file": 1.0}
    assert held_part(weights, "how retries work") > held_part(weights, "a file")
    assert held_part({}, "anything") == 0.0
