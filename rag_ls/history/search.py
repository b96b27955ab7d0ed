"""Finds the commits that answer a question in words."""

from __future__ import annotations

from rag_ls.search import AskedTerms, content_terms, rarity, term_stems
from rag_ls.storage import CommitIndex, StoredCommit, stem
from rag_ls.util.records import dataclass

_MAX_WORDS, _MAX_CANDIDATES, _MAX_FREQUENT = 24, 200, 0.2
# A commit answers if it holds at least this share of the question's words, weighed by how rare they are.
_MIN_SHARE = 0.12
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


def find_commits(commits: CommitIndex, question: str, k: int) -> list[CommitHit]:
    """The `k` commits that answer a question best, the best first."""
    terms = content_terms(question)[:_MAX_WORDS]
    terms = [term for term in terms if term not in _ASKING] or terms
    count = commits.count()
    if not terms or not count:
        return []
    frequencies = commits.frequencies(terms)
    rare = [term for term in terms if frequencies[term] <= max(_MAX_CANDIDATES, _MAX_FREQUENT * count)] or terms
    asked = AskedTerms({stem(term): rarity(count, frequencies[term]) for term in terms})
    candidates = commits.search(rare, _MAX_CANDIDATES)
    found = commits.by_id([each.row for each in candidates])
    hits = [CommitHit(found[each.row], _score(asked, found[each.row])) for each in candidates if each.row in found]
    # `sorted` keeps the order by BM25 among equals.
    return sorted((hit for hit in hits if hit.score), key=lambda hit: -round(hit.score, 6))[:k]


def _score(asked: AskedTerms, commit: StoredCommit) -> float:
    """The fit of a commit, 0..1; 0 for one that holds too few of the words."""
    subject = term_stems(commit.subject)
    message = subject | term_stems(commit.body)
    whole = message.union(*map(term_stems, commit.paths))
    share = asked.share(whole)
    if share < _MIN_SHARE:
        return 0.0
    return _SUBJECT_WEIGHT * asked.share(subject) + _MESSAGE_WEIGHT * asked.share(message) + _WHOLE_WEIGHT * share
