"""Judges how well a rule fits a planned change. Pure functions; the weights were learnt from the seen
half of the labelled changes (tests/benchmarks/rules), by the sections of each question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from rag_ls.chunking import RuleKind
from rag_ls.retrieval.asked import AskedTerms
from rag_ls.retrieval.calibration import probability
from rag_ls.retrieval.fusion import fuse, load_weights
from rag_ls.retrieval.terms import term_stems

PRIORS: Mapping[str, float] = {RuleKind.CONSTRAINT: 10.0, RuleKind.PATTERN: 8.0, "code": 1.0}
"""The weight of a kind of hit before anything is known about the question."""


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
    """The probability that a section applies, 0 to 1, after the prior of its kind."""
    told = {"bias": 1.0, **asdict(evidence), "similarity": max(0.0, evidence.similarity)}
    prior = PRIORS[kind] / max(PRIORS.values())
    return round(probability(fuse(told, load_weights("rules")), prior), 4)


def held_part(weights: Mapping[str, float], text: str) -> float:
    """The part of some stemmed terms, by their weights, that a text holds."""
    return AskedTerms(weights).share(term_stems(text))
