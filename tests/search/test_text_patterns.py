"""Lines that hold a text or match a regular expression: the same as if each line were tried alone."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rag_ls.errors import InvalidRequest
from rag_ls.search.text_patterns import LineMatch, TextPattern, TextQuery, cut_line, describe_line
from rag_ls.util.text import end_lines_in_lf, lines_of
from tests.support import scale_examples

TEXT = "def get_user(id):\n    raise  NotImplementedError()\n\nmaxRetryCount = retry(3)\r\nretry = 1\n"
PATTERNS = (
    r"raise\s+NotImplementedError\(", r"def get_.*\(", r"^\s*$", r"\bretry\b", r"[^x]+", r"(?i)RETRY", r"\w+\s*=\s*[\w(]+", r"a|b",
    r"[\s,]b", r"\W", r"\D+", r"x{2}", "{x}", "a{", "a{,2}b", r"^a", r"b$", r"\Ab", r"b\Z", r"(?s)a.b", r"(?:a|bc)+d", r"[^\]]b",
    r"[a-c]{1,2}", r"^\s*\w+ b", "(a|Rx)b?", "(?i)(RX|aB) *", r"\wé", "a.b", r"[\n]a", "a\\nb", r"\{x\}", "é", r"\u00e9\x62", r"\é",
    r"[\é\u0061]b",
    r"\ba", r"a\b", r"\bé", r"é\b", r"\b(?:a|é)\b", r"x\b é",
    r"[\W_]é", r"[^\W_]+", r"[^\S\n]a", r"[\D]b", r"[^\d\s]{3}", r"(?i:A)b", r"[]a]b", r"[^]a]b",
)  # fmt: skip
TEXTS = st.text(alphabet="abxR_ {}(),=é\r\n\t", max_size=60)


def as_stored(text: str) -> bytes:
    return end_lines_in_lf(text.encode("utf-8", "surrogatepass"))


def count_in(pattern: TextPattern, texts: list[bytes]) -> list[tuple[int, int]]:
    """The lines that match, and those with a whole match, of each text."""
    holders, _, is_whole = pattern.find(texts)
    return [(np.count_nonzero(holders == at), np.count_nonzero(is_whole[holders == at])) for at in range(len(texts))]


def find_in(pattern: TextPattern, text: str) -> list[LineMatch]:
    data = as_stored(text)
    return [describe_line(data, start) for start in pattern.find([data]).starts.tolist()]


def lines_matching(query: TextQuery, text: str) -> list[int]:
    pattern, data = TextPattern(query), as_stored(text)
    found = find_in(pattern, text)
    # Several texts are looked into at once.
    [count] = count_in(pattern, [data])
    assert count[0] == len(found)
    assert count_in(pattern, [data, b"", data]) == [count, (0, 0), count]
    assert count_in(pattern, [b""]) == [(0, 0)]
    assert [match.text for match in found] == [lines_of(text)[match.line - 1] for match in found]
    return [match.line for match in found]


def lines_one_by_one(pattern: str, text: str, flags: int = 0) -> list[int]:
    """What grep does, with Python's own `re`."""
    lines = lines_of(text)
    if lines[-1] == "":
        lines.pop()
    return [number for number, line in enumerate(lines, 1) if re.search(pattern, line, flags)]


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=scale_examples(100), deadline=None)
@given(text=TEXTS)
@example(text="\n")
@example(text="\r\n\r")
def test_a_regular_expression_matches_the_lines_that_it_matches_alone(pattern: str, text: str) -> None:
    assert lines_matching(TextQuery(pattern, is_regex=True), text) == lines_one_by_one(pattern, text)


@settings(max_examples=scale_examples(300), deadline=None)
@given(text=TEXTS, literal=st.text(alphabet="abxR_ (){=é", min_size=1, max_size=3))
def test_a_text_stands_in_the_lines_that_hold_it(text: str, literal: str) -> None:
    escaped = re.escape(literal)
    assert lines_matching(TextQuery(literal), text) == lines_one_by_one(escaped, text)
    assert lines_matching(TextQuery(literal, ignore_case=True), text) == lines_one_by_one(escaped, text, re.IGNORECASE)


