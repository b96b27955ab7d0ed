"""Tells a document's language from its text, where its name does not: no name, or a suffix that several languages use."""

from __future__ import annotations

from collections.abc import Mapping

from rag_ls.languages.patterns import compile_lines

Choice = tuple[str, str]
"""A pattern that occurs in texts of a language, and the language."""


def _choices(*rules: Choice) -> tuple[Choice, ...]:
    return rules


_OBJECTIVE_C = r"^[ \t]*(?:@(?:interface|implementation|protocol|import|class|property|end)\b|#import\b)"
_CPP = (
    r"^[ \t]*(?:class\s+\w+[\s\w:]*[{;]|namespace\b|template\s*<|using\s+\w|public:|private:|protected:)|\bstd::"
    r"|^[ \t]*#include\s*<(?:string|vector|map|memory|iostream|cstdint|functional|optional|utility)>"
)
_XML = r"\A\ufeff?\s*<(?:\?xml|!DOCTYPE|\w+[\s>])"

_BY_SUFFIX: Mapping[str, tuple[Choice, ...]] = {
    "asc": _choices((r"\A-----BEGIN ", "text")),
    "cl": _choices((r"\b(?:__)?kernel\s+void\b|\bget_global_id\b|^#(?:define|ifdef|include)\b", "opencl")),
    "cls": _choices((r"\\(?:NeedsTeXFormat|ProvidesClass)", "latex"), (r"^(?:VERSION |Attribute VB_)", "vb")),
    "cgi": _choices((r"\A#!.*perl", "perl"), (r"\A#!.*python", "python"), (r"\A#!.*sh\b", "bash")),
    "d": _choices((r"\A\\?\s*[^\s:#/][^\s:#]*(?:[ \t]+[^\s:#]+)*[ \t]*:(?:[ \t].*|\\)?$(?!\n[ \t]*[*{])", "make")),
    "f": _choices((r"^(?:: |\\ |variable\s)", "forth")),
    "fs": _choices(
        (r"^[ \t]*(?:#version|precision\s|uniform\s|varying\s|void\s+main\s*\()", "glsl"), (r"^: \S+", "forth")
    ),
    "h": _choices((_OBJECTIVE_C, "objective-c"), (_CPP, "cpp")),
    "inc": _choices(
        (r"<\?php", "php"),
        (r"^[ \t]*(?:#include|#define|#if|typedef|static)\b", "cpp"),
        (r"^\w+\s*[?:+]?=", "make"),
        (
            r"^[ \t]*(?:%(?:define|macro|ifdef|if|include)|\.(?:macro|equ|section|globa?l|include)|(?:mov|push|ret|lda|call)\b)",
            "assembly",
        ),
    ),
    "l": _choices((r"^%%\s*$", "lex"), (r"^\(", "lisp")),
    "m": _choices(
        (_OBJECTIVE_C + r"|^[ \t]*#(?:include|define|pragma)\b", "objective-c"),
        (r"^[ \t]*(?:function\b|classdef\b|%|end\s*;?\s*$|clear\b|clc\b|disp\()", "matlab"),
        (r"^[ \t]*:-\s*(?:module|interface)\b", "mercury"),
        (r"\(\*", "mathematica"),
        (r"^[a-z]\w*\s*=[^={}\n]*$", "matlab"),
    ),
    "ml": _choices((r"^[ \t]*(?:structure|signature|functor)\s+\w+.*=", "standard-ml")),
    "mod": _choices((r"\A\s*(?:MODULE|DEFINITION|IMPLEMENTATION)\b", "modula-2"), (r"^module\s+\S+\s*$", "go-module")),
    "php": (),
    "pl": _choices(
        (r"\A#!.*\bperl|^[ \t]*(?:use\s+(?:strict|warnings|v?5)|package\s+[\w:]+\s*;|sub\s+\w+|my\s+[$@%(])", "perl"),
        (r"\A#!.*(?:swipl|prolog)|^[ \t]*:-\s*\w+|^[a-z]\w*(?:\(.*\))?\s*:-|^[a-z]\w*\([^=]*\)\.\s*$", "prolog"),
    ),
    "pp": _choices((r"(?i)^(?:unit|program|library)\s+\w+\s*;", "pascal")),
    "pro": _choices(
        (r"^[ \t]*(?:QT|TEMPLATE|SOURCES|HEADERS|CONFIG|TARGET)\s*[+*]?=", "qmake"),
        (r"^[ \t]*-(?:keep|dont)\w*", "proguard"),
    ),
    "r": _choices((r"^[ \t]*(?:REBOL|Red)\s*\[", "rebol")),
    "resource": _choices((r"^\*\*\*", "robot")),
    "rs": _choices((_XML, "xml")),
    "sc": _choices((r"^[ \t]*(?:SynthDef|\w+\s*=\s*Synth)\b|\b~\w+\s*=", "supercollider")),
    "sql": (),
    "st": _choices((r"^[ \t]*(?:PROGRAM|FUNCTION_BLOCK|END_VAR)\b", "structured-text")),
    "t": _choices(
        (r"^  \$ ", "text"), (r"^[ \t]*(?:use\s|my\s|sub\s)", "perl"), (r"^[ \t]*(?:local|terra)\s", "terra")
    ),
    "ts": _choices((_XML, "xml")),
    "tsx": _choices((r"\A\ufeff?\s*<\?xml|\A\s*<tileset", "xml")),
    "v": _choices(
        (
            r"^[ \t]*(?:Require|Import|Export|Theorem|Lemma|Definition|Inductive|Fixpoint|Proof|Qed|Section)\b"
            r"|^(?:From\s+\w|Module\s+\w+\s*\.)|\A\s*\(\*",
            "coq",
        ),
        (r"^[ \t]*(?:module\s+\w+\s*[#(;]|endmodule|`(?:timescale|include|define)|always\s*@)", "verilog"),
        (r"^(?:pub\s+)?(?:fn|struct|enum|union|const|mut|__global)\b|^module\s+\w+\s*$", "v"),
    ),
    "vsh": _choices((r"\A#!.*\bv\b", "v")),
    "y": _choices((r"^%%\s*$", "yacc")),
}
"""Choices for suffixes that several languages use: the first that matches wins, else the suffix's usual language."""

