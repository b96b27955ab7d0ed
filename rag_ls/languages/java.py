"""Java."""

from __future__ import annotations

from rag_ls.languages.comments import COMMON_LEXIS
from rag_ls.languages.conventions import (
    ANNOTATION,
    BRACED_CATCH,
    EXTENDING_CLASS,
    THROWN_CLASS,
    DecoratorSyntax,
    ErrorSyntax,
    Tests,
    suffixed_tests,
)
from rag_ls.languages.exports import UNLESS_PRIVATE
from rag_ls.languages.import_readers import read_dotted
from rag_ls.languages.import_rules import ImportRule
from rag_ls.languages.jvm import JUNIT_TEST, JvmResolver
from rag_ls.languages.language import Language
from rag_ls.languages.own_names import TYPE_NAMES
from rag_ls.languages.syntax import Kind, Syntax, declare

JAVA = Language(
    name="java",
    title="Java",
    suffixes=("java", "jav"),
    syntax=Syntax(
        grammar="java",
        declarations={
            **declare(Kind.TYPE, "class_declaration", "interface_declaration", "enum_declaration"),
            **declare(Kind.TYPE, "record_declaration", "annotation_type_declaration"),
            **declare(Kind.FUNCTION, "method_declaration", "constructor_declaration"),
            **declare(Kind.FUNCTION, "compact_constructor_declaration"),
            **declare(Kind.VALUE, "field_declaration", "constant_declaration", names=("declarator/name",)),
        },
        comments=frozenset({"line_comment", "block_comment"}),
    ),
    lexis=COMMON_LEXIS,
    is_matched=True,
    imports=ImportRule(read_dotted, ("import_declaration",)),
    exports=UNLESS_PRIVATE,
    own_names=TYPE_NAMES,
    resolver=JvmResolver,
    shares_folder=True,
    is_named_by_tools=True,
    tests=Tests(
        file_names=suffixed_tests("java"),
        libraries=(
            ("JUnit 5", r"org\.junit\.jupiter"),
            ("JUnit 4", r"org\.junit\.(?:Test|Assert|Before|runner)"),
            ("Mockito", r"org\.mockito"),
            ("TestNG", r"org\.testng"),
            ("Spring's test support", r"org\.springframework\.(?:boot\.)?test"),
        ),
        declared=JUNIT_TEST,
    ),
    errors=ErrorSyntax(declared=EXTENDING_CLASS, raised=THROWN_CLASS, handled=BRACED_CATCH),
    decorators=DecoratorSyntax(
        pattern=ANNOTATION,
        ordinary=frozenset(
            "Override SuppressWarnings Deprecated Test FunctionalInterface SafeVarargs Nullable NonNull NotNull".split()
        ),
    ),
)
