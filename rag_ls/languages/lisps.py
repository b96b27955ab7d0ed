"""The parts that the Lisps share: a declaration is a list that begins a line, and ends before the next one that does."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import Comments
from rag_ls.languages.import_rules import Taken
from rag_ls.languages.line_rules import LineRule

LISP_COMMENTS = Comments(pattern=r";[^\n]*", start=";; ")
_NAME = rb"[^\s()\[\]{}\"';,`|]+"


def make_lisp_rule(declared: bytes, imported: bytes, docstring: bytes = b"", in_names: bytes = b":") -> LineRule:
    """The rule of one Lisp; `NAME` stands for a name in `declared`, `in_names` are further characters within one."""
    name = rb"[A-Za-z_*+!?%&$<>=/.~^-][\w*+!?%&$<>=/.~^@" + in_names + rb"-]*"
    return LineRule(
        declared=declared.replace(b"NAME", _NAME),
        # A character is none of what it looks like: `?"`, `#\\(`.
        noise=rb"[?#]\\.|\?[\"';(]|;[^\n]*|#\|(?s:.*?)(?:\|#|\Z)|\"(?:[^\"\\]|\\(?s:.))*+(?:\"|\Z)",
        closing=rb"[)\]]",
        going_on=rb"",
        attributes=rb"\(declaim\b",
        imported=imported,
        names=name,
        called=rb"(?!)",
        calls=rb"(?<!')[(\[](?!def)(?:[\w.-]+::?)?(" + name + rb")|#'(" + name + rb")",
        docstring=docstring,
    )


SCHEME_RULE = make_lisp_rule(
    declared=(
        rb"^[ \t]*+[(\[]define-(?:record-type|structure|class|struct)[ \t]+[(<]*(?P<type>NAME?)(?=[\s>)])"
        rb"|^[ \t]*+[(\[](?:struct|class)[ \t]+(?P<type2>NAME)"
        rb"|^[ \t]*+[(\[](?:define-library|library|define-module|module[+*]?)[ \t]+(?P<module>\([^()\n]+\)|NAME)"
        rb"|^[ \t]*+[(\[]define(?:-for-syntax|/contract|/public|/private|/override|/memo|[*])?[ \t]+[(\[]+(?P<function>NAME)"
        rb"|^[ \t]*+[(\[]define(?:-for-syntax|/contract|-public)?[ \t]+(?P<value>NAME)"
        rb"|^[ \t]*+[(\[]define-(?!values|library|module)[\w-]+[ \t]+[(\[]?(?P<function2>NAME)"
    ),
    imported=rb"^[ \t]*[(\[](?:import|require|use-modules|include)[ \t\n]+(?s:.){1,2000}?(?=\n[ \t]*\n|\n\(|\Z|\)[ \t]*$)",
)
"""Of Scheme and Racket."""


def read_scheme_import(text: str) -> Iterator[Taken]:
    """`(import (srfi 1))`, `(require racket/list "a.rkt")`."""
    body = re.sub(r"^[(\[][\w-]+", "", text)
    yield from ((" ".join(words.split()), ()) for words in re.findall(r"\(((?:[\w-]+\s*)+)\)", body) if " " in words)
    yield from (
        (word, ())
        for word in re.findall(r"(?<![\w(-])\"?([A-Za-z][\w./-]*)\"?(?![\w:-])", re.sub(r"\([^()]*\)", " ", body))
    )
