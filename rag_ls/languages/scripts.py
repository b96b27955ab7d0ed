"""The parts that JavaScript, TypeScript and TSX share, and Vue's and Svelte's documents with them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from rag_ls.languages.comments import QUOTED, SLASHED_COMMENTS, TAGGED, Lexis
from rag_ls.languages.conventions import (
    EXTENDING_CLASS,
    THROWN_CLASS,
    ErrorSyntax,
    Tests,
)
from rag_ls.languages.exports import ExportRule, head_words
from rag_ls.languages.import_readers import SLASH_COMMENT, STRING, first_word, split_list
from rag_ls.languages.import_rules import ImportPlaces, ImportRule, Statement, Taken, UseRule
from rag_ls.languages.javascript_resolver import JavaScriptResolver
from rag_ls.languages.language import Language
from rag_ls.languages.markup import TAG_IMPORTS, markup_syntax
from rag_ls.languages.reference_rules import COLON_TYPE, NEW, ReferenceRule
from rag_ls.languages.syntax import Declaration, Kind, Syntax, declare

# --- declarations

_FUNCTIONS = frozenset({"arrow_function", "function_expression", "function", "generator_function"})

_DECLARATIONS = {
    **declare(Kind.TYPE, "class_declaration", "class", "abstract_class_declaration", "interface_declaration"),
    **declare(Kind.TYPE, "enum_declaration", "type_alias_declaration"),
    **declare(Kind.FUNCTION, "function_declaration", "generator_function_declaration", "function_signature"),
    **declare(Kind.FUNCTION, "method_definition", "method_signature", names=("name", "!computed")),
    **declare(Kind.FUNCTION, "abstract_method_signature", names=("name", "!computed")),
    **declare(Kind.SCOPE, "internal_module", "module"),
    "ambient_declaration": (
        Declaration(Kind.SCOPE, ("=global",), when=("<statement_block", frozenset({"statement_block"}))),
    ),
    **declare(Kind.VALUE, "public_field_definition", "property_signature", names=("name", "!computed")),
    **declare(Kind.VALUE, "field_definition", names=("property", "name")),
    "variable_declarator": (
        Declaration(Kind.FUNCTION, ("name",), when=("value", _FUNCTIONS)),
        Declaration(Kind.TYPE, ("name",), when=("value", frozenset({"class"}))),
        Declaration(Kind.VALUE, ("name",)),
    ),
    "assignment_expression": (
        Declaration(Kind.FUNCTION, ("!computed", "left"), when=("right", _FUNCTIONS)),
        Declaration(Kind.TYPE, ("left",), when=("right", frozenset({"class"}))),
    ),
    "pair": (Declaration(Kind.FUNCTION, ("key",), when=("value", _FUNCTIONS)),),
}


def script_syntax(grammar: str) -> Syntax:
    """The syntax of one of the grammars."""
    wrappers = {"export_statement", "lexical_declaration", "variable_declaration", "expression_statement"}
    return Syntax(
        grammar=grammar,
        declarations=_DECLARATIONS,
        wrappers=frozenset(wrappers | {"ambient_declaration"}),
        comments=frozenset({"comment", "html_comment"}),
        attributes=frozenset({"decorator"}),
        lambdas=_FUNCTIONS,
    )


# --- imports

_NAMESPACE = r"\*\s*as\s+([\w$]+)"
_ASSIGNED = rb"\b(?:const|let|var)\s+([\w$]+)\s*(?::[^=]{1,80})?=\s*(?:await\s*)?$"
_TAKEN_APART = rb"\b(?:const|let|var)\s*\{([^{}]{1,400})\}\s*=\s*(?:await\s*)?$"


def _read_import(text: str) -> Iterator[Taken]:
    strings = list(re.finditer(STRING, text))
    if not strings:
        return
    module = strings[-1] if text.startswith(("import ", "import{", "export")) else strings[0]
    head = re.sub(SLASH_COMMENT, " ", text[: module.start()])
    if re.match(r"(?:import|require)\s*\(", head) or "=" in head:
        yield module[2], ()
        return
    yield module[2], tuple(_names_in(head))


def _names_in(head: str) -> Iterator[str]:
    clause = re.sub(r"^(?:import|export)\s*(?:type\b|typeof\b)?|\bfrom\s*$", "", head).strip()
    braces = re.search(r"\{(.*)\}", clause, re.DOTALL)
    outer = clause if braces is None else clause.replace(braces[0], "")
    for part in split_list(outer):
        yield "*" if part.startswith("*") else "default"
    for part in split_list(braces[1]) if braces else ():
        yield first_word(part.removeprefix("type "))


def _with_names(statement: Statement) -> Statement:
    """An import by `require`, with the names that the assignment takes from the module."""
    taken = re.search(_TAKEN_APART, statement.before) if not statement.imported.names else None
    if taken is None:
        return statement
    names = [part.split(":")[0].split("=")[0].strip() for part in taken[1].decode("utf-8", "ignore").split(",")]
    kept = tuple(name for name in names if re.fullmatch(r"[\w$]+", name))
    return statement._replace(imported=replace(statement.imported, names=kept))


def _bindings(statement: Statement) -> Iterator[tuple[str, str]]:
    namespace = re.search(_NAMESPACE, statement.text)
    if namespace:
        yield namespace[1], ""
        return
    assigned = re.search(_ASSIGNED, statement.before)
    if assigned and not statement.imported.names:
        yield assigned[1].decode(), ""
        return
    renamed = statement.aliases()
    yield from ((renamed.get(name, name), name) for name in statement.imported.names if name not in ("*", "default"))


_PLACES = ImportPlaces(
    (b"from", b"import", b"require"),
    re.compile(rb"[^\n]*?\b(?:from|(?:import|require)\s*(?:\?\.)?\(?)(?:\s|/\*[^*]*\*/|//[^\n]*\n)*[\"'`]"),
)
IMPORTS = ImportRule(
    _read_import,
    ("import_statement",),
    (
        "(export_statement source: (_)) @call",
        "(call_expression function: (identifier) arguments: (arguments . (string))) @call",
        "(call_expression function: (import) arguments: (arguments . (string))) @call",
    ),
    (b"require", b"import", b"export"),
    _PLACES,
)
USES = UseRule(r"\??\.", _bindings, _with_names)

# --- uses of names

_CALLS = (
    "(call_expression function: (_) @call)",
    "(call_expression function: (super) @name @call)",
    "(new_expression constructor: (_) @call)",
)
_BASES = ("(class_heritage (_) @base)",)
_TYPED_BASES = (
    "(extends_clause value: (_) @base)",
    "(implements_clause (_) @base)",
    "(implements_clause (generic_type name: (_) @base))",
    "(extends_type_clause type: (_) @base)",
    "(extends_type_clause type: (generic_type name: (_) @base))",
)


_LISTS = frozenset("Array ReadonlyArray Set ReadonlySet Iterable AsyncIterable IterableIterator Generator".split())
_CALLING = "map|forEach|filter|find|findLast|findIndex|some|every|flatMap"
"""The methods of a list that call a function with each element."""


_TYPE_USES = (
    r"(?:[:<]|(?<![|&])[|&]|=>|\b(?:as|implements|keyof|is|satisfies)|(?:\binterface\b|<)[^{]*\bextends|\btype\s[^=]*=)\s*"
    r"\0(?!\s*(?:\.|\(|\[[^\]]))|(?<!typeof )\0\s*(?:[<>]|\[\]|[|&](?![|&]))"
)


def _make_reference_rule(language: str) -> ReferenceRule:
    symbols = [
        "(pair key: (property_identifier) @key)",
        "(object (method_definition name: (property_identifier) @key))",
        "(object (shorthand_property_identifier) @shorthand)",
        "(pair_pattern key: (property_identifier) @taken)",
        "(shorthand_property_identifier_pattern) @taken",
    ]
    if language != "javascript":
        symbols.append("(lookup_type (literal_type (string (string_fragment) @index)))")
    if language != "typescript":
        symbols.append("(jsx_attribute (property_identifier) @attribute)")
    return ReferenceRule(
        library=r"node:",
        has_aliases=True,
        calls=_CALLS,
        bases=_BASES if language == "javascript" else _TYPED_BASES,
        skipped=(
            "(function_expression name: (identifier) @skip)",
            "(generator_function name: (identifier) @skip)",
        ),
        # Members of what an object or element is, and no names of the document: `const { key: name } = cart`, `<Cart key={name} />`.
        symbols=tuple(symbols),
        imports=("(export_statement source: (_)) @import",),
        own=frozenset({"this"}),
        renamed=r"\bexport\s*\{[^{}]*?\b([\w$]+)\s+as\s+{name}\b[^{}]*\}(?!\s*from)",
        aliases=(
            r"\*\s*as\s+([\w$]+)",
            r"\b(?:const|let|var)\s+([\w$]+)\s*(?::[^=]+)?=\s*(?:await\s+)?(?:require|import)\b",
        ),
        parents=frozenset({"super"}),
        types=(COLON_TYPE, NEW),
        lists=_LISTS,
        wrappers=frozenset({"Promise", "PromiseLike", "Awaited", "Readonly", "NonNullable", "Required", "Partial"}),
        elements=frozenset("[] find findLast at pop shift".split()),
        same=frozenset("filter slice concat sort reverse toSorted toReversed splice values".split()),
        loops=(r"\bfor\s*(?:await\s*)?\(\s*(?:const|let|var)\s+{name}\s+of\s+",),
        callbacks=(rf"\??\.(?:{_CALLING})\(\s*(?:async\s*)?(?:function\s*\w*\s*)?\(?\s*{{name}}\s*(?:[,):]|=>)",),
        results=r"(?:\breturn\s+|=>\s*(?![{\s]))([^\n;]+(?:\n\s*\.[^\n;]+)*)",
        reaches_through_bases=True,
        constructors=frozenset({"constructor"}),
        chained=frozenset({"super"}),
        pure_types=r"\b(?:interface|type)\b",
        type_uses=_TYPE_USES,
        global_scope="global",
        global_files=r"\.d\.[cm]?ts$",
    )


# --- exports

_EXPORT_LIST = rb"\bexport\s*(?:type\s*)?\{([^{}]*)\}(?!\s*from)|\bmodule\.exports\s*=\s*\{([^{}]*)\}"
_EXPORT_NAME = rb"(?m)\bexport\s+default\s+([\w$]+)\s*;?\s*$|\bmodule\.exports\s*=\s*([\w$]+)"
_IDENTIFIER = rb"([\w$]+)"


def exported_names(data: bytes) -> frozenset[str]:
    """The names that a JavaScript module exports in a statement apart from their declarations."""
    names = [name for match in re.finditer(_EXPORT_NAME, data) for name in match.groups() if name]
    for match in re.finditer(_EXPORT_LIST, data):
        for part in (match[1] or match[2] or b"").split(b","):
            name = re.match(_IDENTIFIER, part.strip())
            names += [name[1]] if name else []
    return frozenset(name.decode() for name in names)


def _is_exported(name: str, signature: str, member: bool) -> bool:
    """Whether a member is exported, or a declaration of `exports.name`; statements and lists export all others."""
    if not member:
        return name.startswith(("exports.", "module.exports."))
    return not name.startswith("#") and not head_words(signature) & {"private"}


EXPORTS = ExportRule(_is_exported, names_in=exported_names)

# --- conventions

_STRINGS = QUOTED + r"|`(?:[^`\\]|\\.)*`"
LEXIS = Lexis(comments=SLASHED_COMMENTS, strings=_STRINGS)
MARKUP_LEXIS = Lexis(comments=SLASHED_COMMENTS + r"|<!--.*?(?:-->|\Z)", strings=_STRINGS)
TESTS = Tests(
    file_names=((r"*.\1.\2", r"\.((?:\w+-)?(?:test|spec))\.([cm]?[jt]sx?)$"),),
    libraries=(
        ("Vitest", r"from [\"']vitest[\"']"),
        ("Jest", r"@jest/globals|\bjest\.\w"),
        ("node:test", r"[\"']node:test[\"']"),
        ("Playwright", r"@playwright/test"),
        ("Mocha", r"[\"']mocha[\"']"),
        ("Chai", r"[\"']chai[\"']"),
        ("Testing Library", r"@testing-library/"),
        ("Cypress", r"\bcy\.\w"),
        ("supertest", r"[\"']supertest[\"']"),
        ("`describe` blocks", r"^[ \t]*describe(?:\.\w+)?\("),
    ),
    declared=r"^[ \t]*(?:it|test|describe)(?:\.\w+)?\(\s*[\"'`]",
)
ERRORS = ErrorSyntax(declared=EXTENDING_CLASS, raised=THROWN_CLASS)


def make_script_language(
    name: str,
    title: str,
    *,
    suffixes: tuple[str, ...],
    file_names: tuple[str, ...] = (),
    interpreters: tuple[str, ...] = (),
    script_types: tuple[str, ...] = (),
) -> Language:
    """One of the family, whose grammar has the name of the language."""
    return Language(
        name=name,
        title=title,
        family="typescript",
        suffixes=suffixes,
        file_names=file_names,
        interpreters=interpreters,
        script_types=script_types,
        syntax=script_syntax(name),
        lexis=LEXIS,
        is_matched=True,
        references=_make_reference_rule(name),
        imports=IMPORTS,
        uses=USES,
        exports=EXPORTS,
        resolver=JavaScriptResolver,
        tests=TESTS,
        errors=ERRORS,
    )


def make_component_language(name: str, title: str) -> Language:
    """Markup with scripts of the family in it, with the suffix and the grammar of its name."""
    return Language(
        name=name,
        title=title,
        family="typescript",
        suffixes=(name,),
        syntax=markup_syntax(name),
        is_markup=True,
        comments=TAGGED,
        lexis=MARKUP_LEXIS,
        imports=TAG_IMPORTS,
        resolver=JavaScriptResolver,
        tests=TESTS,
        errors=ERRORS,
    )
