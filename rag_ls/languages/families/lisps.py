"""Lisps. But for Clojure, a declaration is a list that begins a line, and ends before the next one that does."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.imports import ImportRule, Taken, import_calls
from rag_ls.languages.language import ExportRule, Language
from rag_ls.languages.line_rules import line_rule
from rag_ls.languages.patterns import Comments, Tests
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.registry import resolve_by_file
from rag_ls.languages.syntax import read_syntax, words
from rag_ls.util.records import replace

LISP_COMMENTS = Comments(pattern=r";[^\n]*", start=";; ")


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
    syntax=read_syntax("clojure"),
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
    lines=line_rule("lisp"),
    comments=LISP_COMMENTS, has_single_quotes=False, references=ReferenceRule(is_open=True), imports=ImportRule(_read_lisp_import),
)  # fmt: skip

SCHEME = Language(
    "scheme", title="Scheme", lines=line_rule("scheme"), comments=LISP_COMMENTS, has_single_quotes=False,
    references=ReferenceRule(is_open=True), imports=ImportRule(read_scheme_import),
)  # fmt: skip
RACKET = replace(SCHEME, name="racket", title="Racket")
EMACS_LISP = Language(
    "emacs-lisp", title="Emacs Lisp",
    lines=line_rule("emacs-lisp"),
    comments=LISP_COMMENTS, has_single_quotes=False, references=ReferenceRule(is_open=True),
    imports=ImportRule(lambda text: ((module, ()) for module in re.findall(r"\((?:require|load)\s+['\"]([\w./+-]+)", text))),
    exports=ExportRule(lambda name, _signature, _member: "--" not in name), is_named_by_tools=True,
    resolver=resolve_by_file(lambda module: [module.removesuffix(".el") + ".el"]),
)  # fmt: skip

LANGUAGES = (CLOJURE, LISP, SCHEME, RACKET, EMACS_LISP)
