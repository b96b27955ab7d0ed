"""MATLAB and Octave, read by their lines."""

from __future__ import annotations

from rag_ls.languages.comments import Comments
from rag_ls.languages.language import Language
from rag_ls.languages.line_rules import DOUBLE_NOISE, LineRule
from rag_ls.languages.reference_rules import ReferenceRule

MATLAB = Language(
    name="matlab",
    title="MATLAB",
    aliases=("octave",),
    suffixes=("matlab",),
    interpreters=("octave",),
    lines=LineRule(
        declared=(
            rb"^[ \t]*+function[ \t]+(?:[^=\n(%]*=[ \t]*)?(?P<function>[A-Za-z][\w.]*)"
            rb"|^classdef[ \t]+(?:\([^)\n]*\)[ \t]*)?(?P<type>\w+)"
        ),
        noise=rb"^[ \t]*%\{[ \t]*\n(?s:.*?)(?:^[ \t]*%\}|\Z)|%[^\n]*|(?<![\w)\].'])'[^'\n]*'|" + DOUBLE_NOISE,
        closing=rb"end(?:function)?\b",
        going_on=rb"(?!function\b|classdef\b)\S",
        bases=rb"^classdef[ \t]+\w+[ \t]*<[ \t]*([\w.& \t]+)",
        docstring=rb"[^\n]*+\n((?:[ \t]*+%[^\n]*+\n)+)",
    ),
    comments=Comments(pattern=r"%[^\n]*", start="% "),
    has_single_quotes=False,
    references=ReferenceRule(is_open=True),
)
