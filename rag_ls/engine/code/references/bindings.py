"""Tells from the text of a function whether it has a variable of its own with a name."""

from __future__ import annotations

import re
from functools import lru_cache

from rag_ls.engine.code.references.names import compile_for
from rag_ls.languages.reference_rules import ReferenceRule

_MAX_HEAD = 2000


def is_bound(text: str, name: str, rule: ReferenceRule) -> bool:
    """Whether a function declares a parameter or variable of a name."""
    if name not in text:
        return False
    return bool(compile_for(rule.parameters, name).search(_parameters_in(text)) or _binding(name).search(text))


def _parameters_in(text: str) -> str:
    """The first brackets of a function's text, with what is in them: in Go, the receiver and results too."""
    start, depth, end = text.find("(", 0, _MAX_HEAD), 0, 0
    for at in range(max(start, 0), min(len(text), start + _MAX_HEAD)):
        depth += (text[at] == "(") - (text[at] == ")")
        if not depth and text[at] == ")":
            end = at + 1
        elif not depth and text[at] in "{:=\n":
            break
    return text[max(start, 0) : end]


@lru_cache(maxsize=4096)
def _binding(name: str) -> re.Pattern[str]:
    word = re.escape(name)
    ways = (
        rf"^[ \t]*{word}\s*(?::(?!:)[^=\n]+)?=(?![=>])",
        rf"^[ \t]*(?:\w+\s*,\s*)+{word}\s*(?:,[\s\w,]*)?=(?!=)",
        rf"\bfor\s+(?:\w+\s*,\s*)*{word}\b[\w\s,]*\bin\b",
        # A type may also follow `as`.
        *(() if name[:1].isupper() else (rf"\bas\s+{word}\s*[:,)]",)),
        rf"(?<!@)\b(?:const|let|var|val)\s+(?:\{{[^}}]*?)?(?:mut\s+)?{word}\b",
        rf"(?<![\w.]){word}\s*:=",
        rf"(?<![\w.]){word}\s*(?:,\s*\w+\s*)+:=",
        rf"\blambda\s[^:\n]*\b{word}\b",
        # Excludes the type of a result: `(a): Word =>`.
        rf"(?:[(,=?]|=>|\basync|\breturn|[\w\"'\]]\s*:)\s*{word}\s*=>",
        rf"\((?:[^()]*,)?\s*(?:\{{[^{{}}]*?)?\b{word}\s*(?:[,:?=}}][^()]*)?\)\s*(?::[^=\n]+)?=>",
    )
    return re.compile("|".join(ways), re.MULTILINE)
