"""F#. Its grammar fails on a quarter of real code and is slow, so it is read by its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import Comments
from rag_ls.languages.exports import UNLESS_PRIVATE
from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.language import Language
from rag_ls.languages.line_rules import DOUBLE_NOISE, TRIPLE_NOISE, LineRule
from rag_ls.languages.reference_rules import COLON_TYPE, ReferenceRule


def _read_import(text: str) -> Iterator[Taken]:
    match = re.match(r"(?:open|#load|#r)\s+(?:type\s+)?\"?([^\s\"]+)", text)
    if match:
        yield match[1], ()


_ATTRIBUTES = rb"(?:\[<[^\n]*?>\][ \t]*)?"
_MODIFIERS = rb"(?:(?:rec|inline|private|internal|public|mutable)[ \t]+)*+"
_NAME = rb"(?:\(\|[^)\n]*\|\)|``[^`\n]+``|[A-Za-z_][\w']*)"

FSHARP = Language(
    name="fsharp",
    title="F#",
    aliases=("f#",),
    suffixes=("fs", "fsi", "fsx"),
    interpreters=("fsharpi", "dotnet"),
    lines=LineRule(
        declared=(
            rb"^[ \t]*+"
            + _ATTRIBUTES
            + rb"let[ \t]+"
            + _MODIFIERS
            + rb"(?P<function>"
            + _NAME
            + rb")(?:<[^\n=]*?>)?(?=[ \t]*(?:\(|[ \t][\w_(\[{]))"
            rb"|^[ \t]*+"
            + _ATTRIBUTES
            + rb"let[ \t]+"
            + _MODIFIERS
            + rb"(?P<value>"
            + _NAME
            + rb")(?=[ \t]*(?:[:=]|$))"
            rb"|^[ \t]*+"
            + _ATTRIBUTES
            + rb"(?:static[ \t]+)?(?:member|override|default|abstract(?:[ \t]+member)?)[ \t]+"
            + _MODIFIERS
            + rb"(?:val[ \t]+)?(?:[\w']+\.)?(?P<function2>"
            + _NAME
            + rb")"
            rb"|^[ \t]*+(?:type|and)[ \t]+" + _ATTRIBUTES + _MODIFIERS + rb"(?P<type>[A-Z]\w*)"
            rb"|^[ \t]*+and[ \t]+" + _MODIFIERS + rb"(?P<function3>[a-z_][\w']*)"
            rb"|^exception[ \t]+(?P<type2>\w+)"
            rb"|^[ \t]*+(?:module[ \t]+|namespace[ \t]+)" + _MODIFIERS + rb"(?P<module>[\w.]+)"
            rb"|^[ \t]*+val[ \t]+" + _MODIFIERS + rb"(?P<value2>" + _NAME + rb")(?=[ \t]*:)"
        ),
        noise=TRIPLE_NOISE + rb"|\(\*(?!\))(?s:.*?)(?:\*\)|\Z)|//[^\n]*|" + DOUBLE_NOISE,
        closing=rb"[})\]]",
        going_on=rb"\||\{|(?:with|end|else|elif|then|in)\b",
        attributes=rb"\[<",
        imported=rb"^[ \t]*(?:open|#load|#r)[ \t]+[^\n]+",
        called=rb"\s?\(|<[\w., ]+>\(",
        calls=rb"(?:\|>|>>|>=>|<\|)[ \t]*(?:\w+\.)*([A-Za-z_]\w*)",
        bases=rb"^[ \t]*(?:inherit|interface)[ \t]+([\w.]+)",
    ),
    comments=Comments(pattern=r"//[^\n]*|\(\*(?!\)).*?\*\)", start="// "),
    has_single_quotes=False,
    is_indented=True,
    references=ReferenceRule(is_open=True, types=(COLON_TYPE,), own=frozenset({"this", "self", "x", "__", "_"})),
    imports=ImportRule(_read_import),
    exports=UNLESS_PRIVATE,
)
