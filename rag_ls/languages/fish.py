"""Fish, read by its lines."""

from __future__ import annotations

from rag_ls.languages.comments import HASHED
from rag_ls.languages.import_readers import read_second_word
from rag_ls.languages.import_rules import ImportRule
from rag_ls.languages.language import Language
from rag_ls.languages.line_rules import QUOTED_NOISE, LineRule
from rag_ls.languages.reference_rules import ReferenceRule

FISH = Language(
    name="fish",
    title="Fish",
    suffixes=("fish",),
    interpreters=("fish",),
    lines=LineRule(
        declared=(
            rb"^[ \t]*+function[ \t]+(?P<function>[\w.:-]+)|^set[ \t]+(?:-\S+[ \t]+)*(?P<value>[A-Za-z_]\w*)"
            rb"|^abbr[ \t]+-a[ \t]+(?P<value2>\w+)"
        ),
        noise=QUOTED_NOISE + rb"|(?:^|(?<=\s))#[^\n]*",
        closing=rb"end\b",
        going_on=rb"",
        imported=rb"^[ \t]*(?:source|\.)[ \t]+[^\n;|]+",
        names=rb"[A-Za-z_][\w-]*",
        called=rb"(?!)",
        calls=rb"(?:^|[|;(]|\b(?:and|or|not|if|while)[ \t])[ \t]*([A-Za-z_][\w-]*)",
    ),
    comments=HASHED,
    references=ReferenceRule(is_open=True),
    imports=ImportRule(read_second_word),
)
