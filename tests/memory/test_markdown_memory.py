"""One memory as a Markdown file."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_ls.errors import InvalidRequest
from rag_ls.memory.markdown_memory import MemoryFile, make_file, may_be_written, name_file, parse_file, render_file
from rag_ls.memory.new_memories import SUPERSEDES
from rag_ls.model import Anchor, MemoryMetadata, MemoryType, Scope
from tests.memory.support import record
from tests.secret_fakes import TOKENS

NOW = "2026-01-01T00:00:00.000Z"
_LINE = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=30)
_TEXT = st.lists(_LINE, min_size=1, max_size=5).map("\n".join).map(str.strip).filter(bool)
_WORD = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=20).map(str.strip)
_FILES = st.builds(
    MemoryFile,
    id=st.uuids().map(str),
    content=_TEXT,
    memory_type=st.sampled_from(MemoryType),
    tags=st.lists(_WORD.filter(bool), max_size=4, unique=True).map(tuple),
    place=_WORD,
    supersedes=_WORD,
    importance=st.floats(0, 1),
    branch=_WORD,
    others=st.sampled_from(((), ("owner: ada",), ("links:", "  - a", "  - b", "note: x # y"))),
    begins_with_mark=st.booleans(),
    line_end=st.sampled_from(("\n", "\r\n")),
)


@given(_FILES)
def test_what_is_written_is_read_again(file: MemoryFile) -> None:
    written = render_file(file)
    assert parse_file(written) == file
    assert render_file(parse_file(written)) == written


@given(st.binary(max_size=200))
def test_rubbish_is_read_or_refused_in_words(data: bytes) -> None:
    told = ""
    try:
        assert parse_file(data).content
    except ValueError as error:
        told = str(error)
    assert not told or told.split()[0] in ("is", "holds", "has") or "name: value" in told or "nested" in told


def test_a_file_reads_as_a_person_would_write_it() -> None:
    anchor = Anchor("src/cart.py", "Cart.total", start_line=12)
    metadata = MemoryMetadata(tags=("money", "net: yes"), custom={SUPERSEDES: "1a2b"})
    memory = replace(
        record(content="Prices are net of tax.\n\nWhy: the shop sells to firms."), metadata=metadata, anchor=anchor
    )
    assert render_file(make_file(memory)).decode() == (
        f'---\nid: {memory.id}\ntype: semantic\ntags: [money, "net: yes"]\nplace: src/cart.py:Cart.total\n'
        f'supersedes: "1a2b"\ncreated: {memory.created_at}\n---\n\n'
        "Prices are net of tax.\n\nWhy: the shop sells to firms.\n"
    )
    assert name_file(memory) == f"prices-are-net-of-tax-{memory.id[:8]}.md"


def test_a_text_without_front_matter_is_a_memory() -> None:
    memory = replace(parse_file(b"Retries stop after three.\n"), id="x").make_memory(Scope.PROJECT, NOW)
    assert (memory.content, memory.metadata.tags, memory.updated_at) == ("Retries stop after three.", (), NOW)


def test_tags_may_be_words_with_commas_and_lists_may_be_below() -> None:
    assert parse_file(b"---\ntags: a, b\n---\nT").tags == ("a", "b")
    assert parse_file(b"---\ntags:\n  - a\n  - b\nowner: me\n---\nT") == MemoryFile(
        "", "T", tags=("a", "b"), others=("owner: me",)
    )


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xff\xfe\x00", "is no UTF-8 text"),
        (b"---\nid: x\n---\n\n", "holds no text"),
        (b"---\ntype: episode\n---\nT", "give one of semantic, episodic, procedural"),
        (b"---\nimportance: high\n---\nT", "give a number from 0 to 1"),
        (b"---\nid: x\n---\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n", "holds both sides of a merge"),
    ],
)
def test_what_cannot_be_taken_in_is_said(data: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_file(data)


def test_a_secret_is_neither_taken_in_nor_written() -> None:
    secret = TOKENS["GitHub token"][0]
    with pytest.raises(InvalidRequest, match="looks like a secret"):
        MemoryFile("x", secret).make_memory(Scope.PROJECT, NOW)
    assert not may_be_written(record(content=secret))
    assert not may_be_written(replace(record(content="Mine"), metadata=MemoryMetadata(tags=("private",))))
    assert may_be_written(record(content="Prices are net of tax."))
