"""Kotlin."""

from __future__ import annotations

from rag_ls.languages.comments import COMMON_LEXIS
from rag_ls.languages.conventions import ErrorSyntax, Tests, suffixed_tests
from rag_ls.languages.exports import UNLESS_PRIVATE
from rag_ls.languages.import_readers import read_dotted
from rag_ls.languages.import_rules import ImportRule, statements
from rag_ls.languages.jvm import JUNIT_TEST, SOURCE_ROOT, JvmResolver
from rag_ls.languages.language import Language
from rag_ls.languages.nesting import template_nesting
from rag_ls.languages.own_names import TYPE_NAMES
from rag_ls.languages.reference_rules import COLON_PARAMETER, COLON_TYPE, CONSTRUCTED, ReferenceRule
from rag_ls.languages.syntax import Declaration, Kind, Syntax, declare

_GIVEN_ELEMENTS = (
    "all any associate associateBy associateWith count distinctBy dropWhile filter filterNot find findLast first firstOrNull flatMap "
    "forEach groupBy indexOfFirst last lastOrNull map mapNotNull maxBy maxByOrNull minBy minByOrNull none onEach partition single "
    "sortedBy sortedByDescending sumOf takeWhile"
).split()

KOTLIN = Language(
    name="kotlin",
    title="Kotlin",
    suffixes=("kt", "kts"),
    interpreters=("kotlin",),
    syntax=Syntax(
        grammar="kotlin",
        declarations={
            **declare(Kind.TYPE, "class_declaration", "object_declaration", "type_alias", names=("<type_identifier",)),
            "companion_object": (Declaration(Kind.TYPE, ("<type_identifier", "=Companion")),),
            "function_declaration": (Declaration(Kind.FUNCTION, ("<simple_identifier",), owner=("receiver",)),),
            "secondary_constructor": (Declaration(Kind.FUNCTION, ("=constructor",)),),
            "class_parameter": (
                Declaration(
                    Kind.VALUE,
                    ("<simple_identifier",),
                    when=("<binding_pattern_kind", frozenset({"binding_pattern_kind"})),
                ),
            ),
            **declare(Kind.VALUE, "enum_entry", names=("<simple_identifier",)),
            **declare(Kind.VALUE, "property_declaration", names=("<variable_declaration/<simple_identifier",)),
        },
        comments=frozenset({"line_comment", "multiline_comment"}),
        trailers=frozenset({"getter", "setter"}),
        nesting=template_nesting,
    ),
    lexis=COMMON_LEXIS,
    is_matched=True,
    references=ReferenceRule(
        calls=("(call_expression . (_) @call)", "(infix_expression (_) (simple_identifier) @call (_))"),
        bases=(
            "(delegation_specifier (user_type (type_identifier) @base))",
            "(delegation_specifier (constructor_invocation (user_type (type_identifier) @base)))",
        ),
        skipped=(
            "(package_header (identifier (simple_identifier) @skip))",
            "(this_expression (type_identifier) @skip)",
        ),
        own_is_implied=True,
        constructors=frozenset({"constructor"}),
        argument_labels=r"\s*=(?!=)",
        reopened=r"\b(?:expect|actual)\b",
        members_apart=True,
        extensions=r"\bfun\s+(?:<[^()]*>\s*)?[\w.<>?*,: ]*\.\w+\s*\(",
        function_mark="::",
        is_overloaded=True,
        is_declared=True,
        types_follow=True,
        parameters=COLON_PARAMETER,
        types=(COLON_TYPE, CONSTRUCTED),
        has_bodies=True,
        lists=frozenset(
            "List MutableList Set MutableSet Collection MutableCollection Iterable Sequence Array ArrayList Flow".split()
        ),
        elements=frozenset(
            "[] first last firstOrNull lastOrNull find single singleOrNull random get getOrNull removeAt".split()
        ),
        same=frozenset(
            "filter filterNot sorted sortedBy sortedWith distinct take drop takeWhile dropWhile toList toSet asSequence".split()
        ),
        loops=(r"\bfor\s*\(\s*{name}\s+in\s+",),
        callbacks=(rf"\.(?:{'|'.join(_GIVEN_ELEMENTS)})\s*(?:\([^()]*\)\s*)?\{{\s*{{name}}\s*->",),
    ),
    imports=ImportRule(read_dotted, ("import_header",), places=statements("import")),
    exports=UNLESS_PRIVATE,
    own_names=TYPE_NAMES,
    resolver=JvmResolver,
    shares_folder=True,
    source_root=SOURCE_ROOT,
    is_named_by_tools=True,
    tests=Tests(
        file_names=suffixed_tests("kt"),
        libraries=(
            ("JUnit 5", r"org\.junit\.jupiter"),
            ("JUnit 4", r"org\.junit\.(?:Test|Assert|Before)"),
            ("kotlin.test", r"kotlin\.test"),
            ("Kotest", r"io\.kotest"),
            ("MockK", r"io\.mockk"),
        ),
        declared=JUNIT_TEST,
    ),
    errors=ErrorSyntax(
        declared=r"\bclass\s+(\w+)\s*(?:\([^()]*\))?\s*:\s*([\w.]+)\(",
        raised=r"\bthrow\s+([A-Z][\w.]*)",
    ),
)
