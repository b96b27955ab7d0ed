"""Passages: wherever chunks are cut, the lines that hold a text are among those that signatures give."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rag_ls.storage import Need, NewChunk, Passage, take_lines
from rag_ls.util.text import lines_of
from tests.support import new_chunk, open_checkout, record, scale_examples

LINES = st.lists(
    st.tuples(
        st.sampled_from(["needle", "hay " * 90, "x", "", "needle in hay " * 40]), st.sampled_from(["\n", "\r\n", "\r"])
    ),
    max_size=40,
)


def cut(text: str, cuts: list[int]) -> list[NewChunk]:
    """Chunks that end anywhere, in the middle of lines too."""
    ends = sorted({min(at, len(text)) for at in cuts} | {len(text)})
    parts = [(start, text[start:end]) for start, end in zip([0, *ends], ends, strict=False) if end > start]
    chunks = []
    for ordinal, (start, part) in enumerate(parts):
        first = len(lines_of(text[:start]))
        # The end of a line belongs to it.
        last = first + len(lines_of(part)) - 1 - (part[-1] in "\r\n")
        new = new_chunk(part, ordinal=ordinal)
        chunks.append(replace(new, chunk=replace(new.chunk, start_line=first, end_line=max(first, last))))
    return chunks


@pytest.mark.slow
@settings(max_examples=scale_examples(200), deadline=None)
@given(lines=LINES, tail=st.sampled_from(["", "needle"]), cuts=st.lists(st.integers(1, 9000), max_size=8))
@example(lines=[("hay " * 300, "\n"), ("needle", "\n"), ("", "\n")], tail="", cuts=[1203])
def test_the_lines_that_hold_a_text_are_among_the_passages(
    lines: list[tuple[str, str]], tail: str, cuts: list[int]
) -> None:
    text = "".join(line + end for line, end in lines) + tail
    # Chunks are cut between characters of one line's end by none.
    cuts = [at for at in cuts if text[at - 1 : at + 1] != "\r\n"]
    store = open_checkout(None)
    store.replace_document(record(), cut(text, cuts))
    document = store.document("src/a.py")
    assert document is not None
    whole = lines_of(text)
    # The end of the last line begins no other one.
    ended = whole if whole[-1] else whole[:-1]
    holding = {number for number, line in enumerate(whole, 1) if "needle" in line}
    passages = store.signatures.find_passages([Need(("needle",))])
    assert holding <= {number for each in passages for number in range(each.first, min(each.last, len(whole)) + 1)}
    for passage, read in store.signatures.read_passages(passages):
        assert read.decode().removesuffix("\n").split("\n") == ended[passage.first - 1 : passage.last]
    for number in holding:
        ((passage, read),) = store.signatures.read_passages([Passage(document.id, number, number)])
        assert take_lines(read, passage.first, number, number).decode().removesuffix("\n") == whole[number - 1]
    store.close()


def test_what_is_replaced_or_removed_is_found_no_longer() -> None:
    store = open_checkout(None)
    for path in ("a.py", "b.py"):
        store.replace_document(record(path), cut("needle\n" * 3, [8]))
    assert len(store.signatures.find_passages([Need(("needle",))])) == 2
    store.replace_document(record("a.py"), cut("haystack\n", []))
    assert len(store.signatures.find_passages([Need(("needle",))])) == 1
    assert len(store.signatures.find_passages([Need(("haystack",))])) == 1
    store.remove_documents(["b.py"])
    assert store.signatures.find_passages([Need(("needle",))]) == []
    store.signatures.forget()
    assert len(store.signatures.find_passages([Need(("haystack",))])) == 1
    store.close()


def test_several_needs_are_met_by_one_document_in_any_of_its_lines() -> None:
    store = open_checkout(None)
    store.replace_document(record("a.py"), cut("first\n" + "hay and straw\n" * 300 + "second\n", []))
    store.replace_document(record("b.py"), cut("first\n", []))
    document = store.document("a.py")
    assert document is not None
    assert store.signatures.find_passages([Need(("first",)), Need(("second",))]) == [Passage(document.id)]
    store.close()


def test_a_text_is_read_again_once_its_document_changed() -> None:
    store = open_checkout(None)
    for text in ("needle one\n", "needle two\n", "", "needle three\n"):
        store.replace_document(record("a.py"), cut(text, []))
        for needs in ([Need(("needle",))], [Need()], [Need(("needle",))]):
            read = store.signatures.read_passages(store.signatures.find_passages(needs))
            assert [each for _, each in read if each] == ([text.encode()] if text else [])
    store.close()
