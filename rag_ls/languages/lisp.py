"""Common Lisp, read by its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.language import Language
from rag_ls.languages.lisps import LISP_COMMENTS, make_lisp_rule
from rag_ls.languages.reference_rules import ReferenceRule


def _read_import(text: str) -> Iterator[Taken]:
    for words in re.findall(r"(?::use|:import-from|:depends-on|use-package|require|quickload)\s+\(?([^()]*)", text):
        yield from ((word, ()) for word in re.findall(r"[#:'\"]*([\w./+-]+)", words))


LISP = Language(
    name="lisp",
    title="Common Lisp",
    aliases=("common-lisp", "commonlisp"),
    suffixes=("lisp", "lsp", "cl", "asd"),
    interpreters=("sbcl", "clisp"),
    lines=make_lisp_rule(
        in_names=b"",
        declared=(
            rb"^[ \t]*+\(def(?:class|struct|type|ine-condition)\*?[ \t]+\(?(?P<type>NAME)"
            rb"|^[ \t]*+\(def(?:package|system)[ \t]+[#:\"]*(?P<module>NAME)|^[ \t]*+\(asdf:defsystem[ \t]+[#:\"]*(?P<module2>NAME)"
            rb"|^[ \t]*+\(def(?:var|parameter|constant|global|ine-symbol-macro)[ \t]+(?P<value>NAME)"
            rb"|^[ \t]*+\((?:[\w-]+:)?def(?!ault)[\w*/-]*[ \t]+\(?(?:setf[ \t]+)?(?P<function>NAME)"
        ),
        imported=rb"^\((?:defpackage|uiop:define-package|(?:asdf:)?defsystem|use-package|require|ql:quickload)\b(?s:.){1,3000}?(?=\n\n|\n\(|\Z)",
        docstring=rb"[^\n\"]*+(?:\n[^\n\"]*+)?\n[ \t]++(?:\(:documentation[ \t\n]+)?(\"(?:[^\"\\]|\\(?s:.)){1,2500}\")",
    ),
    comments=LISP_COMMENTS,
    has_single_quotes=False,
    references=ReferenceRule(is_open=True),
    imports=ImportRule(_read_import),
)
