"""Finds sentences that decide, correct, forbid or explain: what a person would want to know in the next session too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rag_ls.memory.inbox import MemoryProposal
from rag_ls.memory.transcripts import Sentence
from rag_ls.model import MemoryType
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass


@dataclass(frozen=True, slots=True)
class _Cue:
    """Words that speak for or against keeping a sentence."""

    name: str
    weight: float
    pattern: re.Pattern[str]
    of: str = ""
    """`user` or `agent`, where it counts in the sentences of one of them alone."""


def _cue(name: str, weight: float, words: str, of: str = "") -> _Cue:
    return _Cue(name, weight, lazy_pattern(words, re.IGNORECASE), of)


_CUES = (
    _cue(
        "forbids", 0.7,
        r"\b(?:never|don'?t ever|do not ever|must ?n[o']t|mustn't|may not|not allowed|forbidden|off limits|niemals|nie wieder|"
        r"nunca|jamais|darf nicht|dürfen nicht|no se puede|interdit)\b",
    ),
    _cue(
        "rules", 1.0,
        r"\b(?:always|must|has to|have to|should (?:always|only)|only ever|every (?:time|new)|from now on|by convention|"
        r"convention|rule|policy|immer|muss|müssen|ab jetzt|siempre|toujours|doit|hay que|à partir de)\b",
    ),
    _cue(
        "decides", 0.4,
        r"\b(?:we(?:'ve| have)? (?:decided|agreed|chose|settled|picked|dropped|stay|stick|keep|kept|use|went|go with|don't|do not|won't)|"
        r"decision|decided|agreed|let'?s (?:stick|stay|keep|go with|use|drop|not)|instead of|rather than|wir (?:haben|bleiben|nehmen|"
        r"nutzen|lassen)|usamos|nos quedamos|on (?:utilise|garde|reste))\b",
    ),
    _cue(
        "rules in a few words", 2.0,
        r"\b(?:never|always|must|we (?:decided|agreed|use|stick|stay|keep)|niemals|immer|nunca|siempre|jamais|toujours)\b|"
        r"^(?:please )?(?:do not|don'?t) (?:ever )?(?:use|touch|edit|commit|call|import|put|mock|rename|push|store|log)\b", "user",
    ),
    _cue("corrects", 0.5, r"^(?:no|nope|nein|non|wrong|actually|stop|careful)\b[,.:; ]", "user"),
    _cue("prefers", 0.4, r"\b(?:prefer|i like|i hate|please use|we like|lieber|prefiero|je préfère)\b"),
    _cue("asks", -4.0, r"\?[)\"'\u201d]*$"),
    _cue(
        "reports", -0.5,
        r"^(?:ok(?:ay)?[,.]? )?(?:i'?ll|i will|let me|i'?m|now i|i'?ve|i have|i (?:added|changed|fixed|ran|updated|moved|removed|"
        r"checked|found|see|think|can|could|would)|running|done|fixed|looking|next|great|good|perfect|here|both|all)\b", "agent",
    ),
    _cue(
        "passes", -1.0,
        r"\b(?:for now|right now|just now|this time|today|for the moment|temporar(?:y|ily)|later|at the moment|tomorrow|"
        r"in this (?:pr|commit|branch|session|task)|yet|still|erstmal|vorerst|por ahora|pour l'instant)\b",
    ),
    _cue(
        "orders", -1.1,
        r"^(?:ok(?:ay)?[,.]? |and |now |then |so )*(?:fix|add|run|make|please|can|could|try|show|write|update|remove|check|commit|push|"
        r"revert|look|give|tell|do(?! not)|go|ok|thanks|thank|thx|yes|yep|great|nice|perfect|also|what|why|how|where|hm+)\b", "user",
    ),
)  # fmt: skip
_MIN_WORDS, _MAX_WORDS, _MAX_COUNTED_WORDS = 5, 80, 40
# Explanations take words; orders are short.
_WORD_WEIGHT, _USER_WEIGHT, _CLAUSES_WEIGHT = 0.22, 2.7, 0.4
_MIN_SCORE = 5.8
_REASON = lazy_pattern(
    r"(?:because|since|otherwise|that'?s why|the reason|it'?s|they|this|weil|sonst|porque|sinon)\b", re.IGNORECASE
)
_CLAUSE = lazy_pattern(r"[,:;]")
_EVENT = lazy_pattern(r"\b(?:decided|agreed|chose|switched|dropped|moved)\b", re.IGNORECASE)
_WORD = lazy_pattern(r"\w+")
_MAX_PROPOSALS = 12


def propose_from_session(sentences: Iterable[Sentence], origin: str) -> list[MemoryProposal]:
    """The sentences of a session that are most worth keeping, in their order, each with the reason that follows it."""
    rated = [(rate_sentence(sentence), number, sentence) for number, sentence in enumerate(sentences)]
    best = sorted((each for each in rated if each[0] >= _MIN_SCORE), key=lambda each: -each[0])[:_MAX_PROPOSALS]
    return [_make_proposal(sentence, origin) for _, _, sentence in sorted(best, key=lambda each: each[1])]


def rate_sentence(sentence: Sentence) -> float:
    """The sum of what speaks for keeping a sentence.

    The weights are those of a logistic regression on the sentences of twenty sessions that a person had labelled.
    """
    words = len(_WORD.findall(sentence.text))
    if not _MIN_WORDS <= words <= _MAX_WORDS:
        return 0.0
    score = _WORD_WEIGHT * min(words, _MAX_COUNTED_WORDS) + _USER_WEIGHT * sentence.by_user
    return (
        score + _CLAUSES_WEIGHT * bool(_CLAUSE.search(sentence.text)) + sum(cue.weight for cue in _matching(sentence))
    )


def _matching(sentence: Sentence) -> Iterator[_Cue]:
    who = "user" if sentence.by_user else "agent"
    return (cue for cue in _CUES if cue.of in ("", who) and cue.pattern.search(sentence.text))


def _make_proposal(sentence: Sentence, origin: str) -> MemoryProposal:
    text = sentence.text
    if sentence.following and _REASON.match(sentence.following):
        text = f"{text} {sentence.following}"
    kind = MemoryType.EPISODIC if _EVENT.search(text) else MemoryType.SEMANTIC
    names = [cue.name for cue in _matching(sentence) if cue.weight > 0]
    return MemoryProposal(
        text, origin, f"{'you' if sentence.by_user else 'the agent'} said so: it {(*names, 'explains')[0]}", kind
    )
