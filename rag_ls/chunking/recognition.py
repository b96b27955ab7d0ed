"""Recognises a document's language by its name and text."""

from __future__ import annotations

import json
import re

from rag_ls.chunking.notebook_cells import read_notebook
from rag_ls.languages import by_alias, detect_language
from rag_ls.languages.names import choose_language, guess_language, is_ambiguous
from rag_ls.util.patterns import lazy_pattern

MAX_HEAD_CHARACTERS = 16_384
"""At most this many characters from the beginning are read."""

NOTEBOOK = "notebook"
"""The language of documents that hold cells as JSON."""

_MODELINE_LINES = 5
_MAX_JSON = 1_000_000

_VIM = lazy_pattern(
    r"(?:^|\s)(?:vi|vim|ex):\s*(?:set?\s+)?(?:[^:\n]*[\s:])?(?:ft|filetype|syntax)=([\w+-]+)", re.MULTILINE
)
_EMACS = lazy_pattern(r"-\*-\s*(?:.*?\bmode:\s*([\w+-]+)|([\w+-]+)\s*-\*-)", re.IGNORECASE)


def recognise(path: str, text: str) -> str | None:
    """The language of a document by its name, suffix, first line, modelines and contents, in this order.

    If several languages share a suffix, the text decides. None if the language is unknown; languages
    without a grammar are returned too. Only the beginning of the text is read, and its last lines for
    a modeline, so time does not grow with its length, except for JSON, which is parsed.
    """
    head = text[:MAX_HEAD_CHARACTERS]
    first = head.split("\n", 1)[0].rstrip("\r")
    suffix = path.replace("\\", "/").rpartition("/")[2].lower().rpartition(".")[2]
    if suffix == "ipynb" and read_notebook(text) is not None:
        return NOTEBOOK
    by_text = choose_language(suffix, head) if "." in path else None
    if by_text is not None:
        return by_text
    by_name = detect_language(path)
    if by_name is not None and not is_ambiguous(suffix):
        return by_name
    named = _by_modeline(text) or by_name or detect_language("", first) or guess_language(head)
    return named or ("json" if _is_json(text) else None)


def _by_modeline(text: str) -> str | None:
    """The language of a Vim or Emacs modeline among the first and last lines."""
    for part in (text[:2000].split("\n")[:_MODELINE_LINES], text[-1000:].split("\n")[-_MODELINE_LINES:]):
        for line in part:
            match = _VIM.search(line[:500]) or _EMACS.search(line[:500])
            language = by_alias(next((word for word in match.groups() if word), "")) if match else None
            if language is not None:
                return language
    return None


def _is_json(text: str) -> bool:
    if text.lstrip("\ufeff \t\r\n")[:1] not in ("{", "[") or len(text) > _MAX_JSON:
        return False
    try:
        json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return False
    return True
