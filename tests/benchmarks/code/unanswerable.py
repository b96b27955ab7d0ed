"""How often questions without an answer get hits that are called close, and questions with one do not.

python -m tests.benchmarks.code.unanswerable MIRRORS MODEL|words

MIRRORS is a folder of git mirrors, OWNER+NAME/repo; `words` embeds nothing.
The questions without an answer (`questions/unanswerable.jsonl`: nonsense, names that stand nowhere, things that the project does not
have) were written before any score was looked at; the limits were chosen on every other one, with the figures of the rest in sight.
Beside them all questions of `finding` about the same repositories, where the right file is among the first ten. Of later questions the
half is written beside them.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from rag_ls.config import EmbeddingSettings, SearchSettings
from rag_ls.embedding import HostedModel, local_model
from rag_ls.model import Closeness, StoredChunk
from rag_ls.search import NO_FILTERS
from tests.benchmarks.code.asked import Asked, asked
from tests.benchmarks.code.histories import histories
from tests.benchmarks.code.judge import DEPTH
from tests.support import ready

# With this as the cosine of related texts everything is close, and nothing left out.
_ANYTHING = 0.001
_FILE = Path(__file__).parent / "questions" / "unanswerable.jsonl"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("model")
    arguments = parser.parse_args()
    model = local_model(arguments.model, EmbeddingSettings()) if arguments.model != "words" else None
    written = [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()]
    halves = {
        each["query"]: each.get("half") or ("chosen on" if at % 2 == 0 else "kept aside")
        for at, each in enumerate(written)
    }
    close: dict[tuple[str, str], list[Closeness]] = defaultdict(list)
    for history in histories(arguments.mirrors):
        without = [each for each in written if each["repository"] == history.name]
        if not without:
            continue
        about = asked(history, model)
        for each in without:
            closeness, _ = _ask(about, each["query"], model)
            close["without an answer, " + halves[each["query"]], each["kind"]].append(closeness)
        for kind, closeness in _ask_answered(about, model):
            close["with an answer", kind].append(closeness)
    if model is not None:
        model.close()
    print("| questions | kind | number | close | weak | none |\n| --- | --- | --- | --- | --- | --- |")
    for (group, kind), values in sorted(close.items()):
        shares = [values.count(each) / len(values) for each in reversed(Closeness)]
        print(f"| {group} | {kind} | {len(values)} | {' | '.join(f'{share:.3f}' for share in shares)} |")


def _ask_answered(about: Asked, model: HostedModel | None) -> Iterator[tuple[str, Closeness]]:
    """The kind of each question whose answer is found, and what its hits are called."""
    for question in about.questions:
        _, paths = _ask(about, question.query, model, related_cosine=_ANYTHING)
        if {answer.path for answer in question.answers} & paths:
            closeness, _ = _ask(about, question.query, model)
            yield question.kind, closeness


def _ask(
    about: Asked, query: str, model: HostedModel | None, *, related_cosine: float = 0.0
) -> tuple[Closeness, set[str]]:
    """What hits are called, and the paths of those that are shown."""
    vector = ready(model.embed_query(query)) if model is not None else None
    related = model.card.relevant_cosine if model is not None else _ANYTHING
    found = about.searcher.search(
        query, k=DEPTH, settings=SearchSettings(), filters=NO_FILTERS, model_id=about.model_id,
        vector=vector, related_cosine=related_cosine or related,
    )  # fmt: skip
    return found.closeness, {hit.item.chunk.path for hit in found.hits if isinstance(hit.item, StoredChunk)}


if __name__ == "__main__":
    main()
