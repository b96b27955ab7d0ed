"""Recall: the memories of several scopes that fit a question best, by meaning, words and tags."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache

from rag_ls.chunking import approximate_token_offsets
from rag_ls.embedding import Embedding
from rag_ls.memory.new_memories import SUPERSEDES
from rag_ls.memory.parts import MIN_LONG_CHARACTERS, cut_around, find_answer
from rag_ls.model import AnchorState, Hit, Memory, MemoryFilters, Scope
from rag_ls.search import (
    Signals,
    content_terms,
    cosine_of,
    fuse,
    highest_score,
    load_weights,
    note_stems,
    rarity,
    share_of_highest,
    similarity,
    synonyms_of,
)
from rag_ls.storage import MemoryStore, stem
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import fold

_MAX_CANDIDATES = 50
# Only the first words of a question count, this many: it may be a pasted text.
_MAX_WORDS = 24
# A memory is found by its words if it holds at least this share of the question's words. Without a model, a smaller share
# suffices.
_MIN_WORDS_SHARE = 0.35
_MIN_WORDS_SHARE_ALONE = 0.15
# A word in at most this many memories is rare, even in a small store.
_MAX_RARE_HOLDERS = 1000
# If the full-text index found none of the words in a memory, only its beginning is looked at.
_MAX_READ_CHARACTERS = 20_000
# The stems of this many memories are kept between questions.
_MAX_READ_MEMORIES = 128
# A memory that was also found by words or tags needs only this part of the required closeness in meaning.
_CLOSENESS_FACTOR = 0.5
_ALL_WORDS_SHARE = 0.999
_MAX_TAGS = 2
_MAX_COUNTED_USES = 20
DEFAULT_TOKENS = 600
_STATES = {
    AnchorState.DRIFTED: ", changed since", AnchorState.ORPHANED: ", gone",
    AnchorState.UNKNOWN: ", which cannot be read now",
}  # fmt: skip
# A memory that would get less room than this is left out.
_MIN_TOKENS = 12
# A token has at most about this many characters in any language. A content is cut to as many, then by its tokens.
_CHARACTERS_PER_TOKEN = 5


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the memories."""

    text: str
    k: int
    min_similarity: float
    """The least similarity in meaning (see `search.calibration`); half of it for a match by words or tags."""
    filters: MemoryFilters = MemoryFilters()
    expand: bool = True
    """Look for abbreviations and synonyms too."""
    half_life_days: float = 0.0
    """The pace at which memories sink that are not recalled; 0 for never."""


def recall(stores: Sequence[MemoryStore], question: Question, embedding: Embedding | None, now: datetime) -> list[Hit]:
    """The `k` best memories, the best first; of equally good ones that of the nearest scope."""
    if embedding is not None and not embedding.model.can_read(question.text):
        embedding = None
    hits: list[Hit] = []
    stored_in: dict[str, MemoryStore] = {}
    asked = weigh_words(stores, question)
    for store in stores:
        signals, memories = signals_of(store, question, asked, embedding)
        for memory_id in _admit_close(signals, question, embedding):
            memory = memories[memory_id]
            stored_in[memory_id] = store
            cosine = signals.dense.get(memory_id)
            hits.append(
                Hit(
                    memory,
                    lift_score(score(signals, memory_id), memory, now, question.half_life_days),
                    signals.matched_by(memory_id),
                    similarity=similarity(embedding.model, cosine) if embedding and cosine is not None else None,
                )
            )
    order = list(Scope)
    hits.sort(key=lambda hit: (-round(hit.score, 6), order.index(memory_of(hit).scope), hit.item.id))
    best = _put_below_heirs(_without_repeats(hits))[: question.k]
    return [_with_answer(hit, stored_in[hit.item.id], asked, embedding) for hit in best]


def _with_answer(hit: Hit, store: MemoryStore, asked: AskedWords, embedding: Embedding | None) -> Hit:
    """A hit with the place in a long memory where the answer begins."""
    memory = memory_of(hit)
    if len(memory.content) < MIN_LONG_CHARACTERS:
        return hit
    vectors = store.vectors.of(memory.id, embedding.model.id) if embedding else None
    words = {word: asked.others.get(word, ()) for word in asked.rarity}
    return replace(hit, offset=find_answer(memory.content, words, vectors, embedding.vector if embedding else None))


def _put_below_heirs(hits: Sequence[Hit]) -> list[Hit]:
    """The hits, each that another one supersedes directly below that one, which takes the better place of both."""
    heirs = {str(memory_of(hit).metadata.custom.get(SUPERSEDES) or ""): hit for hit in hits}
    placed: dict[str, Hit] = {}
    for hit in hits:
        chain = [hit]
        while (heir := heirs.get(chain[-1].item.id)) is not None and heir not in chain:
            chain.append(heir)
        for each in reversed(chain):
            heir = heirs.get(each.item.id)
            above = placed.get(heir.item.id) if heir else None
            score = min(each.score, above.score) if above else max(link.score for link in chain)
            superseded_by = above.item.id if above else ""
            placed.setdefault(each.item.id, replace(each, superseded_by=superseded_by, score=score))
    return list(placed.values())


