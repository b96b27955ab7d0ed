"""Finds the commits that answer a question in words."""

from __future__ import annotations

from rag_ls.embedding import Embedding
from rag_ls.search import AskedTerms, content_terms, rarity, term_stems
from rag_ls.storage import CommitIndex, StoredCommit, stem
from rag_ls.util.records import dataclass

_MAX_WORDS, _MAX_CANDIDATES, _MAX_FREQUENT = 24, 200, 0.2
# A commit answers if it holds at least this share of the question's words, weighed by how rare they are.
_MIN_SHARE = 0.12
# The nearest commits by meaning, of which each is at least so near, answer too; the weight of nearness beside that of words.
_MAX_NEAREST, _MIN_COSINE, _MEANING_WEIGHT = 100, 0.3, 1.5
# The weights of words in the subject, anywhere in the message, and in the paths besides.
_SUBJECT_WEIGHT, _MESSAGE_WEIGHT, _WHOLE_WEIGHT = 0.35, 0.45, 0.2
# Questions about history say when and why, which no commit repeats.
_ASKING = frozenset(
    "when why who how did do does was were is are we stop start begin began change changed commit decide decided since"
    .split()
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CommitHit:
    """A commit that answers a question."""

    commit: StoredCommit
    score: float
    """0..1."""


def find_commits(commits: CommitIndex, question: str, k: int, embedding: Embedding | None = None) -> list[CommitHit]:
    """The `k` commits that answer a question best, by words and (with the question's `embedding`) by meaning, the best first."""
    terms = content_terms(question)[:_MAX_WORDS]
    terms = [term for term in terms if term not in _ASKING] or terms
    count = commits.count()
    if not terms or not count:
        return []
    frequencies = commits.frequencies(terms)
    rare = [term for term in terms if frequencies[term] <= max(_MAX_CANDIDATES, _MAX_FREQUENT * count)] or terms
    asked = AskedTerms({stem(term): rarity(count, frequencies[term]) for term in terms})
    candidates = commits.search(rare, _MAX_CANDIDATES)
    near = commits.similarities(embedding.model.id, embedding.vector) if embedding else {}
    nearest = [each for each in sorted(near, key=lambda each: -near[each])[:_MAX_NEAREST] if near[each] >= _MIN_COSINE]
    rows = list(dict.fromkeys([*(each.row for each in candidates), *nearest]))
    found = commits.by_id(rows)
    hits = [CommitHit(found[row], _score(asked, found[row], near.get(row))) for row in rows if row in found]
    # `sorted` keeps the order by BM25 among equals.
    return sorted((hit for hit in hits if hit.score), key=lambda hit: -round(hit.score, 6))[:k]


def _score(asked: AskedTerms, commit: StoredCommit, cosine: float | None) -> float:
    """The fit of a commit, 0..1; 0 for one that holds too few of the words and means something else."""
    by_words = _score_words(asked, commit)
    if cosine is None or not (by_words or cosine >= _MIN_COSINE):
        return by_words
    return (by_words + _MEANING_WEIGHT * max(cosine, 0.0)) / (1 + _MEANING_WEIGHT)


def _score_words(asked: AskedTerms, commit: StoredCommit) -> float:
    subject = term_stems(commit.subject)
    message = subject | term_stems(commit.body)
    whole = message.union(*map(term_stems, commit.paths))
    share = asked.share(whole)
    if share < _MIN_SHARE:
        return 0.0
    return _SUBJECT_WEIGHT * asked.share(subject) + _MESSAGE_WEIGHT * asked.share(message) + _WHOLE_WEIGHT * share
