"""A question that nothing answers gets at most the two nearest, with scores that say so; one that something answers does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rag_ls.engine.client import Client, local_client
from rag_ls.engine.requests import SearchRequest
from rag_ls.engine.session import ProjectSession
from rag_ls.indexing import Depth
from rag_ls.model import Closeness, SearchAnswer
from rag_ls.operations.stats import make_stats, merge_stats
from rag_ls.search.candidates import CandidateFinder
from rag_ls.search.closeness import judge_closeness
from rag_ls.search.fusion import Candidates, Signals
from rag_ls.search.query import analyse
from rag_ls.search.terms import AskedTerms
from rag_ls.search.view import View
from rag_ls.storage import ProjectIndex, RankRow, stem
from rag_ls.storage.sqlite.checkout import CheckoutIndex
from rag_ls.storage.sqlite.index_file import IndexFile
from tests.support import lexical_of, new_chunks, record, vectors_of, write

_NAMES = ("cart", "order", "price", "coupon", "refund", "basket")
_FILES = {
    f"src/{name}.py": f"def add_{name}(items):\n    '''Add a {name} to the items of a shop.'''\n    return [*items, '{name}']\n"
    for name in _NAMES
} | {"src/cheese.py": "# Käse is sold by weight.\nWEIGHT = 1\n"}


@pytest.fixture
def shop(client: Client, tmp_path: Path) -> ProjectSession:
    """A small project, found by words."""
    view = client.open(write(tmp_path / "shop", _FILES))
    view.indexing.index_tree(Depth.WORDS)
    assert view.indexing.wait_until_idle(60, embeddings=False)
    return view


def _ask(view: ProjectSession, query: str) -> SearchAnswer:
    return view.search(SearchRequest(query, k=6))


@pytest.mark.parametrize(
    "query",
    [
        "asdkjhasd qweoiu zzz",
        "KafkaConsumerGroup",
        "KafkaItemsRebalancer",
        "resolve_dns_zone",
        "quaternion of the gyroscope",
    ],
)
def test_nonsense_and_names_that_stand_nowhere_get_two_hits_at_most_and_advice(
    shop: ProjectSession, query: str
) -> None:
    answer = _ask(shop, query)
    assert len(answer.hits) <= 2
    assert all(hit.score < 0.5 for hit in answer.hits)
    stats = make_stats(answer.stats)
    assert stats.nothing_close
    assert "nothing is close to this: try a name" in stats.note


@pytest.mark.parametrize(
    "query",
    [
        "add_refund",
        "addRefund",
        "where is a refund added",
        "coupon",
        "src/price.py",
        "fix the basket of a shop",
        "add_refnud",
        "where are the items of an item",
        "where is shop defined?",
        "Where is Käse declared?",
    ],
)
def test_a_question_that_something_answers_gets_its_hits(shop: ProjectSession, query: str) -> None:
    answer = _ask(shop, query)
    assert answer.hits
    stats = make_stats(answer.stats)
    assert not stats.nothing_close
    assert "nothing is close" not in stats.note


def test_what_is_not_read_yet_is_not_denied(shop: ProjectSession) -> None:
    stats = _ask(shop, "asdkjhasd qweoiu zzz").stats
    assert "of what is read so far" not in make_stats(stats).note
    only_vectors_wait = replace(stats, complete=False, pending_embeddings=3)
    assert "of what is read so far" not in make_stats(only_vectors_wait).note
    assert "of what is read so far" in make_stats(replace(only_vectors_wait, is_read=False)).note


def test_before_the_files_are_compared_with_the_index_nobody_knows_how_many_wait(
    client: Client, shop: ProjectSession
) -> None:
    client.close()
    later = local_client()
    stats = _ask(later.open(shop.project.root), "asdkjhasd qweoiu zzz").stats
    later.close()
    assert (stats.pending_documents, stats.pending_embeddings > 0) == (0, True)
    assert "of what is read so far" in make_stats(stats).note


def test_of_several_projects_one_that_answers_is_enough(shop: ProjectSession) -> None:
    answers = [_ask(shop, "asdkjhasd qweoiu zzz"), _ask(shop, "coupon")]
    assert "nothing is close" not in make_stats(merge_stats(answers)).note
    assert make_stats(merge_stats(answers[:1] * 2)).nothing_close


_ROWS = [RankRow(at, at, f"src/{at}.py", "python", "", "text", False, at, b"x", 100, 10) for at in range(1, 5)]
_TEXTS = dict.fromkeys(range(1, 5), "the cart of a shop")


@pytest.mark.parametrize(
    ("query", "cosine", "expected"),
    [
        ("cart", 0.1, Closeness.CLOSE), ("where is the cart kept", 0.1, Closeness.CLOSE),
        ("where is the cart cleaned", 0.45, Closeness.CLOSE), ("where is the cart cleaned", 0.3, Closeness.WEAK),
        ("where is the aquarium cleaned", 0.6, Closeness.CLOSE), ("where is the aquarium cleaned", 0.5, Closeness.WEAK),
        ("where is the aquarium cleaned", 0.3, Closeness.NONE), ("where is the cart cleaned", 0.2, Closeness.NONE),
        ("fix the aquarium of fishes", 0.5, Closeness.CLOSE), ("fix the aquarium of fishes", 0.3, Closeness.WEAK),
        ("fix the aquarium of fishes", 0.2, Closeness.NONE), ("AquariumFish", 0.45, Closeness.NONE),
        ("AquariumFish", 0.6, Closeness.CLOSE),
    ],
)  # fmt: skip
def test_meaning_and_words_together_decide(query: str, cosine: float, expected: Closeness) -> None:
    asked = analyse(query)
    signals = Signals(dense=dict.fromkeys(range(1, 5), cosine))
    weights = AskedTerms({stem(part): 1.0 for part in asked.parts})
    found = Candidates(_ROWS, signals, asked, weights, held={}, lacks_vector=False)
    assert judge_closeness(_ROWS, _TEXTS, found, related_cosine=0.32) is expected


def test_a_near_text_is_close_although_others_have_no_vector_yet() -> None:
    asked = analyse("where is the aquarium cleaned")
    weights = AskedTerms({stem(part): 1.0 for part in asked.parts})
    found = Candidates(_ROWS, Signals(dense={1: 0.6}), asked, weights, held={}, lacks_vector=False)
    assert judge_closeness(_ROWS, _TEXTS, found, related_cosine=0.32) is Closeness.CLOSE


def test_what_has_no_vector_yet_may_be_close_in_meaning() -> None:
    asked = analyse("where is the cart of the shop for aquarium fishes kept")
    weights = AskedTerms({stem(part): 1.0 for part in asked.parts})
    found = Candidates(_ROWS, Signals(dense={1: 0.1}), asked, weights, held={}, lacks_vector=False)
    assert judge_closeness(_ROWS, _TEXTS, found, related_cosine=0.32) is Closeness.WEAK


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("where is the cart of the shop kept", Closeness.CLOSE), ("cart", Closeness.CLOSE), ("where is the cart", Closeness.CLOSE),
        ("cart carts", Closeness.CLOSE), ("where is the cart stored", Closeness.CLOSE), ("how are the carts handled", Closeness.CLOSE),
        ("who paid the cart of a shop", Closeness.CLOSE), ("where is the carts' owner kept", Closeness.WEAK),
        ("the cart of a shop brings fishes to the aquarium", Closeness.WEAK), ("aquarium", Closeness.NONE),
        ("who owns the cart of the aquarium", Closeness.NONE), ("where is it stored", Closeness.NONE),
    ],
)  # fmt: skip
def test_by_words_alone_a_place_holds_two_of_them_and_most_of_the_question(query: str, expected: Closeness) -> None:
    asked = analyse(query)
    weights = AskedTerms({stem(part): 1.0 for part in asked.parts})
    found = Candidates(_ROWS, Signals(), asked, weights, held={}, lacks_vector=False)
    assert judge_closeness(_ROWS, _TEXTS, found, related_cosine=0.32) is expected


def test_weak_hits_are_all_shown_with_scores_and_a_note_that_say_so(shop: ProjectSession) -> None:
    answer = _ask(shop, "where is the refund of a shop paid by the bank")
    assert len(answer.hits) > 2
    assert all(hit.score <= 0.5 for hit in answer.hits)
    stats = make_stats(answer.stats)
    assert not stats.nothing_close
    assert stats.note.startswith("weak: no place has the question's rarer words together; ")
    assert "no indexed file has the word 'paid' or 'bank'" in stats.note
    with_vectors = make_stats(replace(answer.stats, dense=True))
    assert with_vectors.note.startswith("weak: no place is near to this in words and meaning together; ")
    unread = make_stats(replace(answer.stats, is_read=False))
    assert unread.note.startswith("weak: no place of what is read so far has the question's rarer words together; ")


@pytest.mark.parametrize(
    ("query", "similar"),
    [
        ("where is the cart paid", ()),
        ("where is the cart paied", ("paid",)),
        ("where is the fish in the aquarium", ()),
        ("where is the audio", ()),
    ],
)
def test_a_word_that_stands_nowhere_may_be_misspelt_for_one_that_does(
    store: CheckoutIndex, query: str, similar: tuple[str, ...]
) -> None:
    store.replace_document(
        record(), new_chunks(["the cart of a shop is paid at once, says the audit", "nothing of it"])
    )
    index = ProjectIndex(store, lexical_of(store), vectors_of(store), IndexFile(None), database=store._database)
    found = CandidateFinder(index).find(analyse(query), View(frozenset(), None), None, "")
    assert found.similar == similar
    texts = {1: "the cart of a shop is paid at once, says the audit", 2: "nothing of it"}
    closeness = judge_closeness(found.rows, texts, found, related_cosine=0.32)
    assert (closeness is Closeness.NONE) is ("cart" not in query)


def test_by_words_alone_a_best_hit_with_a_low_score_is_weak() -> None:
    asked = analyse("aquarium of the fishes")
    weights = AskedTerms({stem(part): 1.0 for part in asked.parts})
    found = Candidates(_ROWS, Signals(), asked, weights, held={}, lacks_vector=False)
    texts = {1: "the aquarium of the fishes"}
    called = [judge_closeness(_ROWS, texts, found, related_cosine=0.32, score=score) for score in (0.5, 0.2)]
    assert called == [Closeness.CLOSE, Closeness.WEAK]
