"""Ada, read by its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import DASHED
from rag_ls.languages.import_readers import split_list
from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.language import Language
from rag_ls.languages.line_rules import DOUBLE_NOISE, LineRule
from rag_ls.languages.reference_rules import ReferenceRule


def _read_import(text: str) -> Iterator[Taken]:
    names = re.sub(r"(?i)^(?:limited\s+|private\s+)*with\s+", "", text).rstrip(";")
    yield from ((name, ()) for name in split_list(names))


ADA = Language(
    name="ada",
    title="Ada",
    suffixes=("adb", "ads", "ada"),
    lines=LineRule(
        declared=(
            rb"(?i:^[ \t]*+(?:(?:not[ \t]+)?overriding[ \t]+)?(?:procedure|function|entry)[ \t]+(?P<function>[\w.]+|\"[^\"\n]+\")"
            rb"|^[ \t]*+(?:task|protected)[ \t]+(?:type[ \t]+|body[ \t]+)?(?P<type2>\w+)"
            rb"|^[ \t]*+(?:private[ \t]+)?package[ \t]+(?:body[ \t]+)?(?P<module>[\w.]+)"
            rb"|^[ \t]*+(?:sub)?type[ \t]+(?P<type>\w+)"
            rb"|^[ \t]*+(?P<value>[a-z]\w*)[ \t]*:[ \t]*constant\b)"
        ),
        noise=rb"--[^\n]*|" + DOUBLE_NOISE,
        closing=rb"(?i:end\b)|\)",
        going_on=rb"(?i:(?:begin|is|exception|private|with|return|record|declare)\b)",
        imported=rb"(?i:^(?:limited[ \t]+|private[ \t]+)*with[ \t]+[\w., \t\n]{1,2000};)",
    ),
    comments=DASHED,
    has_single_quotes=False,
    references=ReferenceRule(is_open=True),
    imports=ImportRule(_read_import),
)
