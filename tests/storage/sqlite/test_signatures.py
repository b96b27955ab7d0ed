"""Passages: wherever chunks are cut, the lines that hold a text are among those that signatures give."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rag_ls.storage import CheckoutIndex, FoundPassages, Need, NewChunk
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


def read(found: FoundPassages) -> list[bytes | None]:
    return found.read(np.arange(len(found.documents)))


def read_lines(store: CheckoutIndex, needs: list[Need]) -> dict[int, str]:
    """The lines of the passages of one document by number."""
    found, lines = store.signatures.find_passages(needs), {}
    for first, text in zip(found.first_lines.tolist(), read(found), strict=True):
        assert text is not None
        lines |= dict(enumerate(text.decode().splitlines(), first))
    return lines


def find_texts(store: CheckoutIndex, *literals: str) -> list[bytes | None]:
    return read(store.signatures.find_passages([Need((literal,) if literal else ()) for literal in literals]))


@pytest.mark.slow
@settings(max_examples=scale_examples(200), deadline=None)
@given(
    lines=LINES,
    tail=st.sampled_from(["", "needle"]),
    cuts=st.lists(st.integers(1, 9000), max_size=8),
    keeps=st.booleans(),
)
@example(lines=[("hay " * 300, "\n"), ("needle", "\n"), ("", "\n")], tail="", cuts=[1203], keeps=False)
def test_the_lines_that_hold_a_text_are_among_the_passages(
    lines: list[tuple[str, str]], tail: str, cuts: list[int], keeps: bool
) -> None:
    text = "".join(line + end for line, end in lines) + tail
    # Chunks are cut between characters of one line's end by none.
    cuts = [at for at in cuts if text[at - 1 : at + 1] != "\r\n"]
    store = open_checkout(None)
    store.replace_document(record(), cut(text, cuts))
    whole = lines_of(text)
    # The end of the last line begins no other one.
    expected = dict(enumerate(whole if whole[-1] else whole[:-1], 1))
    with pytest.MonkeyPatch.context() as patched:
        if not keeps:
            patched.setattr("rag_ls.storage.sqlite.signatures.MAX_TEXTS_BYTES", 0)
        for _ in range(2):
            found = read_lines(store, [Need(("needle",))])
            assert found.items() <= expected.items()
            assert {number for number, line in expected.items() if "needle" in line} <= found.keys()
            assert read_lines(store, [Need()]) == expected
    store.close()


def test_what_is_replaced_or_removed_is_found_no_longer() -> None:
    store = open_checkout(None)
    for path in ("a.py", "b.py"):
        store.replace_document(record(path), cut("needle\n" * 3, [8]))
    assert len(find_texts(store, "needle")) == 2
    store.replace_document(record("a.py"), cut("haystack\n", []))
    assert len(find_texts(store, "needle")) == 1
    assert len(find_texts(store, "haystack")) == 1
    store.remove_documents(["b.py"])
    assert find_texts(store, "needle") == []
    store.signatures.forget()
    assert len(find_texts(store, "haystack")) == 1
    store.close()


def test_several_needs_are_met_by_one_document_in_any_of_its_lines() -> None:
    store = open_checkout(None)
    text = "first\n" + "hay and straw\n" * 300 + "second\n"
    store.replace_document(record("a.py"), cut(text, []))
    store.replace_document(record("b.py"), cut("first\n", []))
    assert find_texts(store, "first", "second") == [text.encode()]
    store.close()


def test_a_text_is_read_again_once_its_document_changed() -> None:
    store = open_checkout(None)
    for text in ("needle one\n", "needle two\n", "", "needle three\n"):
        store.replace_document(record("a.py"), cut(text, []))
        for literal in ("needle", "", "needle"):
            assert [each for each in find_texts(store, literal) if each] == ([text.encode()] if text else [])
    store.close()


def test_the_text_of_a_document_that_changed_after_it_was_found_is_missing() -> None:
    store = open_checkout(None)
    for path in ("a.py", "b.py"):
        store.replace_document(record(path), cut("needle\n", []))
    found = store.signatures.find_passages([Need(("needle",))])
    store.replace_document(record("a.py"), cut("\n" * 9 + "needle\n", []))
    assert read(found) == [None, b"needle\n"]
    # Another state of the index has other blocks at the same places.
    for number in range(80):
        store.replace_document(record("a.py"), cut(f"needle {number}\n", []))
        assert find_texts(store, f"needle {number}") == [b"needle %d\n" % number]
    assert sorted(filter(None, find_texts(store, "needle"))) == [b"needle\n", b"needle 79\n"]
    assert read(found) == [None, b"needle\n"]
    store.close()


def test_long_documents_with_a_line_each_are_not_all_in_memory_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    size, count = 100_000, 40
    monkeypatch.setattr("rag_ls.storage.sqlite.signatures.MAX_TEXTS_BYTES", size)
    monkeypatch.setattr("rag_ls.storage.sqlite.signatures.KILOBYTES_AT_ONCE", size // 1000)
    store = open_checkout(None)
    for number in range(count):
        store.replace_document(record(f"{number}.py"), cut("hay and straw\n" * (size // 14) + f"needle {number}\n", []))
    assert store.signatures.find_passages([Need(("needle",))]).documents.tolist()
    tracemalloc.start()
    texts = find_texts(store, "needle")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [text.splitlines()[-1] for text in texts if text] == [b"needle %d" % number for number in range(count)]
    assert peak < count * size / 2
    store.close()
