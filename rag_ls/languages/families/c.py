"""C and the languages that share its includes."""

from __future__ import annotations

import re
from itertools import pairwise

from rag_ls.languages.imports import ImportRule, read_include
from rag_ls.languages.language import UNLESS_STATIC, Language
from rag_ls.languages.patterns import COMMON_LEXIS
from rag_ls.languages.reference_rules import NEW, read_references
from rag_ls.languages.registry import IncludeResolver
from rag_ls.languages.syntax import Variant, read_syntax, words
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import replace

_NOISE = lazy_pattern(f"{COMMON_LEXIS.comments}|{COMMON_LEXIS.strings}".encode(), re.DOTALL)
_DIRECTIVE = lazy_pattern(rb"^[ \t]*#[ \t]*(\w+)((?:[^\n\\]|\\\r?\n|\\.)*)", re.MULTILINE)
# `G_BEGIN_DECLS`, `SHOP_NAMESPACE_END(v2)`: the grammar takes it for the type of what follows.
_BLOCK_MACRO = lazy_pattern(rb"^[A-Z_][A-Z0-9_]*(?:BEGIN|END)[A-Z0-9_]*(?:\([^()\n]*\))?(?=[ \t]*\r?$)", re.MULTILINE)
_BRACKET = lazy_pattern(rb"[{}()]")
_OPENING = {b"{": (b"{", 1), b"}": (b"{", -1), b"(": (b"(", 1), b")": (b"(", -1)}
_NO_LINE_END = lazy_pattern(rb"[^\r\n]")


def choose_branches(data: bytes) -> Variant:
    """The text with the first branch alone of each condition one of whose branches splits brackets, and the spans of the others."""
    data = _BLOCK_MACRO.sub(lambda found: _blank(found[0]), data)
    noiseless = _NOISE.sub(lambda found: _blank(found[0]), data)
    text, code = bytearray(data), bytearray(_DIRECTIVE.sub(lambda found: _blank(found[0]), noiseless))
    left_out: list[tuple[int, int]] = []
    opened: list[list[re.Match[bytes]]] = []
    for directive in _DIRECTIVE.finditer(noiseless):
        word = directive[1]
        if word in (b"if", b"ifdef", b"ifndef"):
            opened.append([directive])
        elif opened and word.startswith((b"el", b"endif")):
            opened[-1].append(directive)
        if not (opened and word == b"endif"):
            continue
        directives = opened.pop()
        spans = [(one.end(), other.start()) for one, other in pairwise(directives)]
        if all(_is_even(code[start:end]) for start, end in spans):
            continue
        others = spans[:1] if directives[0][2].strip() == b"0" else spans[1:]
        for start, end in (*others, *(each.span() for each in directives)):
            text[start:end], code[start:end] = _blank(text[start:end]), _blank(code[start:end])
        left_out += others
    return Variant(bytes(text), left_out)


def _is_even(code: bytes | bytearray) -> bool:
    """Whether each bracket is closed in the text, and none that is opened before it."""
    open_now = {b"{": 0, b"(": 0}
    for bracket in _BRACKET.findall(code):
        kind, step = _OPENING[bracket]
        open_now[kind] += step
        if open_now[kind] < 0:
            return False
    return not any(open_now.values())


def _blank(text: bytes | bytearray) -> bytes:
    return _NO_LINE_END.sub(b" ", bytes(text))


_SYNTAX = read_syntax("c")._replace(variant=choose_branches)

C_REFERENCES = read_references("c")
C = Language(
    "c", title="C", syntax=_SYNTAX, lexis=COMMON_LEXIS, is_matched=True, references=C_REFERENCES,
    imports=ImportRule(read_include, ("preproc_include",)), exports=UNLESS_STATIC, resolver=IncludeResolver,
)  # fmt: skip

_EXPORTED = (
    rb"(\b(?:class|struct|union)\s+(?:alignas\([^()]*\)\s*)?)([A-Z][A-Z0-9_]+(?:\([^()\n]*\))?)"
    rb"(?=\s+[A-Za-z_][\w:]*(?:<[^<>;{}]*>)?\s*(?:final\b\s*)?(?:\{|:(?!:)))"
)
"""A macro before the name of a class, which the grammar takes for the name: `class SHOP_EXPORT Cart {`."""
CPP = Language(
    "cpp", title="C++", syntax=_SYNTAX._replace(grammar="cpp", masked=_EXPORTED), lexis=COMMON_LEXIS, is_matched=True,
    references=C_REFERENCES._replace(
        members_apart=True, is_overloaded=True,
        calls=(
            "(call_expression function: (_) @call)", "(template_function name: (_) @call)", "(template_method name: (_) @call)",
            "(new_expression type: (_) @call)",
        ),
        bases=("(base_class_clause (_) @base)", "(base_class_clause (template_type name: (_) @base))"), own_is_implied=True,
        types=(*C_REFERENCES.types, NEW), wrappers=words("optional reference_wrapper shared_ptr unique_ptr weak_ptr"),
    ),
    imports=ImportRule(read_include, ("preproc_include",)), exports=UNLESS_STATIC, resolver=IncludeResolver,
)  # fmt: skip

CUDA = replace(CPP, name="cuda", title="CUDA", syntax=_SYNTAX._replace(grammar="cuda"), is_matched=False)
GLSL = replace(C, name="glsl", title="GLSL", syntax=_SYNTAX._replace(grammar="glsl"), is_matched=False)
HLSL = replace(C, name="hlsl", title="HLSL", syntax=_SYNTAX._replace(grammar="hlsl"), is_matched=False)
OBJECTIVE_C = Language(
    "objective-c",
    syntax=read_syntax("objective-c"),
    references=read_references("objective-c"),
    imports=ImportRule(read_include, ("preproc_include", "module_import")), exports=UNLESS_STATIC, resolver=IncludeResolver,
)  # fmt: skip

LANGUAGES = (C, CPP, CUDA, GLSL, HLSL, OBJECTIVE_C)
