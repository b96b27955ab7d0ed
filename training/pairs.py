"""A pair: what somebody asks, and the code that answers. Written to a file, one JSON object a line."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from rag_ls.storage import identifier_parts

KINDS = ("documentation", "signature", "change", "test", "call", "section", "message", "question")
_SCOPE = re.compile(r"\.|::|#| > |/")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and a text that answers it, as the product embeds it (`chunking.embedding_text`)."""

    kind: str
    language: str
    repository: str
    path: str
    """The file of the answer."""
    question: str
    answer: str
    negatives: tuple[str, ...] = ()
    """Texts that look like answers and are none, hardest first."""


def write(pairs: Iterable[Pair], file: Path) -> int:
    """Write pairs to a file in place of its former content; returns how many."""
    part, count = file.with_name(file.name + ".part"), 0
    with part.open("w", encoding="utf-8") as stream:
        for pair in pairs:
            stream.write(json.dumps(asdict(pair), ensure_ascii=False) + "\n")
            count += 1
    part.replace(file)
    return count


def read(file: Path) -> Iterator[Pair]:
    """The pairs of a file."""
    with file.open(encoding="utf-8") as stream:
        for line in stream:
            record = json.loads(line)
            yield Pair(**{**record, "negatives": tuple(record["negatives"])})


def names_of(symbol: str) -> list[str]:
    """The names in a qualified symbol, the outermost first."""
    return _SCOPE.split(symbol)


def words_of(name: str) -> list[str]:
    """The words of an identifier, as the product's search splits it."""
    return list(identifier_parts(name))


def some(items: Iterable[T], most: int, seed: str) -> list[T]:
    """At most so many of the items, chosen by chance, always the same ones."""
    chosen: Sequence[T] = list(items)
    if len(chosen) <= most:
        return list(chosen)
    return random.Random(seed).sample(chosen, most)