@settings(max_examples=scale_examples(300), deadline=None)
@given(
    text=TEXTS,
    parts=st.lists(
        st.sampled_from([*"ab_ é(", r"\w", r"\s*", r"[^a]", r"\b", "(?:", ")", "|", ".", "+", "?", "^", "$"]),
        min_size=1,
        max_size=7,
    ),
    whole_words=st.booleans(),
)
@example(text="ab", parts=["^", r"\b", r"\b"], whole_words=False)
@example(text="ab", parts=["$", r"\b", "$"], whole_words=False)
@example(text="ab", parts=[r"\b", "^", "."], whole_words=True)
def test_expressions_of_all_kinds_match_the_lines_that_they_match_alone(
    text: str, parts: list[str], whole_words: bool
) -> None:
    pattern = "".join(parts).replace("é", "e").replace("(", r"\(").replace(r"\(?:", "(?:")
    text = text.replace("é", "e")
    try:
        re.compile(pattern)
        found = lines_matching(TextQuery(pattern, is_regex=True, whole_words=whole_words), text)
    except (re.error, InvalidRequest):
        return
    assert found == lines_one_by_one(rf"(?<!\w)(?:{pattern})(?!\w)" if whole_words else pattern, text)


LETTERS = "kis_K I(\u0130\u0131\u017f\u212aé中\u0301\ufeff\n\r"


@settings(max_examples=scale_examples(100), deadline=None)
@given(
    texts=st.lists(st.text(alphabet=LETTERS, max_size=30), max_size=4),
    literal=st.text(alphabet=LETTERS.strip(), min_size=1, max_size=3),
    ignore_case=st.booleans(),
    whole_words=st.booleans(),
)
@example(texts=["\u212ais", "kis kis", "ékis"], literal="kis", ignore_case=True, whole_words=True)
@example(texts=["_k k_", "kk k", "ék 中k", "\ufeffk", "k\u0301"], literal="k", ignore_case=False, whole_words=False)
@example(texts=["\ud800k", "a\ud800k", "k\ud800a"], literal="k", ignore_case=False, whole_words=False)
def test_lines_are_found_in_several_texts_as_in_each_alone(
    texts: list[str], literal: str, ignore_case: bool, whole_words: bool
) -> None:
    for is_regex in (False, True):
        pattern = TextPattern(
            TextQuery(re.escape(literal) if is_regex else literal, is_regex, ignore_case, whole_words)
        )
        stored = list(map(as_stored, texts))
        assert count_in(pattern, stored) == [count_in(pattern, [text])[0] for text in stored]


@pytest.mark.parametrize("ignore_case", [False, True])
def test_a_text_longer_than_a_word_is_counted_in_long_texts(ignore_case: bool) -> None:
    line = "the whole line that is looked for"
    texts = [f"{'x' * 200_000}\n{line} {line}\n" * 3, f"{line}s\n", "é\n" + line]
    counts = count_in(TextPattern(TextQuery(line, ignore_case=ignore_case)), [text.encode() for text in texts])
    assert counts == [(3, 3), (1, 0), (1, 1)]


@pytest.mark.parametrize("pattern", [r"\s", r"\S", r"[\s]", r"\sk", r"[\sk]+"])
def test_spaces_are_the_same_in_all_texts(pattern: str) -> None:
    for text in ("a\x1c\n\x1f\n\x0bk\n", "é\n a\x1c\n\x1f\n\x0bk\n"):
        compiled = TextPattern(TextQuery(pattern, is_regex=True))
        assert len(find_in(compiled, text)) == sum(len(find_in(compiled, line)) for line in text.split("\n"))


def test_the_column_is_that_of_the_first_whole_word() -> None:
    text = "maxretry = retry(1)\nretryCount = 1\n"
    pattern = TextPattern(TextQuery("retry"))
    assert [(match.line, match.column) for match in find_in(pattern, text)] == [(1, 12), (2, 1)]
    assert pattern.find([text.encode()]).is_whole.tolist() == [True, False]
    assert lines_matching(TextQuery("retry", whole_words=True), "retryCount = 1\nretry\n") == [2]


@pytest.mark.parametrize("text", ["foo\u0301", "e\u0301foo", "\u0915\u093efoo"])
def test_an_accent_of_its_own_continues_a_word(text: str) -> None:
    assert lines_matching(TextQuery("foo", whole_words=True), f"{text}\nfoo\n\u2764\ufe0ffoo\n") == [2, 3]


def test_a_text_of_several_lines_stands_where_its_first_line_does() -> None:
    assert lines_matching(TextQuery("()\n\nmax"), TEXT) == [2]
    assert lines_matching(TextQuery("(3)\nretry = 1\n"), TEXT) == [4]


