"""Keeps every answer to an agent within what its client takes, whatever tool it is of."""

from __future__ import annotations

import json
from typing import Any

from rag_ls.operations import Json

# Clients refuse answers of more than 25,000 tokens; JSON of code has some three characters to a token.
MAX_ANSWER_CHARACTERS = 60_000
_MIN_TEXT_CHARACTERS = 500
_CUT = "the answer was too long, and is cut: {}; narrow the question, or ask for fewer"


def fit_answer(answer: Json) -> Json:
    """An answer whose longest lists and texts are cut until it fits, with a note that counts what is left out."""
    size = _size(answer)
    if size <= MAX_ANSWER_CHARACTERS:
        return answer
    answer = json.loads(json.dumps(answer))
    counts: dict[str, tuple[int, int]] = {}
    while size > MAX_ANSWER_CHARACTERS and (largest := _largest(answer)) is not None:
        holder, key, path = largest
        value = holder[key]
        # Cut in proportion to the excess, and always something.
        kept = max(1, min(len(value) - 1, int(len(value) * MAX_ANSWER_CHARACTERS / size * 0.9)))
        counts[path] = (kept, counts.get(path, (0, len(value)))[1])
        holder[key] = value[:kept]
        size = _size(answer)
    what = ", ".join(f"{kept:,} of {count:,} of {path}" for path, (kept, count) in counts.items())
    note = _CUT.format(what)
    if isinstance(answer.get("stats"), dict):
        answer["stats"]["note"] = "; ".join(filter(None, (answer["stats"].get("note"), note)))
    else:
        answer["note"] = "; ".join(filter(None, (answer.get("note"), note)))
    return answer


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False))


def _largest(answer: Json) -> tuple[Any, Any, str] | None:
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
                size = _size(value)
                if best is None or size > best[0]:
                    best = (size, holder, key, name)
    return best[1:] if best else None
