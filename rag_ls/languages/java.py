"""Java."""

from __future__ import annotations

from rag_ls.languages.comments import COMMON_LEXIS
from rag_ls.languages.conventions import (
    EXTENDING_CLASS,
    THROWN_CLASS,
    ErrorSyntax,
    Tests,
    suffixed_tests,
)
from rag_ls.languages.exports import UNLESS_PRIVATE
from rag_ls.languages.import_readers import read_dotted
from rag_ls.languages.import_rules import ImportRule, statements
from rag_ls.languages.jvm import JUNIT_TEST, SOURCE_ROOT, JvmResolver
from rag_ls.languages.language import Language
from rag_ls.languages.own_names import TYPE_NAMES
from rag_ls.languages.reference_rules import NEW, PREFIX_TYPE, ReferenceRule
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
            **declare(Kind.VALUE, "enum_constant"),
            **declare(Kind.VALUE, "field_declaration", "constant_declaration", names=("declarator/name",)),
        },
        comments=frozenset({"line_comment", "block_comment"}),
    ),
    lexis=COMMON_LEXIS,
    is_matched=True,
    references=ReferenceRule(
        calls=(
            "(method_invocation name: (_) @call)",
            "(object_creation_expression type: (_) @call)",
            "(object_creation_expression type: (generic_type [(type_identifier) (scoped_type_identifier)] @call))",
            '(method_reference "::" (identifier) @call)',
            "(explicit_constructor_invocation constructor: (_) @name @call)",
        ),
        bases=tuple(
            query
            for node in ("superclass", "super_interfaces (type_list", "extends_interfaces (type_list")
            for close in ("))" if "(" in node else ")",)
            for query in (f"({node} (_) @base{close}", f"({node} (generic_type . (_) @base){close}")
        ),
        parents=frozenset({"super"}),
        own_is_implied=True,
        is_overloaded=True,
        is_declared=True,
        types_precede=True,
        types=(PREFIX_TYPE, NEW),
        returns=r"([A-Z][\w.]*)(?:<[^;(){}]*>)?(?:\[\])*\s+{name}\s*\(",
        chained=frozenset({"this", "super"}),
        fields=r"$",
    ),
    imports=ImportRule(read_dotted, ("import_declaration",), places=statements("import")),
    exports=UNLESS_PRIVATE,
    own_names=TYPE_NAMES,
    resolver=JvmResolver,
    shares_folder=True,
    source_root=SOURCE_ROOT,
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
    errors=ErrorSyntax(declared=EXTENDING_CLASS, raised=THROWN_CLASS),
)
