"""Crystal, read by its lines."""

from __future__ import annotations

from rag_ls.languages.comments import HASHED
from rag_ls.languages.import_readers import read_strings
from rag_ls.languages.import_rules import ImportRule
from rag_ls.languages.language import Language
from rag_ls.languages.line_rules import DOUBLE_NOISE, LineRule
from rag_ls.languages.reference_rules import COLON_TYPE, ReferenceRule

CRYSTAL = Language(
    name="crystal",
    title="Crystal",
    suffixes=("cr",),
    interpreters=("crystal",),
    lines=LineRule(
        declared=(
            rb"^[ \t]*+(?:(?:private|protected|abstract)[ \t]+)*(?:class|struct|enum|lib|annotation|union|alias)[ \t]+(?P<type>[A-Z][\w:]*)"
            rb"|^[ \t]*+(?:private[ \t]+)?module[ \t]+(?P<module>[A-Z][\w:]*)"
            rb"|^[ \t]*+(?:(?:private|protected|abstract)[ \t]+)*(?:def|macro|fun)[ \t]+(?:self\.)?"
            rb"(?P<function>[a-z_]\w*[?!=]?|[^\s\w(]{1,3})"
            rb"|^[ \t]*+(?P<value>[A-Z]\w*)[ \t]*=(?!=)"
            rb"|^[ \t]*+(?:class_)?(?:property|getter|setter)[?!]?[ \t]+(?P<value2>[a-z_]\w*)"
        ),
        noise=DOUBLE_NOISE + rb"|#[^\n]*",
        closing=rb"end\b|[})\]]",
        going_on=rb"(?:rescue|ensure|else)\b",
        imported=rb"^[ \t]*require[ \t]+[^\n]+",
        names=rb"[A-Za-z_]\w*[?!]?",
        calls=rb"\.([a-z_]\w*[?!]?)",
        bases=rb"\b(?:class|struct)[ \t]+\w+[ \t]*<[ \t]*([\w:]+)|^[ \t]*include[ \t]+([\w:]+)",
        has_heredocs=True,
    ),
    comments=HASHED,
    has_single_quotes=False,
    references=ReferenceRule(
        is_open=True, own_is_implied=True, types=(COLON_TYPE,), constructors=frozenset({"initialize"})
    ),
    imports=ImportRule(read_strings),
)
