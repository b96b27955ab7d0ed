"""Pairs of what documentation says and the declaration without it; and of questions made from names by rules."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from rag_ls.chunking import embedding_text
from rag_ls.model import Chunk
from tests.benchmarks.code.questions import documentation_lines
from training.pairs import Pair, names_of, words_of
from training.sources import Source, chunks_of

_DECLARES = re.compile("function|method|class|struct|interface|enum|trait|module|type|impl|object|definition")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_NO_SENTENCE = re.compile(
    r"copyright|licen[sc]e|todo|fixme|@(param|return|see|inherit)|https?://|eslint|pylint|noqa", re.I
)
_FEWEST_WORDS, _MOST_WORDS = 3, 40
_FRAMES = (
    "how does {type} {words}", "where does {type} {words}", "where is {words} implemented", "how is {words} done",
    "code to {words}", "{words}", "which function does {words}", "{type} {words}", "where do we {words}",
)  # fmt: skip
_FEWEST_PARTS = 2
_GIVEN_WORDS = 5
_SIGNATURE_BODY_LINES = 3


def documented(source: Source, repository: str) -> Iterator[Pair]:
    """What the documentation of a file's declarations says, each with its declaration without any documentation."""
    found: list[tuple[str, Chunk]] = []
    lines = source.text.split("\n")
    for chunk in source.chunks:
        if not chunk.is_declaration or not chunk.doc or chunk.overlap:
            continue
        numbers = documentation_lines(chunk, _DECLARES)
        sentence = _said(chunk.doc)
        if numbers and sentence:
            found.append((sentence, chunk))
            for number in numbers:
                lines[number - 1] = ""
    if found:
        bare = {chunk.symbol: chunk for chunk in reversed(chunks_of("\n".join(lines), source.path, source.language))}
        for sentence, chunk in found:
            answer = embedding_text(bare[chunk.symbol]) if chunk.symbol in bare else ""
            # Where several declarations are one chunk, another one's documentation was taken out.
            if answer and not is_given_away(sentence, answer):
                yield Pair("documentation", source.language, repository, source.path, sentence, answer)


def is_given_away(question: str, answer: str) -> bool:
    """Whether an answer begins to say the question word for word."""
    return " ".join(question.split()[:_GIVEN_WORDS]) in " ".join(answer.split())


def _said(doc: str) -> str:
    """The first sentence of documentation, or the first two where it is short; empty where it is no sentence."""
    sentences = _SENTENCE.split(" ".join(doc.split()))
    said = sentences[0]
    if len(said.split()) < _FEWEST_WORDS * 2 and len(sentences) > 1:
        said = " ".join(sentences[:2])
    is_sentence = not _NO_SENTENCE.search(said) and re.match(r"[A-Za-z`]", said)
    return said.rstrip(".") if is_sentence and _FEWEST_WORDS <= len(said.split()) <= _MOST_WORDS else ""


def signatures(source: Source, repository: str) -> Iterator[Pair]:
    """Signatures, each with the body of its declaration."""
    for chunk in source.chunks:
        body = chunk.text.replace(chunk.signature, "", 1) if chunk.signature else chunk.text
        is_whole = chunk.is_declaration and chunk.signature and not chunk.overlap
        if is_whole and body != chunk.text and len(body.strip().split("\n")) > _SIGNATURE_BODY_LINES:
            yield Pair("signature", source.language, repository, source.path, chunk.signature, body)


def asked(source: Source, repository: str) -> Iterator[Pair]:
    """Questions that rules make from the names of declarations."""
    for chunk in source.chunks:
        *scopes, name = names_of(chunk.symbol)
        words = words_of(name)
        if (
            chunk.is_declaration
            and not chunk.overlap
            and len(words) >= _FEWEST_PARTS
            and name.lower() not in ("main", "init")
        ):
            question = _question(words, scopes, chunk.symbol)
            yield Pair("question", source.language, repository, source.path, question, embedding_text(chunk))


def _question(words: Sequence[str], scopes: Sequence[str], seed: str) -> str:
    chosen = random.Random(seed)
    frames = _FRAMES if scopes else [frame for frame in _FRAMES if "{type}" not in frame]
    scope = " ".join(words_of(scopes[-1])) if scopes and chosen.random() < 0.5 else (scopes[-1] if scopes else "")
    return chosen.choice(frames).format(type=scope, words=" ".join(words))
