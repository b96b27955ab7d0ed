"""Incremental changes land where the editor means them, whatever the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_ls.lsp.text_buffer import Position, TextBuffer

# Everything that str.splitlines takes for a line end and LSP does not, and characters of one to four bytes.
SYMBOLS = st.sampled_from("ab \t\n\r\x0c\x1c\x85\u2028é漢😀")
TEXTS = st.text(SYMBOLS, max_size=60)
ENCODINGS = st.sampled_from(["utf-8", "utf-16", "utf-32"])


def _reference_position(text: str, offset: int, encoding: str) -> Position:
    """LSP 3.17 in a few lines: count line ends before the offset, then code units after the last one."""
    line, start, index = 0, 0, 0
    while index < offset:
        if text[index] == "\n" or (text[index] == "\r" and text[index + 1 : index + 2] != "\n"):
            line, start = line + 1, index + 1
        index += 1
    units = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[encoding]
    return Position(line, len(text[start:offset].encode(units[0])) // units[1])


@given(text=TEXTS, encoding=ENCODINGS, data=st.data())
def test_a_change_replaces_exactly_what_its_range_means(text: str, encoding: str, data: st.DataObject) -> None:
    # No editor puts a position between CR and LF.
    places = [at for at in range(len(text) + 1) if not (text[at - 1 : at] == "\r" and text[at : at + 1] == "\n")]
    first, last = sorted((data.draw(st.sampled_from(places)), data.draw(st.sampled_from(places))))
    new = data.draw(TEXTS)
    buffer = TextBuffer(text, encoding)
    buffer.replace(_reference_position(text, first, encoding), _reference_position(text, last, encoding), new)
    assert buffer.text == text[:first] + new + text[last:]


@given(text=TEXTS, encoding=ENCODINGS, data=st.data())
def test_after_many_changes_each_line_is_that_of_the_text(text: str, encoding: str, data: st.DataObject) -> None:
    buffer = TextBuffer(text, encoding)
    for _ in range(data.draw(st.integers(1, 6))):
        start, end = (Position(data.draw(st.integers(0, 9)), data.draw(st.integers(0, 9))) for _ in range(2))
        buffer.replace(start, end, data.draw(TEXTS))
    again = TextBuffer(buffer.text, encoding)
    for line in range(len(buffer.text) + 2):
        assert buffer.line(line) == again.line(line)
        assert buffer.offset(Position(line, 3)) == again.offset(Position(line, 3))


@given(text=TEXTS, encoding=ENCODINGS, line=st.integers(-3, 99), character=st.integers(-3, 99))
def test_any_position_means_some_place_in_the_text(text: str, encoding: str, line: int, character: int) -> None:
    assert 0 <= TextBuffer(text, encoding).offset(Position(line, character)) <= len(text)


@pytest.mark.parametrize(
    ("line", "character", "word"),
    [(0, 0, "alpha"), (0, 5, "alpha"), (0, 6, "beta_2"), (1, 3, "größe"), (0, 99, "beta_2"), (7, 0, "")],
)
def test_the_word_at_a_position_is_the_identifier_around_it(line: int, character: int, word: str) -> None:
    assert TextBuffer("alpha beta_2\n  größe = 1\n").word_at(Position(line, character)) == word


@pytest.mark.parametrize(
    ("line", "character", "path"),
    [
        ("see src/net/client.ts.", 6, "src/net/client.ts."),
        ("see /etc/x//y/ or z", 7, "etc/x/"),
        ("see /etc/x//y/ or z", 14, "y/"),
        ("a word", 3, ""),
        ("a" * 1_000_000 + " src/x.py", 1_000_004, "src/x.py"),
        ("a" * 1_000_000, 500_000, ""),
    ],
)
def test_the_path_at_a_position_has_a_slash(line: str, character: int, path: str) -> None:
    assert TextBuffer(line).path_at(Position(0, character)) == path
