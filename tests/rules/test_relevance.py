"""A rule's relevance is a probability that grows with the evidence; its kind decides between equals."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag_ls.chunking import RuleKind
from rag_ls.rules.sections import (
    USUAL_NEAREST_SIMILARITY,
    USUAL_SIMILARITY,
    RuleEvidence,
    judge_naming,
    judge_paragraphs,
    read_terms,
    relevance,
    weigh_paths,
)
from rag_ls.search.terms import AskedTerms

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


LISTED = "# Conventions\n\n- Never write migrations by hand.\n- No new package without a reason.\n- Views are thin.\n"


def test_one_item_of_a_list_of_rules_counts_more_than_words_scattered_over_it() -> None:
    asked = AskedTerms({"packag": 3.0, "reason": 2.0})
    scattered = AskedTerms({"packag": 3.0, "view": 2.0})
    terms = read_terms(LISTED)
    assert asked.share(terms.all) == scattered.share(terms.all) == 1.0
    assert judge_paragraphs(asked, terms) > judge_paragraphs(scattered, terms) > 0.0
    assert judge_paragraphs(AskedTerms({}), terms) == judge_paragraphs(asked, read_terms("")) == 0.0


def test_words_of_paths_count_by_their_rarity_among_the_rules() -> None:
    sections = [read_terms(text) for text in ("filters in app", "views in app", "jobs in app")]
    weighed = weigh_paths(["app/filters.py", "app/unheard.py"], sections)
    assert weighed.weights["filter"] > weighed.weights["app"] / 2 > 0.0
    assert "unheard" not in weighed.weights


def test_a_map_of_the_project_names_a_file_less_than_a_rule_about_it() -> None:
    folders = " ".join(f"`src/part_{number}/`" for number in range(25))
    assert judge_naming("`src/api/` routes are thin", 1.0) == 1.0
    assert judge_naming(folders, 1.0) == 0.2
    assert judge_naming(folders, 0.0) == 0.0


def test_without_vectors_a_relevance_means_what_it_means_with_usual_ones() -> None:
    without, usual = (
        RuleEvidence(None, 0.5, 0.2),
        RuleEvidence(USUAL_SIMILARITY, 0.5, 0.2, nearest=USUAL_NEAREST_SIMILARITY),
    )
    assert relevance(without, RuleKind.CONSTRAINT) == relevance(usual, RuleKind.CONSTRAINT)


def test_a_change_to_which_no_section_is_near_is_likely_spoken_of_by_none() -> None:
    near, far = (RuleEvidence(0.1, 0.3, 0.0, nearest=nearest) for nearest in (0.5, 0.1))
    assert relevance(near, RuleKind.CONSTRAINT) > relevance(far, RuleKind.CONSTRAINT)


def test_a_change_in_words_that_no_section_holds_is_likely_spoken_of_by_none() -> None:
    said, unsaid = (RuleEvidence(0.3, 0.3, 0.0, known=known, nearest=0.3) for known in (0.9, 0.1))
    assert relevance(said, RuleKind.CONSTRAINT) > relevance(unsaid, RuleKind.CONSTRAINT)
