"""Recognises a document's language by its name and text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from rag_ls.chunking.languages import by_alias, detect_language
from rag_ls.chunking.notebook_cells import read_notebook

HEAD = 16_384
"""At most this many characters from the beginning are read."""

_MODELINE_LINES = 5
_MAX_JSON = 1_000_000

_VIM = re.compile(
    r"(?:^|\s)(?:vi|vim|ex):\s*(?:set?\s+)?(?:[^:\n]*[\s:])?(?:ft|filetype|syntax)=([\w+-]+)", re.MULTILINE
)
_EMACS = re.compile(r"-\*-\s*(?:.*?\bmode:\s*([\w+-]+)|([\w+-]+)\s*-\*-)", re.IGNORECASE)

Choice = tuple[re.Pattern[str], str]
"""A pattern that occurs in texts of a language, and the language."""


def _choices(*rules: tuple[str, str]) -> tuple[Choice, ...]:
    return tuple((re.compile(pattern, re.MULTILINE), language) for pattern, language in rules)


_OBJECTIVE_C = r"^[ \t]*(?:@(?:interface|implementation|protocol|import|class|property|end)\b|#import\b)"
_CPP = (
    r"^[ \t]*(?:class\s+\w+[\s\w:]*[{;]|namespace\b|template\s*<|using\s+\w|public:|private:|protected:)|\bstd::"
    r"|^[ \t]*#include\s*<(?:string|vector|map|memory|iostream|cstdint|functional|optional|utility)>"
)
_XML = r"\A\ufeff?\s*<(?:\?xml|!DOCTYPE|\w+[\s>])"

_BY_SUFFIX: Mapping[str, tuple[Choice, ...]] = {
    "asc": _choices((r"\A-----BEGIN ", "text")),
    "cls": _choices((r"\\(?:NeedsTeXFormat|ProvidesClass)", "latex"), (r"^(?:VERSION |Attribute VB_)", "vb")),
    "cgi": _choices((r"\A#!.*perl", "perl"), (r"\A#!.*python", "python"), (r"\A#!.*sh\b", "bash")),
    "d": _choices((r"\A[^\s:#]+(?:\s+[^\s:#]+)*\s*:(?:\s|\\$)", "make")),
    "f": _choices((r"^(?:: |\\ |variable\s)", "forth")),
    "fs": _choices(
        (r"^[ \t]*(?:#version|precision\s|uniform\s|varying\s|void\s+main\s*\()", "glsl"), (r"^: \S+", "forth")
    ),
    "h": _choices((_OBJECTIVE_C, "objective-c"), (_CPP, "cpp")),
    "inc": _choices(
        (r"<\?php", "php"), (r"^[ \t]*(?:#include|#define|#if|typedef|static)\b", "cpp"), (r"^\w+\s*[?:+]?=", "make")
    ),
    "l": _choices((r"^%%\s*$", "lex"), (r"^\(", "lisp")),
    "m": _choices(
        (_OBJECTIVE_C + r"|^[ \t]*#(?:include|define|pragma)\b", "objective-c"),
        (r"^[ \t]*(?:function\b|classdef\b|%|end\s*;?\s*$|clear\b|clc\b|disp\()", "matlab"),
        (r"^[ \t]*:-\s*(?:module|interface)\b", "mercury"),
        (r"\(\*", "mathematica"),
    ),
    "ml": _choices((r"^[ \t]*(?:structure|signature|functor)\s+\w+.*=", "standard-ml")),
    "mod": _choices((r"\A\s*(?:MODULE|DEFINITION|IMPLEMENTATION)\b", "modula-2"), (r"^module\s+\S+\s*$", "go-module")),
    "php": (),
    "pl": _choices(
        (r"\A#!.*\bperl|^[ \t]*(?:use\s+(?:strict|warnings|v?5)|package\s+[\w:]+\s*;|sub\s+\w+|my\s+[$@%(])", "perl"),
        (r"\A#!.*(?:swipl|prolog)|^[ \t]*:-\s*\w+|^[a-z]\w*(?:\(.*\))?\s*:-|^[a-z]\w*\([^=]*\)\.\s*$", "prolog"),
    ),
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
    "t": _choices((r"^[ \t]*(?:use\s|my\s|sub\s)", "perl"), (r"^[ \t]*(?:local|terra)\s", "terra")),
    "ts": _choices((_XML, "xml")),
    "tsx": _choices((r"\A\ufeff?\s*<\?xml|\A\s*<tileset", "xml")),
    "v": _choices(
        (r"^[ \t]*(?:Require|Import|Export|Theorem|Lemma|Definition|Inductive|Fixpoint|Proof|Qed|Section)\b", "coq"),
        (r"^[ \t]*(?:module\s+\w+\s*[#(;]|endmodule|`(?:timescale|include|define)|always\s*@)", "verilog"),
    ),
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


def recognise(path: str, text: str) -> str | None:
    """The language of a document by its name, suffix, first line, modelines and contents, in this order.

    If several languages share a suffix, the text decides. None if the language is unknown; languages
    without a grammar are returned too. Only the beginning of the text is read, and its last lines for
    a modeline, so time does not grow with its length, except for JSON, which is parsed.
    """
    head = text[:HEAD]
    first = head.split("\n", 1)[0].rstrip("\r")
    suffix = path.replace("\\", "/").rpartition("/")[2].lower().rpartition(".")[2]
    if suffix == "ipynb" and read_notebook(text) is not None:
        return "notebook"
    by_text = _chosen(_BY_SUFFIX.get(suffix, ()), head) if "." in path else None
    if by_text is not None:
        return by_text
    by_name = detect_language(path)
    if by_name is not None and suffix not in _BY_SUFFIX:
        return by_name
    return _by_modeline(text) or by_name or detect_language("", first) or _by_content(text, head)


def _chosen(choices: tuple[Choice, ...], head: str) -> str | None:
    return next((language for pattern, language in choices if pattern.search(head)), None)


def _by_modeline(text: str) -> str | None:
    """The language of a Vim or Emacs modeline among the first and last lines."""
    for part in (text[:2000].split("\n")[:_MODELINE_LINES], text[-1000:].split("\n")[-_MODELINE_LINES:]):
        for line in part:
            match = _VIM.search(line[:500]) or _EMACS.search(line[:500])
            language = by_alias(next((word for word in match.groups() if word), "")) if match else None
            if language is not None:
                return language
    return None


def _by_content(text: str, head: str) -> str | None:
    return _chosen(_WITHOUT_NAME, head) or ("json" if _is_json(text) else None)


def _is_json(text: str) -> bool:
    if text.lstrip("\ufeff \t\r\n")[:1] not in ("{", "[") or len(text) > _MAX_JSON:
        return False
    try:
        json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return False
    return True
