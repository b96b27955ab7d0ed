"""Tells a document's language from its text, where its name does not: no name, or a suffix that several languages use."""

from __future__ import annotations

from rag_ls.languages.patterns import compile_lines

_OBJECTIVE_C = r"^[ \t]*(?:@(?:interface|implementation|protocol|import|class|property|end)\b|#import\b)"
_CPP = (
    r"^[ \t]*(?:class\s+\w+[\s\w:]*[{;]|namespace\b|template\s*<|using\s+\w|public:|private:|protected:)|\bstd::"
    r"|^[ \t]*#include\s*<(?:string|vector|map|memory|iostream|cstdint|functional|optional|utility)>"
)
_XML = r"\A\ufeff?\s*<(?:\?xml|!DOCTYPE|\w+[\s>])"
# A suffix, a language, and a pattern that occurs in its texts: the first that matches wins, else the suffix's usual language.
_CHOICES = (
    ("asc", "text", r"\A-----BEGIN "),
    ("cl", "opencl", r"\b(?:__)?kernel\s+void\b|\bget_global_id\b|^#(?:define|ifdef|include)\b"),
    ("cls", "latex", r"\\(?:NeedsTeXFormat|ProvidesClass)"),
    ("cls", "vb", r"^(?:VERSION |Attribute VB_)"),
    ("cgi", "perl", r"\A#!.*perl"),
    ("cgi", "python", r"\A#!.*python"),
    ("cgi", "bash", r"\A#!.*sh\b"),
    ("d", "make", r"\A\\?\s*[^\s:#/][^\s:#]*(?:[ \t]+[^\s:#]+)*[ \t]*:(?:[ \t].*|\\)?$(?!\n[ \t]*[*{])"),
    ("f", "forth", r"^(?:: |\\ |variable\s)"),
    ("fs", "glsl", r"^[ \t]*(?:#version|precision\s|uniform\s|varying\s|void\s+main\s*\()"),
    ("fs", "forth", r"^: \S+"),
    ("h", "objective-c", _OBJECTIVE_C),
    ("h", "cpp", _CPP),
    ("inc", "php", r"<\?php"),
    ("inc", "cpp", r"^[ \t]*(?:#include|#define|#if|typedef|static)\b"),
    ("inc", "make", r"^\w+\s*[?:+]?="),
    (
        "inc", "assembly",
        r"^[ \t]*(?:%(?:define|macro|ifdef|if|include)|\.(?:macro|equ|section|globa?l|include)|(?:mov|push|ret|lda|call)\b)",
    ),
    ("l", "lex", r"^%%\s*$"),
    ("l", "lisp", r"^\("),
    ("m", "objective-c", _OBJECTIVE_C + r"|^[ \t]*#(?:include|define|pragma)\b"),
    ("m", "matlab", r"^[ \t]*(?:function\b|classdef\b|%|end\s*;?\s*$|clear\b|clc\b|disp\()"),
    ("m", "mercury", r"^[ \t]*:-\s*(?:module|interface)\b"),
    ("m", "mathematica", r"\(\*"),
    ("m", "matlab", r"^[a-z]\w*\s*=[^={}\n]*$"),
    ("ml", "standard-ml", r"^[ \t]*(?:structure|signature|functor)\s+\w+.*="),
    ("mod", "modula-2", r"\A\s*(?:MODULE|DEFINITION|IMPLEMENTATION)\b"),
    ("mod", "go-module", r"^module\s+\S+\s*$"),
    ("pl", "perl", r"\A#!.*\bperl|^[ \t]*(?:use\s+(?:strict|warnings|v?5)|package\s+[\w:]+\s*;|sub\s+\w+|my\s+[$@%(])"),
    ("pl", "prolog", r"\A#!.*(?:swipl|prolog)|^[ \t]*:-\s*\w+|^[a-z]\w*(?:\(.*\))?\s*:-|^[a-z]\w*\([^=]*\)\.\s*$"),
    ("pp", "pascal", r"(?i)^(?:unit|program|library)\s+\w+\s*;"),
    ("pro", "qmake", r"^[ \t]*(?:QT|TEMPLATE|SOURCES|HEADERS|CONFIG|TARGET)\s*[+*]?="),
    ("pro", "proguard", r"^[ \t]*-(?:keep|dont)\w*"),
    ("r", "rebol", r"^[ \t]*(?:REBOL|Red)\s*\["),
    ("resource", "robot", r"^\*\*\*"),
    ("rs", "xml", _XML),
    ("sc", "supercollider", r"^[ \t]*(?:SynthDef|\w+\s*=\s*Synth)\b|\b~\w+\s*="),
    ("st", "structured-text", r"^[ \t]*(?:PROGRAM|FUNCTION_BLOCK|END_VAR)\b"),
    ("t", "text", r"^  \$ "),
    ("t", "perl", r"^[ \t]*(?:use\s|my\s|sub\s)"),
    ("t", "terra", r"^[ \t]*(?:local|terra)\s"),
    ("ts", "xml", _XML),
    ("tsx", "xml", r"\A\ufeff?\s*<\?xml|\A\s*<tileset"),
    (
        "v", "coq",
        r"^[ \t]*(?:Require|Import|Export|Theorem|Lemma|Definition|Inductive|Fixpoint|Proof|Qed|Section)\b"
        r"|^(?:From\s+\w|Module\s+\w+\s*\.)|\A\s*\(\*",
    ),
    ("v", "verilog", r"^[ \t]*(?:module\s+\w+\s*[#(;]|endmodule|`(?:timescale|include|define)|always\s*@)"),
    ("v", "v", r"^(?:pub\s+)?(?:fn|struct|enum|union|const|mut|__global)\b|^module\s+\w+\s*$"),
    ("vsh", "v", r"\A#!.*\bv\b"),
    ("y", "yacc", r"^%%\s*$"),
)  # fmt: skip
_SUFFIXES = frozenset(suffix for suffix, _, _ in _CHOICES) | {"php", "sql"}
"""The suffixes that several languages use; of some, a modeline alone tells."""
_WITHOUT_NAME = (
    ("diff", r"\A(?:diff --git |Index: |--- \S+.*\n\+\+\+ )"),
    ("postscript", r"\A%!PS"),
    ("php", r"\A\s*<\?php"),
    ("xml", r"\A\ufeff?\s*<\?xml"),
    ("html", r"(?i)\A\ufeff?\s*(?:<!--.*?-->\s*)?<(?:!doctype html|html|head|body)\b"),
    ("xml", r"\A\s*<svg\b"),
    ("yaml", r"\A---\s*\n[\w.-]+:(?:\s|$)"),
    ("dockerfile", r"\A(?:FROM|ARG) \S+.*\n(?:.*\n)*?(?:RUN|COPY|CMD|ENTRYPOINT) "),
    ("ini", r"\A\[[\w.\"-]+\]\s*\n[\w-]+\s*="),
)  # fmt: skip


def is_ambiguous(suffix: str) -> bool:
    """Return whether several languages use a suffix."""
    return suffix in _SUFFIXES


def choose_language(suffix: str, head: str) -> str | None:
    """Return the language of a text whose suffix several use; None where nothing speaks against the suffix's usual language."""
    choices = (choice for choice in _CHOICES if choice[0] == suffix)
    return next((language for _, language, pattern in choices if compile_lines(pattern).search(head)), None)


def guess_language(head: str) -> str | None:
    """Return the language of a text without a name that tells it; None if unknown."""
    return next((language for language, pattern in _WITHOUT_NAME if compile_lines(pattern).search(head)), None)
