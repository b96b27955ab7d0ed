"""The words of a question that say something, in any language."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_ls.search.terms import content_terms, name_stems, note_stems, says_something, synonyms_of
from rag_ls.storage import stem


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("How do we deploy the API?", ["deploy", "api"]),
        ("wie lange gilt der Schlüssel für die Übergabe", ["lange", "gilt", "schlussel", "ubergabe"]),
        ("où est la clé du dépôt déjà vérifié", ["cle", "depot", "deja", "verifie"]),
        ("cafe\u0301", ["cafe"]),
        ("Straße und Smørrebrød", ["straße", "smørrebrød"]),
        ("getUserByID", ["get", "user", "id", "getuserbyid"]),
        ("k8s and i18n", ["k8s", "i18n"]),
        ("検索が遅い API", ["検索", "が", "遅", "い", "api"]),
        ("한국어 поиск", ["한국", "국어", "поиск"]),
        ("what is it", ["what", "is", "it"]),
        ("", []),
        ("?! \x00", []),
    ],
)
def test_what_says_something_is_kept_in_order(text: str, found: list[str]) -> None:
    kept = [term for term in content_terms(text) if term not in ("get", "by")]
    assert kept == [term for term in found if term not in ("get", "by")]


@pytest.mark.parametrize(
    ("text", "answer"),
    [("what is it", False), ("wer ist das", False), ("où est-il", False), ("für", False), ("cache", True), ("", False)],
)
def test_stop_words_say_nothing(text: str, answer: bool) -> None:
    assert says_something(text) is answer


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("k8s", "kubernetes"),
        ("kubernetes", "k8s"),
        ("db", "database"),
        ("auth", "login"),
        ("i18n", "internationalization"),
    ],
)
def test_other_words_are_known(word: str, other: str) -> None:
    assert other in synonyms_of(word)
    assert word not in synonyms_of(word)


def test_of_an_unknown_word_there_are_no_others() -> None:
    assert synonyms_of("frobnicate") == ()


@pytest.mark.parametrize(
    "forms",
    [("deploy", "deployed", "deploying"), ("Schlüssel", "schlussel"), ("entité", "ENTITE"), ("tokens", "token")],
)
def test_forms_of_a_word_have_one_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize(
    "word",
    ["running", "caches", "relational", "policies", "Schlüssel", "Übergaben", "déploiements", "reçu", "Entités",
     "naïve", "ångström", "検索", "поиск", "한국", "หัส", "हिन्दी", "sky", "42", "get" * 30],
)  # fmt: skip
def test_a_stem_is_what_the_full_text_index_keeps(word: str) -> None:
    connection = sqlite3.connect(":memory:")
    tokenizer = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
    connection.execute(f'CREATE VIRTUAL TABLE t USING fts5 (x, tokenize = "{tokenizer}")')
    connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab (t, row)")
    connection.execute("INSERT INTO t VALUES (?)", (word,))
    assert {row[0] for row in connection.execute("SELECT term FROM v")} == {stem(word)}


@given(st.text())
def test_any_text_has_words_that_are_its_own(text: str) -> None:
    found = content_terms(text)
    assert len(set(found)) == len(found)
    assert {stem(term) for term in found} <= note_stems(text)
    assert says_something(text) <= bool(found)


@pytest.mark.parametrize(
    ("name", "verb", "is_held"),
    [
        ("gem_pusher", "pushed", True),
        ("TemplateParser", "parse", True),
        ("logger", "logs", True),
        ("editor", "editing", True),
        ("user", "use", False),
        ("author", "auth", False),
        ("http_headers/header", "head", False),
        ("folder", "fold", False),
    ],
)
def test_a_name_for_who_does_something_holds_its_verb(name: str, verb: str, is_held: bool) -> None:
    assert (stem(verb) in name_stems(name, {stem(verb)})) is is_held


def test_a_word_that_is_asked_for_itself_is_no_verb() -> None:
    assert name_stems("pusher", {"push", "pusher"}) == {"pusher"}
