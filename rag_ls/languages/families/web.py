"""JavaScript, TypeScript and TSX; HTML, and the documents of Vue and Svelte; styles."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.conventions import EXTENDING_CLASS, THROWN_CLASS, ErrorSyntax, read_tests
from rag_ls.languages.families.javascript_resolver import JavaScriptResolver
from rag_ls.languages.imports import (
    SLASH_COMMENT,
    STRING,
    ImportRule,
    Statement,
    Taken,
    UseRule,
    first_word,
    read_stylesheet,
    split_list,
)
from rag_ls.languages.language import ExportRule, Language, head_words
from rag_ls.languages.patterns import QUOTED, SLASHED, SLASHED_COMMENTS, TAGGED, Comments, Lexis
from rag_ls.languages.reference_rules import read_references
from rag_ls.languages.registry import IncludeResolver
from rag_ls.languages.syntax import read_syntax
from rag_ls.util.records import replace

_SCRIPT, _MARKUP = read_syntax("javascript"), read_syntax("html")
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


IMPORTS = ImportRule(
    _read_import, ("import_statement",),
    (
        "(export_statement source: (_)) @call", "(call_expression function: (identifier) arguments: (arguments . (string))) @call",
        "(call_expression function: (import) arguments: (arguments . (string))) @call",
    ),
    (b"require", b"import", b"export"), (b"from '", b'from "', b"import", b"require"),
)  # fmt: skip
USES = UseRule(r"\??\.", _bindings, _with_names)
_TYPED_BASES = (
    "(extends_clause value: (_) @base)", "(implements_clause (_) @base)", "(implements_clause (generic_type name: (_) @base))",
    "(extends_type_clause type: (_) @base)", "(extends_type_clause type: (generic_type name: (_) @base))",
)  # fmt: skip
# Members of what an object or element is, and no names of the document: `const { key: name } = cart`, `<Cart key={name} />`.
_SYMBOLS = (
    "(pair key: (property_identifier) @key)", "(object (method_definition name: (property_identifier) @key))",
    "(object (shorthand_property_identifier) @shorthand)", "(pair_pattern key: (property_identifier) @key)",
    "(shorthand_property_identifier_pattern) @shorthand",
)  # fmt: skip
_TYPED_SYMBOLS = ("(lookup_type (literal_type (string (string_fragment) @key)))",)
_ELEMENT_SYMBOLS = ("(jsx_attribute (property_identifier) @key)",)
REFERENCES = read_references("javascript")

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
_STRINGS = QUOTED + r"|`(?:[^`\\]|\\.)*`"
LEXIS = Lexis(comments=SLASHED_COMMENTS, strings=_STRINGS)
MARKUP_LEXIS = Lexis(comments=SLASHED_COMMENTS + r"|<!--.*?(?:-->|\Z)", strings=_STRINGS)
TESTS = read_tests("javascript")
ERRORS = ErrorSyntax(declared=EXTENDING_CLASS, raised=THROWN_CLASS)


def _read_tag(text: str) -> Iterator[Taken]:
    """The `src` of a script, the `href` of a link."""
    tag = re.match(r"<(script|link)\b[^>]*", text, re.IGNORECASE)
    if tag:
        wanted = "src" if tag[1].lower() == "script" else "href"
        match = re.search(rf"\s{wanted}\s*=\s*(?:\"([^\"]+)\"|'([^']+)'|([^\s\"'>]+))", tag[0], re.IGNORECASE)
        if match:
            yield next(value for value in match.groups() if value), ()


TAG_IMPORTS = ImportRule(_read_tag, ("script_element",), ("(element) @call",), (b"<link", b"<LINK"))


JAVASCRIPT = Language(
    "javascript", title="JavaScript", syntax=_SCRIPT, lexis=LEXIS, is_matched=True,
    references=REFERENCES, imports=IMPORTS, uses=USES, exports=EXPORTS, resolver=JavaScriptResolver, tests=TESTS, errors=ERRORS,
)  # fmt: skip
TYPESCRIPT = replace(
    JAVASCRIPT, name="typescript", title="TypeScript", syntax=_SCRIPT._replace(grammar="typescript"),
    references=REFERENCES._replace(bases=_TYPED_BASES, symbols=_SYMBOLS + _TYPED_SYMBOLS),
)  # fmt: skip
# Its grammar reads JSX too.
TSX = replace(
    JAVASCRIPT, name="tsx", title="TSX", syntax=_SCRIPT._replace(grammar="tsx"),
    references=REFERENCES._replace(bases=_TYPED_BASES, symbols=_SYMBOLS + _TYPED_SYMBOLS + _ELEMENT_SYMBOLS),
)  # fmt: skip
HTML = Language(
    "html", syntax=_MARKUP, is_markup=True, comments=TAGGED, is_matched=True, imports=TAG_IMPORTS,
    resolver=JavaScriptResolver,
)  # fmt: skip
VUE = replace(
    HTML, name="vue", title="Vue", syntax=_MARKUP._replace(grammar="vue"), is_matched=False, lexis=MARKUP_LEXIS, tests=TESTS, errors=ERRORS,
)  # fmt: skip
SVELTE = replace(VUE, name="svelte", title="Svelte", syntax=_MARKUP._replace(grammar="svelte"))

CSS = Language(
    "css",
    syntax=read_syntax("css"),
    comments=Comments(pattern=SLASHED.pattern, start="/* ", end=" */"), is_matched=True,
    imports=ImportRule(read_stylesheet, ("import_statement",)), resolver=IncludeResolver,
)  # fmt: skip

SCSS = Language(
    "scss",
    syntax=read_syntax("scss"),
    imports=ImportRule(read_stylesheet, ("import_statement", "use_statement", "forward_statement")), resolver=IncludeResolver,
)  # fmt: skip


LANGUAGES = (JAVASCRIPT, TYPESCRIPT, TSX, HTML, VUE, SVELTE, CSS, SCSS)
