"""Functional languages. Of Lisps but Clojure, a declaration is a list that begins a line, and ends before the next one that does."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.conventions import read_tests
from rag_ls.languages.imports import ImportRule, Taken, first_words, import_calls, read_match, read_qualified
from rag_ls.languages.language import ExportRule, Language
from rag_ls.languages.line_rules import read_line_rule
from rag_ls.languages.patterns import DASHED, HASHED, QUOTED, TRIPLE_QUOTED, Comments, Lexis
from rag_ls.languages.reference_rules import NAMES, ReferenceRule, read_references
from rag_ls.languages.registry import resolve_by_file
from rag_ls.languages.syntax import read_syntax, words
from rag_ls.util.records import replace

# `type_synomym` is the grammar's own spelling.
HASKELL = Language(
    "haskell",
    syntax=read_syntax("haskell"),
    comments=DASHED, has_single_quotes=False, is_matched=True,
    references=ReferenceRule(calls=("(apply function: (_) @call)",), names=words("variable constructor name")),
    imports=ImportRule(read_qualified, ("import",)),
)  # fmt: skip

ELM = Language(
    "elm",
    syntax=read_syntax("elm"),
    comments=DASHED, has_single_quotes=False,
    references=read_references("elm"),
    imports=ImportRule(read_qualified, ("import_clause",)),
)  # fmt: skip


OCAML = Language(
    "ocaml",
    syntax=read_syntax("ocaml"),
    comments=Comments(pattern=r"\(\*.*?\*\)", start="(* ", end=" *)"), has_single_quotes=False,
    references=read_references("ocaml"),
    imports=ImportRule(read_match(r"^(?:open|include)!?\s+(?:type\s+)?([\w.]+)", "*"), ("open_module", "include_module")),
)  # fmt: skip


def _read_erlang_import(text: str) -> Iterator[Taken]:
    match = re.match(r"-\s*(?:include|include_lib|import)\s*\(\s*(?:\"([^\"]+)\"|(\w+))", text)
    if match:
        yield match[1] or match[2], tuple(re.findall(r"(\w+)/\d", text)) if match[2] else ()


ERLANG = Language(
    "erlang",
    syntax=read_syntax("erlang"),
    comments=Comments(pattern=r"%[^\n]*", start="% "), references=ReferenceRule(calls=("(call expr: (_) @call)",), names=words("atom")),
    imports=ImportRule(_read_erlang_import, ("pp_include", "pp_include_lib", "import_attribute")),
)  # fmt: skip


def _read_elixir_import(text: str) -> Iterator[Taken]:
    match = re.match(r"\w+\s*\(?\s*([\w.]+)(?:\.?\{([^}]*)\})?", text)
    if match is None:
        return
    module = match[1].rstrip(".")
    inner = [f"{module}.{name}" for name in first_words(match[2] or "")]
    yield from ((name, ()) for name in inner or [module])


ELIXIR = Language(
    "elixir", title="Elixir",
    syntax=read_syntax("elixir"),
    comments=HASHED, lexis=Lexis(comments=TRIPLE_QUOTED + r"|(?<!\w)#(?!\{)[^\n]*", strings=QUOTED), is_matched=True,
    references=read_references("elixir"),
    imports=import_calls(_read_elixir_import, "call target: (identifier)", "alias", "import", "use", "require"),
    exports=ExportRule(
        lambda _name, signature, _member: not signature.startswith(("defp ", "defmacrop ", "defguardp ")),
    ),
    is_named_by_tools=True,
    tests=read_tests("elixir"),
)  # fmt: skip


def _read_gleam_import(text: str) -> Iterator[Taken]:
    match = re.match(r"import\s+([\w/]+)(?:\.\{([^}]*)\})?", text)
    if match:
        yield match[1], first_words((match[2] or "").replace("type ", ""))


GLEAM = Language(
    "gleam",
    syntax=read_syntax("gleam"),
    references=ReferenceRule(calls=("(function_call function: (_) @call)",), names=NAMES | {"label", "type_name", "constructor_name"}),
    imports=ImportRule(_read_gleam_import, ("import",)),
)  # fmt: skip


NIX = Language(
    "nix",
    syntax=read_syntax("nix"),
    comments=HASHED, is_indented=True, is_matched=True, references=ReferenceRule(calls=("(apply_expression function: (_) @call)",)),
    imports=import_calls(read_match(r"^import\s+([^\s;(){}]+)"), "apply_expression", "import"),
)  # fmt: skip


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
    tests=read_tests("clojure"),
)  # fmt: skip


def _read_lisp_import(text: str) -> Iterator[Taken]:
    for names in re.findall(r"(?::use|:import-from|:depends-on|use-package|require|quickload)\s+\(?([^()]*)", text):
        yield from ((word, ()) for word in re.findall(r"[#:'\"]*([\w./+-]+)", names))


LISP = Language(
    "lisp", title="Common Lisp",
    lines=read_line_rule("lisp"),
    comments=LISP_COMMENTS, has_single_quotes=False, references=ReferenceRule(is_open=True), imports=ImportRule(_read_lisp_import),
)  # fmt: skip

SCHEME = Language(
    "scheme", title="Scheme", lines=read_line_rule("scheme"), comments=LISP_COMMENTS, has_single_quotes=False,
    references=ReferenceRule(is_open=True), imports=ImportRule(read_scheme_import),
)  # fmt: skip
RACKET = replace(SCHEME, name="racket", title="Racket")
EMACS_LISP = Language(
    "emacs-lisp", title="Emacs Lisp",
    lines=read_line_rule("emacs-lisp"),
    comments=LISP_COMMENTS, has_single_quotes=False, references=ReferenceRule(is_open=True),
    imports=ImportRule(lambda text: ((module, ()) for module in re.findall(r"\((?:require|load)\s+['\"]([\w./+-]+)", text))),
    exports=ExportRule(lambda name, _signature, _member: "--" not in name), is_named_by_tools=True,
    resolver=resolve_by_file(lambda module: [module.removesuffix(".el") + ".el"]),
)  # fmt: skip

LANGUAGES = (HASKELL, ELM, OCAML, ERLANG, ELIXIR, GLEAM, NIX, CLOJURE, LISP, SCHEME, RACKET, EMACS_LISP)
