"""Swift."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import COMMON_LEXIS
from rag_ls.languages.exports import UNLESS_PRIVATE
from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import COLON_PARAMETER, COLON_TYPE, CONSTRUCTED, TYPE, ReferenceRule
from rag_ls.languages.syntax import Declaration, Kind, Syntax, declare

_KINDS = r"(?:struct|class|enum|protocol|func|var|let|typealias)\s+"

_GIVEN_ELEMENTS = (
    "allSatisfy compactMap contains drop filter first firstIndex flatMap forEach last lastIndex map max min partition prefix "
    "removeAll sorted split"
).split()


def _read_import(text: str) -> Iterator[Taken]:
    match = re.search(rf"\bimport\s+(?:{_KINDS})?([\w.]+)", text)
    if match:
        yield match[1], ()


SWIFT = Language(
    name="swift",
    title="Swift",
    suffixes=("swift", "swiftinterface"),
    interpreters=("swift",),
    syntax=Syntax(
        grammar="swift",
        declarations={
            **declare(Kind.TYPE, "class_declaration", "protocol_declaration", "typealias_declaration"),
            **declare(Kind.FUNCTION, "function_declaration", "protocol_function_declaration", "macro_declaration"),
            "init_declaration": (Declaration(Kind.FUNCTION, ("=init",)),),
            "deinit_declaration": (Declaration(Kind.FUNCTION, ("=deinit",)),),
            "subscript_declaration": (Declaration(Kind.FUNCTION, ("=subscript",)),),
            **declare(Kind.VALUE, "property_declaration", "protocol_property_declaration"),
            "enum_entry": (Declaration(Kind.VALUE, each="name"),),
        },
        comments=frozenset({"comment", "multiline_comment"}),
    ),
    lexis=COMMON_LEXIS,
    is_matched=True,
    references=ReferenceRule(
        is_open=True,
        members_apart=True,
        calls=("(call_expression . (_) @call)",),
        bases=("(inheritance_specifier (_) @base)",),
        skipped=("(value_argument_label (simple_identifier) @skip)",),
        own=frozenset({"self", "Self"}),
        creators=frozenset({"Self"}),
        constructors=frozenset({"init"}),
        has_bodies=True,
        leading_dot=True,
        own_is_implied=True,
        is_overloaded=True,
        is_declared=True,
        types_follow=True,
        parameters=COLON_PARAMETER,
        types=(COLON_TYPE.replace(TYPE, r"(\[?[A-Za-z_][\w.]*)"), CONSTRUCTED),
        returns=r"->\s*(?:any\s+|some\s+)?(\[?[A-Za-z_][\w.]*)",
        lists=frozenset({"Array", "ArraySlice", "ContiguousArray", "Set"}),
        elements=frozenset(
            {"[]", "first", "last", "min", "max", "randomElement", "popLast", "removeFirst", "removeLast"}
        ),
        same=frozenset(
            {"filter", "reversed", "sorted", "dropFirst", "dropLast", "prefix", "suffix", "shuffled", "lazy"}
        ),
        loops=(r"\bfor\s+{name}\s+in\s+",),
        callbacks=(rf"\.(?:{'|'.join(_GIVEN_ELEMENTS)})\s*(?:\(\s*(?:\w+:\s*)?)?\{{\s*{{name}}\s+in\b",),
    ),
    imports=ImportRule(_read_import, ("import_declaration",)),
    exports=UNLESS_PRIVATE,
)
