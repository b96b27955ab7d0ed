"""Tcl. Its grammar fails on a sixth of real code, so it is read by its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import HASHED
from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.language import Language
from rag_ls.languages.line_rules import DOUBLE_NOISE, LineRule
from rag_ls.languages.reference_rules import ReferenceRule


def _read_import(text: str) -> Iterator[Taken]:
    match = re.match(r"(?:package\s+require|source)\s+(?:-\w+\s+)?[\"{]?([^\s\"{}\]]+)", text)
    if match:
        yield match[1], ()


TCL = Language(
    name="tcl",
    title="Tcl",
    suffixes=("tcl", "tk", "tm", "itcl", "xdc", "sdc"),
    interpreters=("tclsh", "wish", "expect"),
    lines=LineRule(
        declared=(
            rb"^[ \t]*+(?:(?:private|public|protected)[ \t]+)?(?:proc|method|typemethod|(?:::)?itcl::body|oo::define[ \t]+\S+[ \t]+method)"
            rb"[ \t]+(?P<function>[^\s{}\"\[\];]+)(?=[ \t]+[{\w$\"])"
            rb"|^[ \t]*+(?:::)?(?:oo::class[ \t]+create|itcl::class|snit::(?:type|widget|widgetadaptor))[ \t]+(?P<type>[^\s{}\"]+)"
            rb"|^[ \t]*+namespace[ \t]+eval[ \t]+(?P<module>[\w:]+)(?=[ \t]+\{)"
        ),
        noise=rb"^[ \t]*#[^\n]*|;[ \t]*#[^\n]*|" + DOUBLE_NOISE,
        closing=rb"\}",
        imported=rb"^[ \t]*(?:package[ \t]+require|source)[ \t]+[^\n;]+",
        called=rb"(?!)",
        calls=rb"(?:^|[\[;{])[ \t]*(?:\w*::)*([A-Za-z_]\w*)",
    ),
    comments=HASHED,
    references=ReferenceRule(is_open=True, own=frozenset({"my", "self"})),
    imports=ImportRule(_read_import),
)
