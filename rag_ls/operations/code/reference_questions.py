"""Recognises questions about the uses of a name, and answers them in a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_ls.engine.code.references import ALL_KINDS, AskedSymbol, ReferenceKind, find_references
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import NotFound
from rag_ls.util.patterns import lazy_pattern

_NAME = r"[`'\"]?([A-Za-z_$][\w$]*(?:(?:\.|::|#)[\w$]+)*)(?:\(\))?[`'\"]?"
_VERB = r"(?:call|use|import|implement|extend|override|invoke|reference)(?:s|d|ed)?"
_ASKED = (
    lazy_pattern(rf"^(?:who|what|which\s+\w+)\s+{_VERB}\s+{_NAME}$", re.IGNORECASE),
    lazy_pattern(rf"^(?:callers?|usages?|uses|references|calls|implementations)\s+(?:of|to)\s+{_NAME}$", re.IGNORECASE),
    lazy_pattern(rf"^where(?:\s+(?:is|are|do\s+we|does\s+anything))?\s+{_NAME}\s+{_VERB}$", re.IGNORECASE),
    lazy_pattern(rf"^where\s+(?:do\s+we|is\s+anything\s+that)\s+{_VERB}\s+{_NAME}$", re.IGNORECASE),
)
_MAX_SHOWN = 5
_USES = ALL_KINDS - {ReferenceKind.DEFINITION, ReferenceKind.DOCS}


def describe_references(sessions: Sequence[ProjectSession], query: str) -> str:
    """The uses of the name that a question is about, in a sentence; empty for any other question, and where there are none."""
    words = " ".join(query.split()).rstrip("?.! ")
    name = next((match[1] for each in _ASKED if (match := each.match(words))), "")
    for session in sessions if name else ():
        try:
            found = find_references(session, AskedSymbol(name), kinds=_USES, enough=_MAX_SHOWN)
        except NotFound:
            continue
        uses = sorted(
            found.references, key=lambda each: (not each.resolved, each.kind is not ReferenceKind.CALL, each.is_test)
        )
        if uses:
            places = ", ".join(f"{each.path}:{each.line}" for each in uses[:_MAX_SHOWN])
            more = len(uses) + sum(found.left.values()) - _MAX_SHOWN
            rest = f" and {'about ' if found.left else ''}{more} more" if more > 0 else ""
            return f"{name} is used at {places}{rest}: find_references lists all, with their lines"
    return ""
