"""Erlang."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import Comments
from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.syntax import Kind, Syntax, declare


def _read_import(text: str) -> Iterator[Taken]:
    match = re.match(r"-\s*(?:include|include_lib|import)\s*\(\s*(?:\"([^\"]+)\"|(\w+))", text)
    if match:
        yield match[1] or match[2], tuple(re.findall(r"(\w+)/\d", text)) if match[2] else ()


ERLANG = Language(
    name="erlang",
    suffixes=("erl", "hrl", "escript"),
    file_names=("rebar.config", "rebar.lock"),
    interpreters=("escript",),
    syntax=Syntax(
        grammar="erlang",
        declarations={
            **declare(Kind.FUNCTION, "fun_decl", names=("clause/name",)),
            **declare(Kind.TYPE, "record_decl"),
            **declare(Kind.TYPE, "type_alias", "opaque", names=("name/name",)),
            **declare(Kind.VALUE, "pp_define", names=("lhs/name",)),
        },
        attributes=frozenset({"spec"}),
        clauses=True,
    ),
    comments=Comments(pattern=r"%[^\n]*", start="% "),
    references=ReferenceRule(calls=("(call expr: (_) @call)",), names=frozenset({"atom"})),
    imports=ImportRule(_read_import, ("pp_include", "pp_include_lib", "import_attribute")),
)
