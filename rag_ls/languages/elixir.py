"""Elixir."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import HASHED, QUOTED, TRIPLE_QUOTED, Lexis
from rag_ls.languages.conventions import Tests
from rag_ls.languages.exports import ExportRule
from rag_ls.languages.import_readers import first_words
from rag_ls.languages.import_rules import Taken, import_calls
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import NAMES, ReferenceRule
from rag_ls.languages.syntax import Declaration, Kind, Syntax


def _read_import(text: str) -> Iterator[Taken]:
    match = re.match(r"\w+\s*\(?\s*([\w.]+)(?:\.?\{([^}]*)\})?", text)
    if match is None:
        return
    module = match[1].rstrip(".")
    inner = [f"{module}.{name}" for name in first_words(match[2] or "")]
    yield from ((name, ()) for name in inner or [module])


def _is_public(_name: str, signature: str, _member: bool) -> bool:
    return not signature.startswith(("defp ", "defmacrop ", "defguardp "))


ELIXIR = Language(
    name="elixir",
    title="Elixir",
    suffixes=("ex", "exs"),
    file_names=("mix.lock",),
    interpreters=("elixir", "iex"),
    syntax=Syntax(
        grammar="elixir",
        declarations={
            "call": (
                Declaration(
                    Kind.TYPE,
                    ("<arguments/<alias",),
                    when=("target", frozenset({"defmodule", "defprotocol", "defimpl"})),
                    listed="module",
                ),
                Declaration(
                    Kind.FUNCTION,
                    (
                        "<arguments/<call/target",
                        "<arguments/<binary_operator/left/target",
                        "<arguments/<binary_operator/left",
                        "<arguments/<identifier",
                    ),
                    when=(
                        "target",
                        frozenset({"def", "defp", "defmacro", "defmacrop", "defguard", "defdelegate"}),
                    ),
                ),
            ),
        },
        comments=frozenset({"comment", "unary_operator"}),
        docstrings=frozenset({"unary_operator"}),
        clauses=True,
    ),
    comments=HASHED,
    lexis=Lexis(comments=TRIPLE_QUOTED + r"|(?<!\w)#(?!\{)[^\n]*", strings=QUOTED),
    is_matched=True,
    references=ReferenceRule(
        is_open=True,
        is_dotted=True,
        calls=("(call target: (_) @call)",),
        # Each clause has one, and so has its specification.
        heads=rb"(?m)^[ \t]*(?:def\w*|@(?:spec|callback|macrocallback|typep?|opaque))[ \t]+([a-z_]\w*[?!]?)",
        names=NAMES | {"alias"},
        function_mark="&",
        declaring=r"(?:\bdef\w*|@(?:spec|callback|macrocallback))\s+$",
        bringing=r"\s*(?:import|use)\s",
        aliases=(r"{name}\s*,\s*as:\s*(\w+)",),
    ),
    imports=import_calls(_read_import, "call target: (identifier)", "alias", "import", "use", "require"),
    exports=ExportRule(_is_public),
    is_named_by_tools=True,
    tests=Tests(
        file_names=(("*_test.exs", r"_test\.exs$"),),
        libraries=(("ExUnit", r"ExUnit\.Case|use \w+\.(?:ConnCase|DataCase)"),),
    ),
)
