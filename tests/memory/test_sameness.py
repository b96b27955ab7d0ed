"""Only what says the same becomes one; of what may say the same most is proposed, in the languages of real teams."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from rag_ls.embedding import HostedModel
from rag_ls.memory.consolidation import Plan, plan
from rag_ls.memory.contradictions import canonical_text
from rag_ls.memory.recall import parse_stamp
from rag_ls.model import Scope
from rag_ls.storage import MemoryStore
from tests.memory.support import put, record, stamp

_THRESHOLD = 0.8


def _pairs(name: str, half: int) -> list[list[str]]:
    lines = (Path(__file__).parent / name).read_text("utf-8").splitlines()[half::2]
    return [line.split("\t") for line in lines]


def _plan(model: HostedModel, one: str, other: str) -> Plan:
    store = MemoryStore(None, Scope.SESSION)
    for number, text in enumerate((one, other), 1):
        memory = put(store, record(number, text, scope=Scope.SESSION))
        store.vectors.add(memory.id, model.card.id, memory.content_hash, model.embed_documents([text]))
    return plan(store, model.card.id, _THRESHOLD, parse_stamp(stamp(9)))


# The mend was judged by the first half; the second one was kept aside.
@pytest.mark.parametrize("half", [0, 1])
class TestPairs:
    def test_no_two_that_differ_are_merged(self, half: int) -> None:
        pairs = _pairs("pairs_that_differ.tsv", half)
        assert [pair for pair in pairs if canonical_text(pair[0]) == canonical_text(pair[1])] == []

    def test_four_of_five_that_say_the_same_are_merged_or_proposed(self, half: int, model: HostedModel) -> None:
        pairs = _pairs("pairs_that_say_the_same.tsv", half)
        plans = [_plan(model, *pair) for pair in pairs]
        found = [bool(each.merges or each.proposals) for each in plans]
        assert sum(found) >= 0.8 * len(pairs), [
            pair for pair, is_found in zip(pairs, found, strict=True) if not is_found
        ]
        assert any(each.merges for each in plans)


@pytest.mark.parametrize(
    "texts",
    [
        ("Prices are net.", "prices are net", "The prices are net", "Please\nprices are  net"),
        ("We don\u2019t retry", "We don't retry."),
        ("价格不含税。", "价格不含税"),
    ],
)
def test_what_differs_by_nothing_that_counts_is_the_same(texts: tuple[str, ...]) -> None:
    assert len({canonical_text(text) for text in texts}) == 1


@pytest.mark.parametrize(
    "texts",
    [
        ("Run it in .", "Run it in"),
        ("Use `a  b`", "Use `a b`"),
        ("if x:\n    y()\nz()", "if x:\n    y()\n    z()"),
        ("Read the User", "Read the user"),
        ("A1 calls B1", "B1 calls A1"),
        ("Call save!", "Call save"),
        ("10\u00b2 rows", "102 rows"),
        ("No, retries are on", "No retries are on"),
        ("A few rows are kept", "Few rows are kept"),
    ],
)
def test_what_may_count_makes_another_text(texts: tuple[str, ...]) -> None:
    assert all(canonical_text(one) != canonical_text(other) for one, other in combinations(texts, 2))
