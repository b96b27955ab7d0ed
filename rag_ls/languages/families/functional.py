"""Functional languages, besides Lisps."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.imports import ImportRule, Taken, first_words, import_calls, read_match, read_qualified
from rag_ls.languages.language import ExportRule, Language
from rag_ls.languages.patterns import DASHED, HASHED, QUOTED, TRIPLE_QUOTED, Comments, Lexis, Tests
from rag_ls.languages.reference_rules import NAMES, ReferenceRule
from rag_ls.languages.syntax import read_syntax, words

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
    references=ReferenceRule(
        calls=("(function_call_expr target: (_) @call)",), names=words("lower_case_identifier upper_case_identifier"),
    ),
    imports=ImportRule(read_qualified, ("import_clause",)),
)  # fmt: skip


OCAML = Language(
    "ocaml",
    syntax=read_syntax("ocaml"),
    comments=Comments(pattern=r"\(\*.*?\*\)", start="(* ", end=" *)"), has_single_quotes=False,
    references=ReferenceRule(
        calls=("(application_expression function: (_) @call)",),
        names=words("value_name constructor_name field_name module_name module_type_name type_constructor class_name method_name"),
    ),
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
    references=ReferenceRule(
        is_open=True, is_dotted=True, calls=("(call target: (_) @call)",),
        # Each clause has a head, and so has its specification.
        heads=rb"(?m)^[ \t]*(?:def\w*|@(?:spec|callback|macrocallback|typep?|opaque))[ \t]+([a-z_]\w*[?!]?)",
        names=NAMES | {"alias"}, function_mark="&",
        aliases=(r"{name}\s*,\s*as:\s*(\w+)",),
    ),
    imports=import_calls(_read_elixir_import, "call target: (identifier)", "alias", "import", "use", "require"),
    exports=ExportRule(
        lambda _name, signature, _member: not signature.startswith(("defp ", "defmacrop ", "defguardp ")),
    ),
    is_named_by_tools=True,
    tests=Tests(
        file_names=(("*_test.exs", r"_test\.exs$"),),
        libraries=(("ExUnit", r"ExUnit\.Case|use \w+\.(?:ConnCase|DataCase)"),),
    ),
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

LANGUAGES = (HASKELL, ELM, OCAML, ERLANG, ELIXIR, GLEAM, NIX)
