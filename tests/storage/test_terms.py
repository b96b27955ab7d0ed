"""Identifiers become the terms that people search for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_ls.storage import find_terms, split_identifier


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("refresh", ("refresh",)),
        ("REFRESH", ("refresh",)),
        ("getUserByID", ("get", "user", "by", "id", "getuserbyid")),
        ("HTTPServer", ("http", "server", "httpserver")),
        ("snake_case_name", ("snake", "case", "name", "snakecasename")),
        ("_private", ("private",)),
        ("sha256", ("sha", "256", "sha256")),
        ("MAX_K", ("max", "k", "maxk")),
        ("größe", ("große",)),
        ("поиск", ("поиск",)),
        ("検索", ("検索",)),
        ("密码过期", ("密码", "码过", "过期")),
        ("用户ID", ("用户", "id")),
        ("パスワードの長さ", ("パス", "スワ", "ワー", "ード", "の", "長", "さ")),
        ("รหัสผ่าน", ("รหั", "หัส", "สผ่", "ผ่า", "าน")),
        ("비밀번호", ("비밀", "밀번", "번호")),
        ("ПолучитьДанные", ("получить", "данные", "получитьданные")),
        ("KØBENHAVN", ("københavn",)),
        ("हिन्दी", ("हिन्दी",)),
        ("___", ()),
    ],
)
def test_an_identifier_gives_its_parts_and_itself(word: str, parts: tuple[str, ...]) -> None:
    assert split_identifier(word) == parts


def test_a_long_blob_gives_no_term() -> None:
    assert find_terms("key = " + "A1b2" * 100) == ["key"]


def test_repeated_words_are_kept_in_order() -> None:
    assert find_terms("open close open") == ["open", "close", "open"]


@given(st.text())
def test_no_term_has_a_character_that_a_query_could_trip_over(text: str) -> None:
    assert all(term.isalnum() and term == term.lower() for term in find_terms(text) if term.isascii())
