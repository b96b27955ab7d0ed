"""Answers to agents with what a repository named folded, so that no name begins a line or hides text in ours.

A field that no list here names is folded: a new one needs nothing.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from rag_ls.operations import Json
from rag_ls.operations.code.hits import CodeRecord, split_lines
from rag_ls.operations.collections.texts import CollectionSummaryAnswer
from rag_ls.operations.fields import answer_fields, join_notes
from rag_ls.operations.memories.consolidation import SummaryAnswer
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.text import keep_in_line, make_visible

T = TypeVar("T")

# Fields with texts of many lines; JSON escapes their line ends.
_TEXTS = frozenset({"text", "whole", "content", "context", "keyRules", "query", "imports"})
_SUMMARIES = frozenset({(SummaryAnswer, "summary"), (CollectionSummaryAnswer, "summary")})
# Fields with paths, which agents give back as they are.
_PATHS = frozenset((
    "path", "file", "filePath", "formerPath", "root", "projectRoot", "project", "source_file", "tests", "mentioned_in",
    "mustChange", "filesGenerated", "filesLeftAlone", "filesKept", "chromaDbPath", "frontendDetected", "backendDetected",
))  # fmt: skip
# A path that can be read as our words: a note begins with a parenthesis, and a sentence has spaces.
_LIKE_WORDS = lazy_pattern(r"(?!/|[A-Za-z]:[\\/])(?:\(|.*\s)", re.DOTALL)


def quote_answer(answer: T, *, as_text: bool = False) -> T:
    """The answer as agents get it in JSON: its sentences and names in one line, its texts and paths as they are.

    `as_text`: as its lines are made of it: paths in one line too, those that are like words with `./` before them, and
    each line of code without what begins another one.
    """
    return cast(T, _quote_record(answer, as_text=as_text))


def _quote_record(record: Any, *, as_text: bool) -> Any:
    changed = {}
    kind: type = type(record)
    for name, *_ in answer_fields(kind):
        value = getattr(record, name)
        quoted = _quote_value(value, kind, name, as_text=as_text)
        if quoted is not value and quoted != value:
            changed[name] = quoted
    return dataclasses.replace(record, **changed) if changed else record


def _quote_value(value: Any, kind: type, name: str, *, as_text: bool) -> Any:
    if isinstance(value, str):
        return _quote_text(value, kind, name, as_text=as_text)
    if dataclasses.is_dataclass(value):
        return _quote_record(value, as_text=as_text)
    if isinstance(value, tuple | list):
        return type(value)(_quote_value(item, kind, name, as_text=as_text) for item in value)
    if isinstance(value, Mapping):
        return {
            key: _quote_record(item, as_text=as_text) if dataclasses.is_dataclass(item) else item
            for key, item in value.items()
        }
    return value


def _quote_text(value: str, kind: type, name: str, *, as_text: bool) -> str:
    if name in _PATHS:
        return _quote_path(value) if as_text else value
    if name not in _TEXTS and (kind, name) not in _SUMMARIES:
        return make_visible(value)
    if not as_text:
        return value
    # The lines of a chunk are numbered one by one.
    lines = split_lines(value) if kind is CodeRecord else [value]
    return "\n".join(keep_in_line(line) for line in lines)


def _quote_path(path: str) -> str:
    shown = make_visible(path)
    return f"./{shown}" if _LIKE_WORDS.match(path) else shown


# Clients refuse answers of more than 25,000 tokens; JSON of code has some three characters to a token.
MAX_ANSWER_CHARACTERS = 60_000
_MIN_TEXT_CHARACTERS = 500
_CUT = "the answer was too long, and is cut: {}; narrow the question, or ask for fewer"


def fit_answer(answer: Json) -> Json:
    """An answer whose longest lists and texts are cut until it fits, with a note that counts what is left out."""
    size = _json_size(answer)
    if size <= MAX_ANSWER_CHARACTERS:
        return answer
    answer = json.loads(json.dumps(answer))
    counts: dict[str, tuple[int, int]] = {}
    while size > MAX_ANSWER_CHARACTERS and (largest := _find_largest(answer)) is not None:
        holder, key, path = largest
        value = holder[key]
        # Cut in proportion to the excess, and always something.
        kept = max(1, min(len(value) - 1, int(len(value) * MAX_ANSWER_CHARACTERS / size * 0.9)))
        counts[path] = (kept, counts.get(path, (0, len(value)))[1])
        holder[key] = value[:kept]
        size = _json_size(answer)
    what = ", ".join(f"{kept:,} of {count:,} of {path}" for path, (kept, count) in counts.items())
    note = _CUT.format(what)
    noted = answer["stats"] if isinstance(answer.get("stats"), dict) else answer
    noted["note"] = join_notes(noted.get("note", ""), note)
    return answer


def _json_size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False))


def _find_largest(answer: Json) -> tuple[Any, Any, str] | None:
    """The largest list or text that can be cut: what holds it, its key there, and its name for a note."""
    best: tuple[int, Any, Any, str] | None = None
    pending: list[tuple[Any, str]] = [(answer, "")]
    while pending:
        holder, path = pending.pop()
        for key, value in list(holder.items()) if isinstance(holder, dict) else list(enumerate(holder)):
            name = path if isinstance(holder, list) else f"{path}.{key}".strip(".")
            if isinstance(value, dict | list):
                pending.append((value, name))
            is_list = isinstance(value, list) and len(value) > 1
            if is_list or (isinstance(value, str) and len(value) > _MIN_TEXT_CHARACTERS):
                size = _json_size(value)
                if best is None or size > best[0]:
                    best = (size, holder, key, name)
    return best[1:] if best else None