_WITHOUT_NAME = _choices(
    (r"\A(?:diff --git |Index: |--- \S+.*\n\+\+\+ )", "diff"),
    (r"\A%!PS", "postscript"),
    (r"\A\s*<\?php", "php"),
    (r"\A\ufeff?\s*<\?xml", "xml"),
    (r"(?i)\A\ufeff?\s*(?:<!--.*?-->\s*)?<(?:!doctype html|html|head|body)\b", "html"),
    (r"\A\s*<svg\b", "xml"),
    (r"\A---\s*\n[\w.-]+:(?:\s|$)", "yaml"),
    (r"\A(?:FROM|ARG) \S+.*\n(?:.*\n)*?(?:RUN|COPY|CMD|ENTRYPOINT) ", "dockerfile"),
    (r"\A\[[\w.\"-]+\]\s*\n[\w-]+\s*=", "ini"),
)


def is_ambiguous(suffix: str) -> bool:
    """Whether several languages use a suffix."""
    return suffix in _BY_SUFFIX


def choose_language(suffix: str, head: str) -> str | None:
    """The language of a text whose suffix several use; None where nothing speaks against the suffix's usual language."""
    return _choose_language(_BY_SUFFIX.get(suffix, ()), head)


def guess_language(head: str) -> str | None:
    """The language of a text without a name that tells it; None if unknown."""
    return _choose_language(_WITHOUT_NAME, head)


def _choose_language(choices: tuple[Choice, ...], head: str) -> str | None:
    return next((language for pattern, language in choices if compile_lines(pattern).search(head)), None)
