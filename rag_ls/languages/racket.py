"""Racket, read by its lines."""

from __future__ import annotations

from rag_ls.languages.import_rules import ImportRule
from rag_ls.languages.language import Language
from rag_ls.languages.lisps import LISP_COMMENTS, SCHEME_RULE, read_scheme_import
from rag_ls.languages.reference_rules import ReferenceRule

RACKET = Language(
    name="racket",
    title="Racket",
    suffixes=(
        "rkt",
        "rktl",
        "rktd",
        "scrbl",
    ),
    interpreters=("racket",),
    lines=SCHEME_RULE,
    comments=LISP_COMMENTS,
    has_single_quotes=False,
    references=ReferenceRule(is_open=True),
    imports=ImportRule(read_scheme_import),
)