def _without_repeats(hits: Sequence[Hit]) -> list[Hit]:
    """The hits without summaries of memories that were found themselves; those of a collection are texts of their own."""
    found = {hit.item.id for hit in hits}
    return [
        hit
        for hit in hits
        if (item := memory_of(hit)).summary_key is None
        or item.project_id is not None
        or found.isdisjoint(item.source_memory_ids)
    ]


def signals_of(
    store: MemoryStore, question: Question, asked: AskedWords, embedding: Embedding | None
) -> tuple[Signals[str], dict[str, Memory]]:
    """The signals of a store's memories for a question, and these memories by id."""
    dense: dict[str, float] = {}
    if embedding is not None:
        dense |= store.vectors.nearest(embedding.vector, embedding.model.id, question.filters, _MAX_CANDIDATES)
    said = store.words.lexical(asked.telling, _MAX_CANDIDATES, question.filters)
    said |= store.words.lexical(asked.other_telling, _MAX_CANDIDATES, question.filters)
    tags = store.words.tagged([*asked.rarity, *question.text.split()], _MAX_CANDIDATES, question.filters)
    memories = store.by_ids({*dense, *said, *tags})
    if embedding is not None:
        dense |= store.vectors.cosines(embedding.vector, embedding.model.id, {*said, *tags} - {*dense})
    # Leave out memories that were deleted meanwhile.
    dense, tags = (
        {memory_id: found[memory_id] for memory_id in found if memory_id in memories} for found in (dense, tags)
    )
    lexical, expanded = _coverage(asked, memories, said)
    return Signals(dense=dense, lexical=lexical, expanded=expanded, tags=tags), memories


@dataclass(frozen=True, slots=True)
class AskedWords:
    """The words of a question, with their rarity and their synonyms."""

    rarity: Mapping[str, float]
    others: Mapping[str, Sequence[str]]
    telling: Sequence[str]
    """The words that are worth a search: a word that one in forty memories holds is too common."""
    other_telling: Sequence[str]


