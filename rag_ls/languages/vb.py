"""Visual Basic, read by its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import Comments
from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.language import Language
from rag_ls.languages.line_rules import LineRule
from rag_ls.languages.reference_rules import ReferenceRule


def _read_import(text: str) -> Iterator[Taken]:
    match = re.match(r"(?i)imports\s+(?:\w+\s*=\s*)?([\w.]+)", text)
    if match:
        yield match[1], ()


_MODIFIERS = (
    rb"(?:(?:public|private|protected|friend|shared|static|overridable|overrides|overloads|mustinherit|notinheritable|partial|async|"
    rb"readonly|writeonly|default|shadows|iterator|global)[ \t]+)*"
)

VB = Language(
    name="vb",
    title="Visual Basic",
    aliases=("vbnet", "vba", "vbscript"),
    suffixes=("vb", "bas", "vbs"),
    lines=LineRule(
        declared=(
            rb"(?i:^[ \t]*+" + _MODIFIERS + rb"(?:(?P<word>sub|function)[ \t]+(?P<function>\w+)"
            rb"|(?P<word2>property)[ \t]+(?:(?:get|let|set)[ \t]+)?(?P<value>\w+)(?=[^\n]*\n[ \t]*(?:\w+[ \t]+)*(?:get|set)\b)"
            rb"|(?P<word3>class|module|structure|interface|enum|type)[ \t]+(?P<type>\w+)(?![ \t]*=)"
            rb"|(?P<word4>namespace)[ \t]+(?P<module>[\w.]+)"
            rb"|const[ \t]+(?P<value2>\w+)))"
        ),
        noise=rb'"[^"\n]*"' + rb"|'[^\n]*",
        paired=rb"(?i:end[ \t]+%s\b)",
        attributes=rb"<",
        imported=rb"(?i:^[ \t]*imports[ \t]+[^\n]+)",
        comment_mark=rb"^[ \t]*'+",
    ),
    comments=Comments(pattern=r"'[^\n]*", start="' "),
    has_single_quotes=False,
    references=ReferenceRule(is_open=True, own=frozenset({"Me"}), parents=frozenset({"MyBase"})),
    imports=ImportRule(_read_import),
)
