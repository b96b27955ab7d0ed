"""Reads what people and agents said in a transcript of Claude Code (JSON Lines), and nothing else of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rag_ls.util.files import regular_file
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

# Of a longer transcript, the end is read.
_MAX_BYTES = 50_000_000
_MAX_MESSAGE_CHARACTERS = 20_000
_FENCED = lazy_pattern(r"(?s)```.*?(?:```|\Z)")
_TAGGED = lazy_pattern(r"(?s)<([a-z][\w-]*)>.*?</\1>")
_QUOTED_LINE = lazy_pattern(r"(?m)^\s*(?:>|\||\$ |#{1,6} |at \S+\().*$")
_LIST_MARK = lazy_pattern(r"^\s*(?:[-*\u2022]|\d+[.)])\s+")
_END = lazy_pattern(r"(?<=[.!?\u3002\uff01\uff1f])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)[)\"'\u201d]*\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a session."""

    text: str
    by_user: bool
    following: str = ""
    """The next sentence of the same paragraph."""


def read_sentences(file: Path) -> Iterator[Sentence]:
    """The sentences of a session in order. Lines that are no messages are passed over. Raises `OSError`."""
    with regular_file(file, follow=True) as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - _MAX_BYTES))
        if size > _MAX_BYTES:
            stream.readline()
        for line in stream:
            by_user, text = _read_message(line)
            if text:
                yield from split_sentences(text, by_user=by_user)


def split_sentences(text: str, *, by_user: bool) -> Iterator[Sentence]:
    """The sentences of a message, without code, quoted lines and what a program put in."""
    for pattern in (_FENCED, _TAGGED, _QUOTED_LINE):
        text = pattern.sub("\n", text)
    for paragraph in text.split("\n"):
        sentences = [each.strip() for each in _END.split(_LIST_MARK.sub("", paragraph)) if each.strip()]
        for number, sentence in enumerate(sentences):
            yield Sentence(sentence, by_user, sentences[number + 1] if number + 1 < len(sentences) else "")


def _read_message(line: bytes) -> tuple[bool, str]:
    """Whether the user wrote a message, and its text; empty for anything else."""
    try:
        entry = json.loads(line)
        kind, message = entry["type"], entry["message"]
        if kind not in ("user", "assistant") or entry.get("isMeta") or entry.get("isSidechain"):
            return False, ""
        content = message["content"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False, ""
    return kind == "user", _join_texts(content)[:_MAX_MESSAGE_CHARACTERS]


def _join_texts(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else ()
    texts = (each.get("text") for each in blocks if isinstance(each, dict) and each.get("type") == "text")
    return "\n".join(text for text in texts if isinstance(text, str))