def weigh_words(stores: Sequence[MemoryStore], question: Question) -> AskedWords:
    """The words of a question, with their rarity over all stores, so that scores of scopes are comparable."""
    words = content_terms(question.text)[:_MAX_WORDS]
    count = sum(store.count() for store in stores)
    most = max(_MAX_RARE_HOLDERS, count // 40)

    def held(word: str) -> int:
        return sum(store.words.frequency(word, most) for store in stores)

    frequency = {word: held(word) for word in words}
    known = {word: synonyms_of(word) for word in words} if question.expand else {}
    other_words = dict.fromkeys(other for more in known.values() for other in more if other not in frequency)
    return AskedWords(
        {word: rarity(count, holders) for word, holders in frequency.items()},
        known,
        [word for word, holders in frequency.items() if holders < most] or words,
        [other for other in other_words if held(other) < most],
    )


@lru_cache(maxsize=_MAX_READ_MEMORIES)
def _stems_of(text: str) -> frozenset[str]:
    return frozenset(note_stems(text))


def _coverage(
    asked: AskedWords, memories: Mapping[str, Memory], said: Collection[str]
) -> tuple[dict[str, float], dict[str, float]]:
    """The share of the words that each memory holds literally, and the share that it holds only as synonyms."""
    # The total is 0 if the stores were empty when the words were counted.
    total = sum(asked.rarity.values()) or 1.0
    stems = {word: stem(word) for word in asked.rarity}
    other_stems = {word: {stem(other) for other in asked.others.get(word, ())} for word in asked.rarity}
    held: dict[str, float] = {}
    in_other_words: dict[str, float] = {}
    for memory_id, memory in memories.items():
        content = memory.content if memory_id in said else memory.content[:_MAX_READ_CHARACTERS]
        there = _stems_of(f"{' '.join(memory.metadata.tags)} {content}")
        for word, weight in asked.rarity.items():
            if stems[word] in there:
                held[memory_id] = held.get(memory_id, 0.0) + weight / total
            elif not other_stems[word].isdisjoint(there):
                in_other_words[memory_id] = in_other_words.get(memory_id, 0.0) + weight / total
    return held, in_other_words


def _admit_close(signals: Signals[str], question: Question, embedding: Embedding | None) -> list[str]:
    """The memories that are close enough in meaning, or that hold enough words and are not too far in meaning."""
    floor = cosine_of(embedding.model, question.min_similarity) if embedding else 0.0
    least = _MIN_WORDS_SHARE if embedding else _MIN_WORDS_SHARE_ALONE
    found = {*signals.dense, *signals.lexical, *signals.expanded, *signals.tags}

    def is_admitted(memory_id: str) -> bool:
        # A memory without an embedding is judged by its words alone.
        cosine = signals.dense.get(memory_id, 1.0)
        share = signals.lexical.get(memory_id, 0.0) + signals.expanded.get(memory_id, 0.0) / 2
        by_words = share >= least or memory_id in signals.tags
        is_close = memory_id in signals.dense and cosine >= floor
        # A memory that holds every word of a question answers it, even if the model does not know its language.
        holds_all = signals.lexical.get(memory_id, 0.0) >= _ALL_WORDS_SHARE
        return is_close or holds_all or (by_words and cosine >= floor * _CLOSENESS_FACTOR)

    return sorted(memory_id for memory_id in found if is_admitted(memory_id))


def memory_of(hit: Hit) -> Memory:
    """The memory of a hit that is one."""
    assert isinstance(hit.item, Memory)
    return hit.item


def score(signals: Signals[str], memory_id: str) -> float:
    """The fit of a memory, 0..1."""
    weights = load_weights("memories")
    evidence = {
        "dense": max(0.0, signals.dense.get(memory_id, 0.0)),
        "lexical": signals.lexical.get(memory_id, 0.0),
        "expanded": signals.expanded.get(memory_id, 0.0),
        "tags": min(_MAX_TAGS, signals.tags.get(memory_id, 0.0)) / _MAX_TAGS,
    }
    # `expanded` is left out: a word counts either as itself or as a synonym.
    highest = highest_score(weights, ["dense", "lexical", "tags"] if signals.dense else ["lexical", "tags"])
    return share_of_highest(fuse(evidence, weights), highest)


def lift_score(score: float, memory: Memory, now: datetime, half_life_days: float) -> float:
    """The score with a small bonus for importance, recency and use; still 0..1.

    A memory that was neither changed nor recalled for `half_life_days` has half of its recency left; 0 means no decay.
    """
    weights = load_weights("memories")
    # Their weights are small, so that they move a memory by a few places at most: the fit to the question matters most.
    evidence = {
        "importance": memory.metadata.importance_score,
        "recency": recency(memory, now, half_life_days),
        "use": min(1.0, math.log1p(memory.uses) / math.log1p(_MAX_COUNTED_USES)),
    }
    return score * (1 + fuse(evidence, weights)) / (1 + highest_score(weights, evidence))


def recency(memory: Memory, now: datetime, half_life_days: float) -> float:
    """1 for a memory that was just changed or recalled, and half as much after each half-life."""
    if half_life_days <= 0:
        return 1.0
    last = max(parse_stamp(memory.updated_at), parse_stamp(memory.used_at or memory.updated_at))
    days = max(0.0, (now - last).total_seconds() / 86_400)
    return float(0.5 ** (days / half_life_days))


def parse_stamp(stamp: str) -> datetime:
    """A time of a record; one without an offset is in UTC. A damaged one is long ago."""
    try:
        at = datetime.fromisoformat(stamp)
    except ValueError:
        at = datetime.min
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def context_text(hits: Sequence[Hit], budget_tokens: int = DEFAULT_TOKENS) -> str:
    """A line `[1] content (scope, date, place)` for each hit, the best first; the last one may be cut to fit."""
    lines: list[str] = []
    left = budget_tokens
    for number, hit in enumerate(hits, 1):
        memory = memory_of(hit)
        head, tail = f"[{number}] ", f" ({_origin(memory)})"
        room = left - _tokens(head + tail) - 1
        content = fold(memory.content)
        if _tokens(content) > room:
            if room < _MIN_TOKENS:
                break
            around, _ = cut_around(memory.content, hit.offset, room * _CHARACTERS_PER_TOKEN)
            content = _cut_text(fold(around), room - 1).removesuffix("…").rstrip() + "…"
        lines.append(head + content + tail)
        left -= _tokens(lines[-1]) + 1
    return "\n".join(lines)


def _origin(memory: Memory) -> str:
    if memory.project_id is not None:
        return fold(f"{memory.source_uri or memory.id[:8]}, {memory.updated_at[:10]}")
    parts = [memory.scope.value, memory.updated_at[:10], memory.id[:8]]
    if anchor := memory.anchor:
        place = f"{anchor.path}:{anchor.start_line}" if anchor.start_line else anchor.path
        renamed = f" ({anchor.former_symbol}, now {anchor.symbol})" if anchor.former_symbol else ""
        parts.append(f"about {place}{renamed}{_STATES.get(anchor.state, '')}")
    return fold(", ".join(parts))


def _tokens(text: str) -> int:
    return int(approximate_token_offsets(text).size)


def _cut_text(text: str, tokens: int) -> str:
    starts = approximate_token_offsets(text)
    return text.encode()[: int(starts[tokens])].decode(errors="ignore").rstrip() if len(starts) > tokens else text
