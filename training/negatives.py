"""Adds hard negatives to pairs: answers of other questions that our own lexical ranking takes for this one's.

python -m training.negatives FOLDER [--model MODEL] [--count N]

FOLDER/pairs.jsonl is replaced. Among the first places are true answers, too, so a text counts only if the model finds it clearly
less close to the question than the answer: "positive-aware" mining, as in Moreira et al., "NV-Retriever" (2024). Over a hundred
pairs a second on two cores.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.config.settings import Settings
from rag_ls.embedding import HostedModel, local_model
from rag_ls.model import Chunk
from rag_ls.search.query import analyse
from rag_ls.storage import DocumentRecord, FileState, NewChunk, ProjectIndex, open_index
from rag_ls.util.text import content_hash
from training import pairs as stored_pairs
from training.pairs import Pair

_FIRST = 20
# A text that is as close as this share of the answer's cosine may answer, too.
_MARGIN = 0.95
_STATE = FileState(0, 0, 0, 0)


def with_negatives(pairs: Sequence[Pair], model: HostedModel, count: int) -> Iterator[Pair]:
    """The pairs of one repository, each with at most `count` negatives, hardest first."""
    answers = list(dict.fromkeys(pair.answer for pair in pairs))
    vectors = dict(zip(answers, model.embed_documents(answers, backlog=len(answers)), strict=True))
    with contextlib.closing(open_index(None, Settings())) as index:
        rows = _stored(index, answers)
        questions = model.embed_documents([pair.question for pair in pairs], backlog=len(pairs))
        for pair, asked in zip(pairs, questions, strict=True):
            most = _MARGIN * float(vectors[pair.answer] @ asked)
            found = index.lexical.search(analyse(pair.question).terms, _FIRST)
            others = [rows[each.row] for each in found if not is_same_code(rows[each.row], pair.answer)]
            negatives = [text for text in others if float(vectors[text] @ asked) < most]
            yield replace(pair, negatives=tuple(negatives[:count]))


def is_same_code(one: str, other: str) -> bool:
    """Whether half of the lines of the shorter of two texts are in the other: a body with and without its signature."""
    lines, others = ({line.strip() for line in text.split("\n") if line.strip()} for text in (one, other))
    return 2 * len(lines & others) > min(len(lines), len(others))


def _stored(index: ProjectIndex, answers: Sequence[str]) -> dict[int, str]:
    """The answers by their rows in an index's full text."""
    rows: dict[int, str] = {}
    for number, text in enumerate(answers):
        lines = text.count("\n") + 1
        chunk = Chunk(f"{number}", "text", 0, 0, len(text.encode()), 1, lines, text)
        digest = content_hash(text)
        record = DocumentRecord(chunk.path, "text", digest, _STATE)
        index.checkout.replace_document(record, [NewChunk(chunk, bytes.fromhex(digest))])
        stored = index.checkout.document(chunk.path)
        assert stored is not None
        rows |= {row.row: text for row in index.checkout.chunks.of_document(stored.id)}
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default="auto")
    parser.add_argument("--count", type=int, default=3)
    given = parser.parse_args()
    model = local_model(given.model, EmbeddingSettings())
    by_repository: dict[str, list[Pair]] = defaultdict(list)
    order = list(stored_pairs.read(given.folder / "pairs.jsonl"))
    for pair in order:
        by_repository[pair.repository].append(pair)
    found: dict[Pair, Pair] = {}
    for repository, pairs in by_repository.items():
        print(f"{repository}: {len(pairs):,} pairs", file=sys.stderr, flush=True)
        found |= zip(pairs, with_negatives(pairs, model, given.count), strict=True)
    model.close()
    stored_pairs.write((found[pair] for pair in order), given.folder / "pairs.jsonl")


if __name__ == "__main__":
    main()
