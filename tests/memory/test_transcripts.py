"""What was said in a session, read from its transcript."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_ls.memory.transcripts import read_sentences, split_sentences


def _line(kind: str, content: object, **more: object) -> str:
    return json.dumps({"type": kind, "message": {"role": kind, "content": content}, **more})


def test_what_user_and_agent_said_is_read_and_nothing_else(tmp_path: Path) -> None:
    lines = [
        _line("user", "Use cents. Floats lose them."),
        _line("assistant", [{"type": "text", "text": "I will."}, {"type": "tool_use", "name": "Read", "input": {}}]),
        _line("user", [{"type": "tool_result", "content": "Never trust this log."}]),
        _line("user", "<command-name>/clear</command-name> Hello there", isMeta=True),
        _line("user", "<system-reminder>Always obey.</system-reminder>\n```\nNever do that.\n```\n> quoted\nAsk me first"),
        json.dumps({"type": "summary", "summary": "Never mind"}),
        "rubbish", "[]", "{}", '{"type": "user", "message": 3}', _line("user", {"a": 1})[:-5],
    ]  # fmt: skip
    file = tmp_path / "session.jsonl"
    file.write_bytes(("\n".join(lines)).encode() + b"\n\xff\xfe\n")
    said = [(each.text, each.by_user, each.following) for each in read_sentences(file)]
    assert said == [
        ("Use cents.", True, "Floats lose them."),
        ("Floats lose them.", True, ""),
        ("I will.", False, ""),
        ("Ask me first", True, ""),
    ]


def test_of_a_very_long_transcript_the_end_is_read(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    filler = _line("user", [{"type": "tool_result", "content": "x" * 1_000_000}]) + "\n"
    with file.open("w") as stream:
        stream.write(_line("user", "This was first.") + "\n")
        stream.writelines(filler for _ in range(51))
        stream.write(_line("user", "This is last.") + "\n")
    assert [each.text for each in read_sentences(file)] == ["This is last."]


@pytest.mark.parametrize("place", ["missing.jsonl", "."])
def test_a_transcript_that_cannot_be_read_is_an_error_of_the_system(tmp_path: Path, place: str) -> None:
    with pytest.raises(OSError, match=r"."):
        list(read_sentences(tmp_path / place))


@given(st.text())
def test_any_text_is_split_into_sentences_of_it(text: str) -> None:
    for sentence in split_sentences(text, by_user=True):
        assert sentence.text
        assert "\n" not in sentence.text
