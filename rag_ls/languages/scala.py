"""Scala."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import COMMON_LEXIS
from rag_ls.languages.conventions import Tests, suffixed_tests
from rag_ls.languages.exports import UNLESS_PRIVATE
from rag_ls.languages.import_readers import SLASH_COMMENT, first_words, read_dotted, split_outside_braces
from rag_ls.languages.import_rules import ImportRule, Taken, statements
from rag_ls.languages.jvm import SOURCE_ROOT, JvmResolver
from rag_ls.languages.language import Language
from rag_ls.languages.own_names import TYPE_NAMES
from rag_ls.languages.reference_rules import COLON_PARAMETER, COLON_TYPE, CONSTRUCTED, NEW, ReferenceRule
from rag_ls.languages.syntax import Kind, Syntax, declare


def _read_import(text: str) -> Iterator[Taken]:
    text = re.sub(SLASH_COMMENT, " ", text).removeprefix("import").strip()
    for part in split_outside_braces(text):
        module, brace, names = part.strip().partition(".{")
        if brace:
            wanted = first_words(names.replace("=>", " ").rstrip("} \n"))
            yield module, tuple("*" if name in ("_", "given") else name for name in wanted)
        else:
            yield from read_dotted(part.strip())


SCALA = Language(
    name="scala",
    title="Scala",
    suffixes=("scala", "sc", "sbt"),
    interpreters=("scala", "scala-cli", "amm"),
    syntax=Syntax(
        grammar="scala",
        declarations={
            **declare(Kind.TYPE, "class_definition", "object_definition", "trait_definition", "enum_definition"),
            **declare(Kind.TYPE, "type_definition", "given_definition", "package_object"),
            **declare(Kind.FUNCTION, "function_definition", "function_declaration"),
            **declare(Kind.VALUE, "class_parameter", "full_enum_case", "simple_enum_case"),
            **declare(Kind.VALUE, "val_definition", "var_definition", "val_declaration", names=("pattern", "name")),
        },
        comments=frozenset({"comment", "block_comment"}),
    ),
    lexis=COMMON_LEXIS,
    has_single_quotes=False,
    is_matched=True,
    references=ReferenceRule(
        calls=("(call_expression function: (_) @call)", "(generic_function function: (_) @call)"),
        bases=("(extends_clause type: (_) @base)", "(extends_clause type: (generic_type type: (_) @base))"),
        own_is_implied=True,
        argument_labels=r"\s*=(?![=>])",
        is_overloaded=True,
        is_declared=True,
        types_follow=True,
        parameters=COLON_PARAMETER,
        types=(COLON_TYPE, NEW, CONSTRUCTED),
    ),
    imports=ImportRule(_read_import, ("import_declaration",), places=statements("import")),
    exports=UNLESS_PRIVATE,
    own_names=TYPE_NAMES,
    resolver=JvmResolver,
    shares_folder=True,
    source_root=SOURCE_ROOT,
    is_named_by_tools=True,
    tests=Tests(file_names=suffixed_tests("scala")),
)
