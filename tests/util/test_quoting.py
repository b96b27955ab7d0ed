"""Text of a stranger is quoted: it can be read, and does nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rag_ls.util import text as quoting

_PARSER = MarkdownIt("gfm-like", {"html": True, "linkify": False})
# An editor may follow what this library would refuse.
_PARSER.validateLink = lambda url: True  # type: ignore[method-assign]
_MARKS = st.lists(
    st.sampled_from(
        [*"![]()<>`*_~#&;:/\\\"'=+-.@|$ \n\t", "https://", "www.", "a", "B", "1", "é", "```", "javascript:", "\x1b[2J"]
    )
).map("".join)


def _kinds(markdown: str) -> list[str]:
    return [each.type for token in _PARSER.parse(markdown) for each in (token, *(token.children or ()))]


@given(_MARKS | st.text())
def test_escaped_text_is_shown_as_it_is(text: str) -> None:
    shown = quoting.fold(text)
    for before in ("", "- ", "x "):
        kinds = [kind for kind in _kinds(before + quoting.escape_markdown(text)) if "list" not in kind]
        assert set(kinds) <= {"paragraph_open", "inline", "text", "text_special", "paragraph_close"}
    assert _text(quoting.escape_markdown(text)) == shown


@given(_MARKS | st.text())
def test_code_ends_where_it_ends(text: str) -> None:
    if shown := quoting.fold(text):
        assert _kinds(quoting.code_span(text)) == ["paragraph_open", "inline", "code_inline", "paragraph_close"]
        (token,) = _PARSER.parse(quoting.code_span(text))[1].children or ()
        assert token.content == shown
    (block,) = _PARSER.parse(quoting.fence(text, text))
    assert block.type == "fence"


@given(_MARKS | st.text())
def test_a_link_leads_where_we_say(text: str) -> None:
    kinds = [kind for kind in _kinds(quoting.link(text or "x", f"file:///a/{text}")) if kind.endswith("_open")]
    assert kinds == ["paragraph_open", "link_open"]


@given(_MARKS | st.text())
def test_a_quotation_is_one_line_with_one_end(text: str) -> None:
    said = quoting.quote(text, 40)
    assert said.count('"') == 2
    assert len(said) <= 42
    assert "\n" not in said


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("one\n\n two\ttabs", "one two tabs"),
        ("a\x1b[31mred\x07", "a [31mred"),
        ("ab\u202e\u2066cd\U000e0041", "abcd"),
        ("can\u200cnot \U0001f468\u200d\U0001f469", "can\u200cnot \U0001f468\u200d\U0001f469"),
        ("a\u2028b\ud800", "a b"),
    ],
)
def test_what_is_not_seen_is_folded_away(text: str, folded: str) -> None:
    assert quoting.fold(text) == folded


@pytest.mark.parametrize("text", ["max_file_bytes", "a.b(c) - d > e", "NEVER print!", "50 % (net)", "f(x): int = 3"])
def test_plain_words_stay_plain(text: str) -> None:
    assert quoting.escape_markdown(text) == text


@pytest.mark.parametrize(
    "text", ["https://evil.example", "HTTP://evil", "www.evil.example", "me@evil.example", "ftp://evil"]
)
def test_addresses_do_not_become_links_by_themselves(text: str) -> None:
    assert "\\" in quoting.escape_markdown(text)


def test_a_message_makes_no_links_and_keeps_its_lines() -> None:
    assert quoting.message("rag-ls: [x](command:a)\nb\x1b[2J") == "rag-ls: [x] (command:a)\nb [2J"


def _text(markdown: str) -> str:
    return "".join(each.content for token in _PARSER.parse(markdown) for each in token.children or ())
