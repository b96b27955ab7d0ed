"""Lisps. But for Clojure, a declaration is a list that begins a line, and ends before the next one that does."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.imports import ImportRule, Taken, import_calls
from rag_ls.languages.language import ExportRule, Language
from rag_ls.languages.line_rules import LineRule
from rag_ls.languages.patterns import Comments, Tests
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.resolvers import resolve_by_file
from rag_ls.languages.syntax import Syntax, declare, words
from rag_ls.util.records import replace

LISP_COMMENTS = Comments(pattern=r";[^\n]*", start=";; ")
_NAME = rb"[^\s()\[\]{}\"';,`|]+"


def make_lisp_rule(declared: bytes, imported: bytes, docstring: bytes = b"", in_names: bytes = b":") -> LineRule:
    """Return the rule of one Lisp; `NAME` stands for a name in `declared`, `in_names` are further characters within one."""
    name = rb"[A-Za-z_*+!?%&$<>=/.~^-][\w*+!?%&$<>=/.~^@" + in_names + rb"-]*"
    return LineRule(
        declared.replace(b"NAME", _NAME),
        # A character is none of what it looks like: `?"`, `#\\(`.
        noise=rb"[?#]\\.|\?[\"';(]|;[^\n]*|#\|(?s:.*?)(?:\|#|\Z)|\"(?:[^\"\\]|\\(?s:.))*+(?:\"|\Z)",
        closing=rb"[)\]]", going_on=rb"", attributes=rb"\(declaim\b", imported=imported, names=name, called=rb"(?!)",
        calls=rb"(?<!')[(\[](?!def)(?:[\w.-]+::?)?(" + name + rb")|#'(" + name + rb")", docstring=docstring,
    )  # fmt: skip


SCHEME_RULE = make_lisp_rule(
    declared=(
        rb"^[ \t]*+[(\[]define-(?:record-type|structure|class|struct)[ \t]+[(<]*(?P<type>NAME?)(?=[\s>)])"
        rb"|^[ \t]*+[(\[](?:struct|class)[ \t]+(?P<type2>NAME)"
        rb"|^[ \t]*+[(\[](?:define-library|library|define-module|module[+*]?)[ \t]+(?P<module>\([^()\n]+\)|NAME)"
        rb"|^[ \t]*+[(\[]define(?:-for-syntax|/contract|/public|/private|/override|/memo|[*])?[ \t]+[(\[]+(?P<function>NAME)"
        rb"|^[ \t]*+[(\[]define(?:-for-syntax|/contract|-public)?[ \t]+(?P<value>NAME)"
        rb"|^[ \t]*+[(\[]define-(?!values|library|module)[\w-]+[ \t]+[(\[]?(?P<function2>NAME)"
    ),
    imported=rb"^[ \t]*[(\[](?:import|require|use-modules|include)[ \t\n]+(?s:.){1,2000}?(?=\n[ \t]*\n|\n\(|\Z|\)[ \t]*$)",
)
"""Of Scheme and Racket."""


def read_scheme_import(text: str) -> Iterator[Taken]:
    """`(import (srfi 1))`, `(require racket/list "a.rkt")`."""
    body = re.sub(r"^[(\[][\w-]+", "", text)
    yield from ((" ".join(names.split()), ()) for names in re.findall(r"\(((?:[\w-]+\s*)+)\)", body) if " " in names)
    yield from (
        (word, ())
        for word in re.findall(r"(?<![\w(-])\"?([A-Za-z][\w./-]*)\"?(?![\w:-])", re.sub(r"\([^()]*\)", " ", body))
    )


_CLOJURE_NOISE = r'"(?:[^"\\]|\\.)*"|;[^\n]*'
_CLOJURE_LIBRARY = r"\[\s*([\w.*+!?-]+)([^\[\]]*)(?:\[([^\[\]]*)\][^\[\]]*)?\]"
_CLOJURE_BARE = r"(?<![\w.:/-])[a-z][\w-]*(?:\.[\w-]+)+"
_CLOJURE_SECTION = r"(?:require|use|import|require-macros)\b"


def _read_clojure_import(text: str) -> Iterator[Taken]:
    sections = re.sub(_CLOJURE_NOISE, " ", text, flags=re.DOTALL).split("(")
    # `(ns name (:require ...))` or `(require ...)`; lists of classes follow `(:import`.
    inside = False
    for section in sections:
        word = section.removeprefix(":")
        inside = bool(re.match(_CLOJURE_SECTION, word)) or (inside and word == section)
        if not inside:
            continue
        for match in re.finditer(_CLOJURE_LIBRARY, section):
            yield match[1], tuple((match[3] or "").split()) if ":refer" in match[2] else ()
        yield from ((module, ()) for module in re.findall(_CLOJURE_BARE, re.sub(_CLOJURE_LIBRARY, " ", section)))


CLOJURE = Language(
    "clojure", title="Clojure",
    syntax=Syntax("clojure", declare("""
        scope list_lit, names !second, when value is ns, listed module
        type list_lit, names !second, when value is definterface defprotocol defrecord deftype
        function list_lit, names !second, when value is definline defmacro defmethod defmulti defn defn- deftest
        value list_lit, names !second, when value is def defonce
    """), transparent=words("read_cond_lit"), docstrings=words("str_lit")),
    comments=LISP_COMMENTS, has_single_quotes=False,
    references=ReferenceRule(is_open=True, calls=("(list_lit . (sym_lit name: (_) @call))",), names=words("sym_name")),
    imports=import_calls(_read_clojure_import, "list_lit . (sym_lit)", "(ns", "(require", "(use", "(import"),
    exports=ExportRule(
        lambda _name, signature, _member: not re.match(
            r"\(defn-\s|\(\S+\s+\^(?::private\b|\{[^}]*:private\s+true)", signature,
        ),
    ),
    resolver=resolve_by_file(lambda module: [module.replace(".", "/").replace("-", "_") + end for end in (".clj", ".cljs", ".cljc")]),
    is_named_by_tools=True,
    tests=Tests(
        file_names=(("*_test.clj", r"_test\.(?:clj[cs]?|bb)$"),),
        libraries=(("clojure.test", r"\bclojure\.test\b"), ("Midje", r"\bmidje\.sweet\b")), declared=r"^[ \t]*\(deftest\b",
    ),
)  # fmt: skip


def _read_lisp_import(text: str) -> Iterator[Taken]:
    for names in re.findall(r"(?::use|:import-from|:depends-on|use-package|require|quickload)\s+\(?([^()]*)", text):
        yield from ((word, ()) for word in re.findall(r"[#:'\"]*([\w./+-]+)", names))


LISP = Language(
    "lisp", title="Common Lisp",
    lines=make_lisp_rule(
        in_names=b"",
        declared=(
            rb"^[ \t]*+\(def(?:class|struct|type|ine-condition)\*?[ \t]+\(?(?P<type>NAME)"
            rb"|^[ \t]*+\(def(?:package|system)[ \t]+[#:\"]*(?P<module>NAME)|^[ \t]*+\(asdf:defsystem[ \t]+[#:\"]*(?P<module2>NAME)"
            rb"|^[ \t]*+\(def(?:var|parameter|constant|global|ine-symbol-macro)[ \t]+(?P<value>NAME)"
            rb"|^[ \t]*+\((?:[\w-]+:)?def(?!ault)[\w*/-]*[ \t]+\(?(?:setf[ \t]+)?(?P<function>NAME)"
        ),
        imported=rb"^\((?:defpackage|uiop:define-package|(?:asdf:)?defsystem|use-package|require|ql:quickload)\b(?s:.){1,3000}?(?=\n\n|\n\(|\Z)",
        docstring=rb"[^\n\"]*+(?:\n[^\n\"]*+)?\n[ \t]++(?:\(:documentation[ \t\n]+)?(\"(?:[^\"\\]|\\(?s:.)){1,2500}\")",
    ),
    comments=LISP_COMMENTS, has_single_quotes=False, references=ReferenceRule(is_open=True), imports=ImportRule(_read_lisp_import),
)  # fmt: skip

SCHEME = Language(
    "scheme", title="Scheme", lines=SCHEME_RULE, comments=LISP_COMMENTS, has_single_quotes=False,
    references=ReferenceRule(is_open=True), imports=ImportRule(read_scheme_import),
)  # fmt: skip
RACKET = replace(SCHEME, name="racket", title="Racket")
EMACS_LISP = Language(
    "emacs-lisp", title="Emacs Lisp",
    lines=make_lisp_rule(
        declared=(
            rb"^[ \t]*+\((?:cl-)?def(?:class|struct|type)[ \t]+\(?(?P<type>NAME)"
            rb"|^[ \t]*+\((?:def(?:var|const|custom|face|group|var-local|var-keymap|image)|defvar-keymap)[ \t]+"
            rb"(?P<value>NAME)(?=[ \t]*[^\s)]|[ \t]*$)"
            rb"|^[ \t]*+\((?:(?:cl-)?def(?!ault)[\w*-]*|define-(?!key\b|obsolete|error)[\w-]+|[\w-]+-define-[\w-]+"
            rb"|ert-deftest)[ \t]+'?\(?(?P<function>NAME)"
        ),
        imported=rb"^[ \t]*\((?:require|load)[ \t]+[^()\n]+\)|\(eval-when-compile[ \t]+\(require[^()\n]+\)",
        docstring=rb"[^\n\"]*+(?:\n[^\n\"]*+)?\n[ \t]++(\"(?:[^\"\\]|\\(?s:.)){1,2500}\")",
    ),
    comments=LISP_COMMENTS, has_single_quotes=False, references=ReferenceRule(is_open=True),
    imports=ImportRule(lambda text: ((module, ()) for module in re.findall(r"\((?:require|load)\s+['\"]([\w./+-]+)", text))),
    exports=ExportRule(lambda name, _signature, _member: "--" not in name), is_named_by_tools=True,
    resolver=resolve_by_file(lambda module: [module.removesuffix(".el") + ".el"]),
)  # fmt: skip

LANGUAGES = (CLOJURE, LISP, SCHEME, RACKET, EMACS_LISP)
