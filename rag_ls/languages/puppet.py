"""Puppet, read by its lines: the grammar fails on two thirds of real manifests."""

from __future__ import annotations

from rag_ls.languages.comments import HASHED
from rag_ls.languages.import_readers import read_second_word
from rag_ls.languages.import_rules import ImportRule
from rag_ls.languages.language import Language
from rag_ls.languages.line_rules import QUOTED_NOISE, LineRule
from rag_ls.languages.reference_rules import ReferenceRule

PUPPET = Language(
    name="puppet",
    title="Puppet",
    suffixes=("pp", "epp"),
    lines=LineRule(
        declared=(
            rb"^[ \t]*+(?:class|define|type|plan)[ \t]+(?P<type>[\w:]+)|^[ \t]*+function[ \t]+(?P<function>[\w:]+)"
            rb"|^[ \t]*+node[ \t]+(?P<type2>[^\s{]+)"
        ),
        noise=QUOTED_NOISE + rb"|#[^\n]*",
        going_on=rb"[{)]|inherits\b|>>",
        imported=rb"^[ \t]*(?:include|require|contain)[ \t]+[^\n]+",
        calls=rb"^[ \t]*(?:::)?(?:\w+::)*(\w+)[ \t]*\{",
    ),
    comments=HASHED,
    references=ReferenceRule(is_open=True),
    imports=ImportRule(read_second_word),
)