def test_of_a_long_line_only_what_is_around_the_match_is_shown() -> None:
    line = "x" * 100_000 + " needle " + "y" * 100_000
    (match,) = find_in(TextPattern(TextQuery("needle")), line)
    assert match.column == 100_002
    assert "needle" in cut_line(line, match.column)
    assert len(cut_line(line, match.column)) < 500
    assert cut_line("short", 3) == "short"


@pytest.mark.parametrize("pattern", ["(", "[a", "*a", "a{1000}{1000}", "(" * 500])
def test_what_is_no_regular_expression_is_refused_with_the_remedy(pattern: str) -> None:
    with pytest.raises(InvalidRequest, match="literal text"):
        TextPattern(TextQuery(pattern, is_regex=True))


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"a(?=b)", r"a look-around, '\(\?='"), (r"(?<!a)b", "a look-around"), (r"(a)\1", "a back reference"), (r"(?P<n>a)(?P=n)", "back"),
        (r"a++b", "a possessive repetition"), (r"(?>a)b", "an atomic group"), (r"(?#c)a", "RE2's syntax"),
    ],
)  # fmt: skip
def test_what_re2_does_not_know_is_named_with_the_remedy(pattern: str, words: str) -> None:
    with pytest.raises(InvalidRequest, match=rf"{words}.*literal text"):
        TextPattern(TextQuery(pattern, is_regex=True))


@pytest.mark.parametrize(
    ("query", "column"),
    [
        (TextQuery(r"\bretry", True), 5), (TextQuery(r"(?:\bre|x)try", True), 5), (TextQuery(r"\b\(1", True), 10),
        (TextQuery("re|retry", True, whole_words=True), 5), (TextQuery(r"\(1", True), 10),
    ],
)  # fmt: skip
def test_the_column_is_that_of_the_match_and_not_of_what_stands_before(query: TextQuery, column: int) -> None:
    assert [match.column for match in find_in(TextPattern(query), "é = retry(1)\n")] == [column]


@pytest.mark.parametrize(("pattern", "found"), [(r"\bfoo", []), (r"\s\bfoo", []), (r".\bfoo", [1]), (r"o\b.", [1, 2])])
def test_a_boundary_of_words_amid_an_expression_knows_ascii_where_nothing_tells_what_is_beside_it(
    pattern: str, found: list[int]
) -> None:
    assert lines_matching(TextQuery(pattern, is_regex=True), "éfooé\n_foo.\n") == found


@pytest.mark.parametrize("pattern", [r"(a|aa)+$", r"(a+)+$", r"a.*\)$", r"a.*b.*c.*d$", r"\w+\.name\b", "(x+x+)+y"])
def test_time_grows_with_the_text_alone_for_what_needs_no_look_around(pattern: str) -> None:
    # A backtracking matcher would need hours for each.
    long = "ab.x" * 100_000
    assert lines_matching(TextQuery(pattern, is_regex=True), f"{long}\n{'a' * 100_000}b\n{'x' * 100_000}") == []


@pytest.mark.parametrize("pattern", ["x*", "a|", "(?:)", "(a|b)?"])
def test_a_pattern_that_matches_every_line_with_nothing_is_refused_at_once(pattern: str) -> None:
    with pytest.raises(InvalidRequest, match="matches the empty text"):
        TextPattern(TextQuery(pattern, is_regex=True))


@pytest.mark.parametrize("pattern", [r"a\nb", r"(?s)a.b", r"(?s:a.b)"])
def test_a_pattern_for_several_lines_says_that_lines_are_matched_alone(pattern: str) -> None:
    assert "each line is matched alone" in TextPattern(TextQuery(pattern, is_regex=True)).note
    assert not TextPattern(TextQuery(r"^\s*$|a\.b", is_regex=True)).note


@pytest.mark.parametrize(
    "query", [TextQuery("foo"), TextQuery("^foo", True), TextQuery(r"\bfoo$", True), TextQuery("FOO", False, True)]
)
def test_a_byte_order_mark_is_no_part_of_the_first_line(query: TextQuery) -> None:
    found = find_in(TextPattern(query), "\ufefffoo\n\ufefffoo\n")
    assert found[0] == LineMatch(1, 1, "foo")
    assert found[1].text == "\ufefffoo"


@pytest.mark.parametrize("literal", ["caf\u00e9", "cafe\u0301"])
@pytest.mark.parametrize("ignore_case", [False, True])
def test_a_text_is_found_however_its_letters_are_composed(literal: str, ignore_case: bool) -> None:
    text = "the cafe\u0301\nthe caf\u00e9\nthe cafe\n"
    assert lines_matching(TextQuery(literal, ignore_case=ignore_case), text) == [1, 2]
