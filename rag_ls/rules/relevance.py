"""Judges how well a rule fits a planned change. Pure functions; the weights were learnt from labelled changes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from rag_ls.chunking import RuleKind
from rag_ls.retrieval.terms import term_stems

PRIORS: Mapping[str, float] = {RuleKind.CONSTRAINT: 10.0, RuleKind.PATTERN: 8.0, "code": 1.0}
"""How much a kind of hit weighs before anything is known about the question."""

# Learnt from the seen half of the labelled changes (tests/benchmarks/rules), by the sections of each question.
_BIAS, _MEANING, _WORDS, _TITLE, _PATH, _FOLDER, _KEY_RULES, _PLAIN_KEY = -6.1, 10.2, 6.0, 0.8, 1.9, 2.5, 0.8, -1.9


@dataclass(frozen=True, slots=True)
class RuleEvidence:
    """The evidence for one section of a rule document."""

    similarity: float
    """The cosine similarity of the section and the question; 0 where there are no vectors."""
    words: float
    """The part of the question's words that the section holds, by their rarity, 0 to 1."""
    title: float
    """The same for its headings and path."""
    names_path: bool = False
    """Whether it names a file or folder of the question."""
    governs_path: bool = False
    """Whether its document stands in a folder above a file of the question."""
    has_key_rules: bool = False
    """Whether it commands something, beyond telling."""
    is_plain_key: bool = False
    """Whether it is a key of a YAML file that states no rules: names, versions, lists of folders."""


def relevance(evidence: RuleEvidence, kind: str) -> float:
    """How probably a section applies, 0 to 1, after the prior of its kind."""
    logit = (
        _BIAS
        + _MEANING * max(0.0, evidence.similarity)
        + _WORDS * evidence.words
        + _TITLE * evidence.title
        + _PATH * evidence.names_path
        + _FOLDER * evidence.governs_path
        + _KEY_RULES * evidence.has_key_rules
        + _PLAIN_KEY * evidence.is_plain_key
    )
    prior = PRIORS[kind] / max(PRIORS.values())
    return round(prior_weighted(1 / (1 + math.exp(-logit)), prior), 4)


def prior_weighted(probability: float, prior: float) -> float:
    """A probability whose odds are multiplied by a prior."""
    return prior * probability / (prior * probability + 1 - probability)


def held_part(weights: Mapping[str, float], text: str) -> float:
    """The part of some stemmed terms, by their weights, that a text holds."""
    whole = sum(weights.values())
    if not whole:
        return 0.0
    held = term_stems(text)
    return sum(weight for term, weight in weights.items() if term in held) / whole
