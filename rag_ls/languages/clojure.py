"""Clojure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import Comments
from rag_ls.languages.conventions import Tests
from rag_ls.languages.exports import ExportRule
from rag_ls.languages.import_rules import Taken, import_calls
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.source_tree import SourceTree, Target
from rag_ls.languages.syntax import Declaration, Kind, Syntax
from rag_ls.model import Import

_NOISE = r'"(?:[^"\\]|\\.)*"|;[^\n]*'
_LIBRARY = r"\[\s*([\w.*+!?-]+)([^\[\]]*)(?:\[([^\[\]]*)\][^\[\]]*)?\]"
_BARE = r"(?<![\w.:/-])[a-z][\w-]*(?:\.[\w-]+)+"
_SECTION = re.compile(r"(?:require|use|import|require-macros)\b")


def _read_import(text: str) -> Iterator[Taken]:
    sections = re.sub(_NOISE, " ", text, flags=re.DOTALL).split("(")
    # `(ns name (:require ...))` or `(require ...)`; lists of classes follow `(:import`.
    inside = False
    for section in sections:
        word = section.removeprefix(":")
        inside = bool(_SECTION.match(word)) or (inside and word == section)
        if not inside:
            continue
        for match in re.finditer(_LIBRARY, section):
            yield match[1], tuple((match[3] or "").split()) if ":refer" in match[2] else ()
        yield from ((module, ()) for module in re.findall(_BARE, re.sub(_LIBRARY, " ", section)))


def _is_public(_name: str, signature: str, _member: bool) -> bool:
    return not re.match(r"\(defn-\s|\(\S+\s+\^(?::private\b|\{[^}]*:private\s+true)", signature)


class ClojureResolver:
    """See `Resolver`: a namespace's parts are folders."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The documents of a namespace: one for each of the platforms."""
        end = imported.module.replace(".", "/").replace("-", "_")
        for suffix in ("clj", "cljs", "cljc"):
            yield from (Target(path, imported.names) for path in self._tree.find_ending(f"{end}.{suffix}", importer))


def _declare_list(kind: Kind, words: str, listed: str | None = None) -> Declaration:
    return Declaration(kind, ("!second",), when=("value", frozenset(words.split())), listed=listed)


CLOJURE = Language(
    name="clojure",
    title="Clojure",
    suffixes=("clj", "cljs", "cljc", "edn", "bb"),
    interpreters=("bb",),
    syntax=Syntax(
        grammar="clojure",
        declarations={
            "list_lit": (
                _declare_list(Kind.SCOPE, "ns", listed="module"),
                _declare_list(Kind.TYPE, "defrecord deftype defprotocol definterface"),
                _declare_list(Kind.FUNCTION, "defn defn- defmacro defmulti defmethod deftest definline"),
                _declare_list(Kind.VALUE, "def defonce"),
            ),
        },
        transparent=frozenset({"read_cond_lit"}),
        docstrings=frozenset({"str_lit"}),
    ),
    comments=Comments(pattern=r";[^\n]*", start=";; "),
    has_single_quotes=False,
    references=ReferenceRule(
        is_open=True, calls=("(list_lit . (sym_lit name: (_) @call))",), names=frozenset({"sym_name"})
    ),
    imports=import_calls(_read_import, "list_lit . (sym_lit)", "(ns", "(require", "(use", "(import"),
    exports=ExportRule(_is_public),
    resolver=ClojureResolver,
    is_named_by_tools=True,
    tests=Tests(
        file_names=(("*_test.clj", r"_test\.(?:clj[cs]?|bb)$"),),
        libraries=(("clojure.test", r"\bclojure\.test\b"), ("Midje", r"\bmidje\.sweet\b")),
        declared=r"^[ \t]*\(deftest\b",
    ),
)
