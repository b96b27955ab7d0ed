"""Dart."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import COMMON_LEXIS
from rag_ls.languages.exports import ExportRule
from rag_ls.languages.import_readers import STRING, first_words
from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import CONSTRUCTED, PREFIX_TYPE, ReferenceRule
from rag_ls.languages.syntax import Declaration, Kind, Syntax, declare


def _read_import(text: str) -> Iterator[Taken]:
    module = re.search(STRING, text)
    if module:
        shown = re.search(r"\bshow\s+([\w\s,]+?)(?:\bhide\b|;|$)", text)
        yield module[2], first_words(shown[1]) if shown else ()


def _is_public(name: str, _signature: str, _member: bool) -> bool:
    return not name.startswith("_")


DART = Language(
    name="dart",
    title="Dart",
    suffixes=("dart",),
    syntax=Syntax(
        grammar="dart",
        declarations={
            **declare(Kind.TYPE, "class_definition", "enum_declaration", "extension_declaration"),
            **declare(Kind.TYPE, "mixin_declaration", names=("<identifier",)),
            **declare(Kind.TYPE, "type_alias", names=("<type_identifier",)),
            **declare(Kind.FUNCTION, "function_signature", "getter_signature", "setter_signature"),
            **declare(Kind.FUNCTION, "constructor_signature", "factory_constructor_signature"),
            "operator_signature": (Declaration(Kind.FUNCTION, ("=operator",)),),
            **declare(
                Kind.VALUE,
                "declaration",
                names=("<initialized_identifier_list/<initialized_identifier/<identifier",),
            ),
        },
        wrappers=frozenset({"method_signature"}),
        comments=frozenset({"comment", "documentation_comment"}),
        attributes=frozenset({"annotation"}),
        trailers=frozenset({"function_body"}),
    ),
    lexis=COMMON_LEXIS,
    references=ReferenceRule(
        bases=("(superclass (_) @base)", "(interfaces (_) @base)"),
        own_is_implied=True,
        types=(PREFIX_TYPE, CONSTRUCTED),
    ),
    imports=ImportRule(_read_import, ("import_or_export", "part_directive")),
    exports=ExportRule(_is_public),
)
