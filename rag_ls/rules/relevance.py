"""Judges how well a rule fits a planned change. Pure functions; the weights were learnt from the tuned half of the
labelled changes (tests/benchmarks/rules/learn.py), by the sections of each question."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache

from rag_ls.chunking import RuleKind
from rag_ls.rules.key_rules import paragraphs_in
from rag_ls.rules.scopes import paths_named
from rag_ls.search.fusion import fuse, load_weights, probability
from rag_ls.search.terms import AskedTerms, rarity, term_stems
from rag_ls.util.records import asdict, dataclass

PRIORS: Mapping[str, float] = {RuleKind.CONSTRAINT: 10.0, RuleKind.PATTERN: 8.0, "code": 1.0}
"""The weight of a kind of hit before anything is known about the question."""
CLEAR_RELEVANCE = 0.5
"""From here on a rule clearly speaks of a change."""
USUAL_SIMILARITY = 0.1
"""Of a change and the sections nearest to it: with it, no rule is called clear more often without vectors than with them."""
USUAL_NEAREST_SIMILARITY = 0.23
"""Of a change and the one nearest section, for the same end."""
_MIN_DOUBT = 5e-5
# A paragraph of so many different words counts for 0.7 of one that holds nothing but words of the question.
_LONG_PARAGRAPH_WORDS = 12


@dataclass(frozen=True, slots=True)
class RuleEvidence:
    """The evidence for one section of a rule document."""

    similarity: float | None
    """The cosine similarity of the section and the question; None where there are no vectors."""
    words: float
    """The part of the question's words that the section holds, by their rarity, 0 to 1."""
    title: float
    """The same for its headings and path."""
    paragraph: float = 0.0
    """The same for the paragraph or list item that holds most: a section often lists rules about many things."""
    code: float = 0.0
    """The part of the words in the paths of the files that its last heading holds: "Filters" is for `filters.py`."""
    names_path: float = 0.0
    """The narrowness with which it names a file or folder of the question: 1 if it names that file and nothing else, little for
    a map of the project, or for a folder that holds half of it."""
    governs_path: float = 0.0
    """The part of the files that lie below the folder that its document is for, 0 for the project's own documents."""
    is_elsewhere: float = 0.0
    """The part that do not, of a document that is for a folder."""
    has_key_rules: bool = False
    """Whether it commands something, beyond telling."""
    is_plain_key: bool = False
    """Whether it is a key of a YAML file that states no rules: names, versions, lists of folders."""
    is_for_newcomers: bool = False
    """Whether it is in `CONTRIBUTING.md`, which tells mostly how to set up and whom to ask, and little of code."""
    known: float = 0.0
    """The part of the question's words that any section holds, by their rarity, the same for all sections."""
    nearest: float | None = None
    """The similarity of the question and the section nearest to it, the same for all sections: whether any rule speaks of it."""


@dataclass(frozen=True, slots=True)
class SectionTerms:
    """The stemmed terms of a section."""

    all: frozenset[str]
    paragraphs: tuple[frozenset[str], ...]


@lru_cache(maxsize=1024)
def read_terms(text: str) -> SectionTerms:
    """The terms of a section, and those of each of its paragraphs and list items."""
    return SectionTerms(
        frozenset(term_stems(text)), tuple(frozenset(term_stems(each.text)) for each in paragraphs_in(text))
    )


def relevance(evidence: RuleEvidence, kind: str) -> float:
    """The probability that a section applies, 0 to 1, after the prior of its kind."""
    similarity = USUAL_SIMILARITY if evidence.similarity is None else max(0.0, evidence.similarity)
    nearest = USUAL_NEAREST_SIMILARITY if evidence.nearest is None else max(0.0, evidence.nearest)
    told = {"bias": 1.0, **asdict(evidence), "similarity": similarity, "nearest": nearest}
    prior = PRIORS[kind] / max(PRIORS.values())
    return round(probability(fuse(told, load_weights("rules")), prior), 4)


def compute_odds(relevance: float) -> float:
    """The odds of a relevance, which is rounded: 1 stands for a little less."""
    return relevance / max(1 - relevance, _MIN_DOUBT)


def judge_paragraphs(asked: AskedTerms, terms: SectionTerms) -> float:
    """The part of a question's words that one paragraph of a section holds; a long paragraph counts for less."""
    shares = (
        asked.share(each) * math.sqrt(_LONG_PARAGRAPH_WORDS / (_LONG_PARAGRAPH_WORDS + len(each)))
        for each in terms.paragraphs
    )
    return max(shares, default=0.0)


def weigh_paths(paths: Iterable[str], sections: Iterable[SectionTerms]) -> AskedTerms:
    """The words in the paths of files, by the number of files and their rarity among some sections."""
    named = [term_stems(path) for path in paths]
    known = [each.all for each in sections]
    holders = {stem: sum(stem in each for each in known) for stems in named for stem in stems}
    return AskedTerms(
        {
            stem: sum(stem in stems for stems in named) * rarity(len(known), count)
            for stem, count in sorted(holders.items())
            if count
        }
    )


def judge_naming(text: str, depth: float) -> float:
    """The narrowness with which a text names a file, by the number of paths that it names and the depth of the one (`name_depth`)."""
    return depth / math.sqrt(max(1, len(paths_named(text))))
