"""Recall finds what was meant, and nothing where nothing was."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_ls.embedding import HostedModel
from rag_ls.memory import ALL, Memories, MemoryFilters, NewMemory, Question
from rag_ls.memory.new_memories import SUPERSEDES
from rag_ls.memory.recall import memory_of, recall
from rag_ls.model import Memory, MemoryMetadata, Scope
from rag_ls.storage.sqlite.memories import MemoryStore
from tests.memory.support import Clock, memories_in, new, put, record, used
from tests.support import scale_examples

_DEFAULT = 0.7
_NOTES = (
    "The kubernetes cluster runs in Frankfurt on three nodes",
    "Access tokens expire after sixty minutes",
    "Invoices are sent by mail on the first of each month",
    "All public functions have docstrings in the imperative mood",
    "The nightly backup of the database goes to the cellar",
    "Der Schlüssel zur Übergabe liegt im Büro",
    "Le déploiement est vérifié par une équipe de garde",
    "Feature flags live in config/flags.toml and are removed after two releases",
)


@pytest.fixture(scope="module")
def noted(tmp_path_factory: pytest.TempPathFactory, model: HostedModel) -> Memories:
    """Notes about many things."""
    memories = memories_in(tmp_path_factory.mktemp("noted"))
    for note in _NOTES:
        memories.store(new(note), model)
    return memories


def _ask(
    memories: Memories, text: str, model: HostedModel | None = None, *, least: float = _DEFAULT, expand: bool = True
) -> list[str]:
    question = Question(text, 5, least, ALL, expand)
    return [memory_of(hit).content for hit in memories.recall(question, model)]


class TestExpansion:
    @pytest.mark.parametrize("question", ["k8s", "where is the k8s?", "k8s nodes"])
    def test_an_abbreviation_finds_the_word(self, noted: Memories, question: str) -> None:
        assert _ask(noted, question) == [_NOTES[0]]

    @pytest.mark.parametrize(
        ("word", "other"), [("kubernetes", "k8s"), ("database", "db"), ("authentication", "authn")]
    )
    def test_a_word_finds_its_abbreviation_and_the_other_way_round(
        self, memories: Memories, word: str, other: str
    ) -> None:
        memories.store(new(f"The {other} was moved to Frankfurt in spring"), None)
        assert len(_ask(memories, word)) == 1
        assert _ask(memories, word, expand=False) == []
        hit = memories.recall(Question(word, 5, 0, ALL), None)[0]
        assert hit.matched_by == ("expanded",)
        memories.delete(hit.item.id)
        memories.store(new(f"The {word} was moved to Frankfurt in spring"), None)
        assert len(_ask(memories, other)) == 1
        assert _ask(memories, other, expand=False) == []

    def test_the_word_itself_comes_before_other_words(self, memories: Memories) -> None:
        memories.store(new("The k8s was moved to Frankfurt"), None)
        memories.store(new("The kubernetes was moved to Frankfurt"), None)
        assert _ask(memories, "kubernetes")[0] == "The kubernetes was moved to Frankfurt"

    def test_parts_of_an_abbreviation_find_nothing(self, memories: Memories) -> None:
        memories.store(new("8 workers compile in plan s"), None)
        assert _ask(memories, "k8s") == []


class TestNoise:
    @pytest.mark.parametrize(
        "question",
        ["Where is the nearest swimming pool?", "How do plants make sugar from sunlight?", "Which team won the match yesterday?",
         "chocolate cake recipe", "the of and it"],
    )  # fmt: skip
    def test_unrelated_questions_find_nothing_by_default(
        self, noted: Memories, model: HostedModel, question: str
    ) -> None:
        assert _ask(noted, question, model) == []

    @pytest.mark.parametrize(
        "question", ["What is it that they are after?", "on the first of each", "Who are we by now?"]
    )
    def test_what_shares_stop_words_alone_is_not_found(self, memories: Memories, question: str) -> None:
        memories.store(new("Invoices are what is printed and mailed by it on the hour"), None)
        assert _ask(memories, f"{question} Zebras") == []

    @pytest.mark.parametrize(
        ("question", "place"),
        [
            ("when do tokens expire?", 1),
            ("how long is a login valid", 1),
            ("when do customers get their bill", 2),
            ("where is our k8s", 0),
            ("rules for docstrings", 3),
            ("where does the db backup go", 4),
            ("Wo liegt der Schlussel?", 5),
            ("qui vérifie le deploiement", 6),
            ("when may I delete a feature toggle", 7),
        ],
    )
    def test_what_is_asked_for_is_found_first(
        self, noted: Memories, model: HostedModel, question: str, place: int
    ) -> None:
        assert _ask(noted, question, model)[:1] == [_NOTES[place]]

    def test_a_lower_threshold_shows_more_and_a_higher_one_less(self, noted: Memories, model: HostedModel) -> None:
        counts = [len(_ask(noted, "when do tokens expire?", model, least=least)) for least in (0.0, 0.3, 0.7, 1.0)]
        assert counts == sorted(counts, reverse=True)
        # What holds the question's words needs half of the similarity.
        assert (counts[0], counts[-1]) == (5, 1)


@pytest.mark.parametrize(
    "word", ["Schlüssel", "schlüssel", "Schlussel", "SCHLÜSSEL", "Übergabe", "büro", "déploiement", "equipe"]
)
def test_words_with_marks_are_found_with_and_without(noted: Memories, word: str) -> None:
    assert len(_ask(noted, word)) == 1


@pytest.mark.parametrize("word", ["Müller", "gewürzt", "ö", "é"])
def test_a_marked_letter_alone_makes_no_match(noted: Memories, word: str) -> None:
    assert _ask(noted, word) == []


class TestTies:
    def test_the_important_comes_first(self, memories: Memories) -> None:
        for importance in (0.2, 0.9, 0.5):
            text = f"token rule {importance}"
            memories.store(NewMemory(text, Scope.PROJECT, MemoryMetadata(importance_score=importance)), None)
        assert _ask(memories, "token rule") == ["token rule 0.9", "token rule 0.5", "token rule 0.2"]

    def test_the_often_recalled_comes_first_but_not_before_what_fits_better(self, memories: Memories) -> None:
        for text in ("token rule one", "token rule two", "token"):
            memories.store(new(text + " of the house"), None)
        store = memories.of(Scope.PROJECT)
        ids = {memory.content[:14].strip(): memory.id for memory in memories.list_page(ALL)[0]}
        used(store, ids["token rule two"], 3)
        used(store, ids["token of the h"], 9)
        assert [text[:14] for text in _ask(memories, "token rule")][:2] == ["token rule two", "token rule one"]

    def test_with_a_half_life_the_old_sinks_and_without_it_does_not(self, tmp_path: Path) -> None:
        store = MemoryStore(tmp_path / "memories.db", Scope.PROJECT)
        old = put(store, record(1, "token rule one"))
        young = put(store, replace(record(2, "token rule two"), updated_at="2026-05-30T00:00:00.000Z"))
        clock = Clock()
        now = clock.now.replace(month=6)
        by_age = recall([store], Question("token rule", 5, 0, ALL, half_life_days=30), None, now)
        assert [hit.item for hit in by_age] == [young, old]
        scores = [hit.score for hit in recall([store], Question("token rule", 5, 0, ALL), None, now)]
        assert scores[0] == scores[1] > by_age[1].score

    def test_being_found_counts_as_use(self, memories: Memories) -> None:
        memories.store(new("token rule", Scope.SESSION), None)
        memories.store(new("invoice rule", Scope.SESSION), None)
        for _ in range(2):
            memories.note_uses(memories.recall(Question("token", 5, 0.7), None))
        assert {memory.content: memory.uses for memory in memories.list_page(ALL)[0]} == {
            "token rule": 2,
            "invoice rule": 0,
        }


class TestTags:
    def test_a_tag_finds_a_memory_whose_content_lacks_the_word(self, memories: Memories) -> None:
        memories.store(new("Retry twice, then give up", Scope.PROJECT, "Payments", "c++"), None)
        memories.store(new("Wait a second before you retry"), None)
        for question in ("payments", "PAYMENTS!", "anything about c++"):
            hits = memories.recall(Question(question, 5, _DEFAULT, ALL), None)
            assert [memory_of(hit).metadata.tags for hit in hits] == [("Payments", "c++")]
        assert "tags" in memories.recall(Question("payments", 5, 0, ALL), None)[0].matched_by

    def test_of_two_the_one_with_the_tag_comes_first(self, memories: Memories) -> None:
        memories.store(new("Retry payments twice"), None)
        memories.store(new("Retry payments thrice", Scope.PROJECT, "payments"), None)
        assert _ask(memories, "retry payments")[0] == "Retry payments thrice"

    def test_a_tag_on_what_means_nothing_of_the_kind_needs_half_of_the_similarity(
        self, memories: Memories, model: HostedModel
    ) -> None:
        memories.store(new("Bake the cake for an hour at low heat", Scope.PROJECT, "tokens"), model)
        assert _ask(memories, "how long do access tokens live", model, least=1.0) == []


class TestQuestions:
    @pytest.mark.slow
    def test_a_question_of_ten_thousand_words_is_answered(self, noted: Memories, model: HostedModel) -> None:
        text = "when do the access tokens expire? " + "lorem ipsum dolor sit amet " * 2000
        assert _NOTES[1] in _ask(noted, text)
        assert isinstance(_ask(noted, text, model), list)
        text = " ".join(f"w{number}" for number in range(10_000))
        assert _ask(noted, text, model) == []

    @settings(max_examples=scale_examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(text=st.text(st.characters(exclude_categories=()), max_size=60), expand=st.booleans())
    def test_any_text_is_a_question(self, noted: Memories, text: str, expand: bool) -> None:
        assert len(_ask(noted, text, expand=expand)) <= 5

    @settings(max_examples=scale_examples(12), suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(text=st.text(max_size=60))
    def test_so_it_is_by_meaning(self, noted: Memories, model: HostedModel, text: str) -> None:
        hits = noted.recall(Question(text, 5, 0.0, ALL), model)
        assert all(0 <= hit.score <= 1 and 0 <= (hit.similarity or 0) <= 1 for hit in hits)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)

    @pytest.mark.parametrize(
        "text", ['NEAR("tokens" expire)', "tokens*", "content:tokens", "tokens' OR 1 --", "{tokens}^2"]
    )
    def test_the_syntax_of_a_question_is_words(self, noted: Memories, text: str) -> None:
        assert _ask(noted, text)[:1] == [_NOTES[1]]


class _Forgetful(MemoryStore):
    """A store from which somebody deletes a memory between finding it and reading it."""

    victim = ""

    def by_ids(self, ids: Collection[str]) -> dict[str, Memory]:
        if self.victim:
            self.delete(self.victim)
        return super().by_ids(ids)


def test_what_somebody_deletes_meanwhile_is_not_found(model: HostedModel) -> None:
    store = _Forgetful(None, Scope.PROJECT)
    memories = Memories({scope: lambda: store for scope in Scope}, Clock())
    gone = memories.store(new("Access tokens expire after sixty minutes", Scope.PROJECT, "tokens"), model).memory
    kept = memories.store(new("Access tokens are renewed by the client"), model).memory
    store.victim = gone.id
    only = MemoryFilters(scopes=(Scope.PROJECT,))
    hits = memories.recall(Question("access tokens", 5, 0.1, only), model)
    assert [hit.item.id for hit in hits] == [kept.id]


def test_an_empty_store_answers_with_nothing(memories: Memories, model: HostedModel) -> None:
    assert _ask(memories, "when do tokens expire?", model) == []
    assert _ask(memories, "when do tokens expire?") == []


def test_a_superseded_memory_ranks_below_its_heir_and_names_it(tmp_path: Path) -> None:
    memories = memories_in(tmp_path)
    old = memories.store(new("Prices are rounded per line of the invoice"), None).memory
    between = memories.store(new("Prices are rounded per invoice, not per line", Scope.PROJECT, "prices"), None).memory
    superseding = NewMemory("Rounded prices: once per rate", Scope.PROJECT, MemoryMetadata(custom={SUPERSEDES: old.id}))
    heir = memories.store(superseding, None).memory
    hits = memories.recall(Question("how are prices rounded per line of the invoice", 10, 0.0), None)
    ids = [hit.item.id for hit in hits]
    assert ids.index(heir.id) + 1 == ids.index(old.id)
    assert {hit.item.id: hit.superseded_by for hit in hits} == {heir.id: "", old.id: heir.id, between.id: ""}
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("links", [{0: 1, 1: 0}, {0: 0}, {0: 1, 1: 2, 2: 0}, {2: 1, 1: 0}])
def test_links_in_a_circle_or_a_chain_lose_no_hit(tmp_path: Path, links: dict[int, int]) -> None:
    memories = memories_in(tmp_path)
    stored = [memories.store(new(f"Prices are rounded, rule {number}"), None).memory for number in range(3)]
    for number, old in links.items():
        custom = {SUPERSEDES: stored[old].id}
        memories.update(
            stored[number].id,
            lambda memory, custom=custom: replace(memory, metadata=MemoryMetadata(custom=custom)),
            None,
        )
    hits = memories.recall(Question("prices rounded", 10, 0.0), None)
    assert sorted(hit.item.id for hit in hits) == sorted(memory.id for memory in stored)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
