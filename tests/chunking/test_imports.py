"""What each language's documents import."""

from __future__ import annotations

import pytest

from rag_ls.chunking import outline_of_document
from rag_ls.languages import LANGUAGES
from rag_ls.model import Import
from tests.grammars import SYNTAXES

from .checks import outline_of
from .samples import SAMPLES, Sample

ALL = ("*",)

CASES: dict[str, tuple[str, list[tuple[str, tuple[str, ...]]]]] = {
    "python": (
        "import os.path as p, sys\nfrom . import a, b as c\nfrom .x.y import (d,  # one\n    e)\nfrom z import *\n"
        "def f():\n    import late\n",
        [("os.path", ()), ("sys", ()), (".", ("a", "b")), (".x.y", ("d", "e")), ("z", ALL), ("late", ())],
    ),
    "javascript": (
        'import a, {b as c} from "./u";\nimport "side";\nimport * as n from \'n\';\nexport * from "x";\n'
        'const {q} = require("fs");\nconst m = await import("./dyn");\nrequire(name);\nother("no");\n',
        [
            ("./u", ("default", "b")),
            ("side", ()),
            ("n", ALL),
            ("x", ALL),
            ("fs", ("q",)),
            ("./dyn", ()),
        ],
    ),
    "typescript": (
        'import type { A } from "./t";\nimport { type B, C } from "./u"\nimport fs = require("fs");\nexport { z } from "./z";\n',
        [("./t", ("A",)), ("./u", ("B", "C")), ("fs", ()), ("./z", ("z",))],
    ),
    "tsx": ('import React, { useState } from "react";\n', [("react", ("default", "useState"))]),
    "go": (
        'package m\nimport "os"\nimport (\n f "fmt"\n . "net/http"\n)\n',
        [("os", ()), ("fmt", ()), ("net/http", ALL)],
    ),
    "rust": (
        "use std::io;\nuse std::{fmt::{self, Write}, env};\npub use a::B as C;\nuse super::*;\nmod x;\nextern crate serde;\n"
        "mod inner { use b::c; }\n",
        [
            ("std::io", ()),
            ("std::fmt", ("Write",)),
            ("std::env", ()),
            ("a", ("B",)),
            ("super", ALL),
            ("self::x", ()),
            ("serde", ()),
            ("b::c", ()),
        ],
    ),
    "java": ("import static a.b.C.d;\nimport a.b.*;\nimport x.Y;\n", [("a.b.C.d", ()), ("a.b", ALL), ("x.Y", ())]),
    "kotlin": ("import a.b.C as D\nimport a.*\nfun f() {}\n", [("a.b.C", ()), ("a", ALL)]),
    "scala": (
        "import a.b.{C, D => E}\nimport a.b._\nimport x.Y, z.W\n",
        [("a.b", ("C", "D")), ("a.b", ALL), ("x.Y", ()), ("z.W", ())],
    ),
    "c": ('#include <stdio.h>\n#include "a/b.h" // why\n', [("stdio.h", ()), ("a/b.h", ())]),
    "cpp": ("#include <vector>\n#ifdef A\n#include <map>\n#endif\n", [("vector", ()), ("map", ())]),
    "csharp": (
        "using System;\nusing static A.B;\nusing X = Y.Z;\n",
        [("System", ()), ("A.B", ALL), ("Y.Z", ())],
    ),
    "ruby": ('require "a"\nrequire_relative "b/c"\nputs "no"\n', [("a", ()), ("./b/c", ())]),
    "php": (
        "<?php\nuse A\\B\\{C, D as E};\nuse function A\\f;\nrequire_once __DIR__ . '/x.php';\ninclude 'y.php';\n"
        "class K { use T; }\n",
        [("A\\B", ("C", "D")), ("A\\f", ()), ("x.php", ()), ("y.php", ())],
    ),
    "swift": (
        "import Foundation\n@testable import struct A.B\n",
        [("Foundation", ()), ("A.B", ())],
    ),
    "lua": ('local a = require("x.y")\nlocal b = require "z"\nrequireNot("no")\n', [("x.y", ()), ("z", ())]),
    "elixir": (
        "defmodule A do\n  alias A.{B, C}\n  use D, x: 1\n  import E\n  require Logger\nend\n",
        [("A.B", ()), ("A.C", ()), ("D", ()), ("E", ()), ("Logger", ())],
    ),
    "haskell": (
        "module A where\nimport qualified Data.Map as M (a, B(..))\nimport X hiding (z)\n",
        [("Data.Map", ("a", "B")), ("X", ())],
    ),
    "ocaml": ("open Printf\ninclude A.B\n", [("Printf", ALL), ("A.B", ALL)]),
    "julia": (
        'using A, B.C\nimport D: x, y\ninclude("f.jl")\nf("no")\n',
        [("A", ()), ("B.C", ()), ("D", ("x", "y")), ("f.jl", ())],
    ),
    "dart": (
        "import 'dart:io' show A, B;\nexport 'x.dart';\npart 'y.dart';\n",
        [("dart:io", ("A", "B")), ("x.dart", ("*",)), ("y.dart", ("*",))],
    ),
    "zig": ('const std = @import("std");\n', [("std", ())]),
    "bash": ('source ./a.sh\n. "b.sh"\necho no\n./no.sh x\nsourced no\n', [("./a.sh", ()), ("b.sh", ())]),
    "css": ('@import url("a.css");\n@import "b.css" screen;\n', [("a.css", ()), ("b.css", ())]),
    "html": (
        '<html><head><link rel="stylesheet" href="a.css"><link href=c.css />\n'
        '<script defer src="b.js"></script></head><a href="no">x</a></html>\n',
        [("a.css", ()), ("c.css", ()), ("b.js", ())],
    ),
    "vue": ('<script src="./a.js"></script>\n', [("./a.js", ())]),
    "svelte": ('<svelte:head><link href="a.css"></svelte:head>\n', [("a.css", ())]),
    "r": ('library(dplyr)\nrequire("x")\nsource("u.R")\nf("no")\n', [("dplyr", ()), ("x", ()), ("u.R", ())]),
}


@pytest.mark.parametrize("language", CASES)
def test_imports_are_read(language: str) -> None:
    text, expected = CASES[language]
    imports = outline_of(text, language).imports
    assert [(found.module, found.names) for found in imports] == expected
    lines = text.split("\n")
    for found in imports:
        last = found.module.rpartition("::")[2] if language == "rust" else found.module.split(".")[-1]
        context = " ".join(lines[found.line - 1 : found.line + 2])
        assert last.split("\\")[-1].strip("./") in context


@pytest.mark.parametrize("sample", [sample for sample in SAMPLES if sample.imports], ids=lambda sample: sample.language)
def test_imports_of_samples_are_read(sample: Sample) -> None:
    assert {found.module for found in outline_of(sample.text, sample.language).imports} == set(sample.imports)


@pytest.mark.parametrize("language", sorted(CASES))
def test_imports_alone_are_those_of_the_whole_wherever_they_stand(language: str) -> None:
    text = CASES[language][0]
    after = "\n" * 3 + "x\n" * 200
    for whole in (
        text,
        text + after,
        "\n" + text.replace("\n", "\r\n"),
        "\ufeff" + text,
        text + after + text,
        text * 2 + "(",
    ):
        assert _imports_alone(whole, language) == outline_of(whole, language).imports


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("java", 'package a; import b.C;\n/** c */ import d.E;\nclass X {\n  String s = """\n  import no.No;\n  """;\n}\n'),
        ("java", "import a.B;\n/*\nimport no.No;\n*/\nclass X {}\n"),
        ("kotlin", "import a.B; import a.C\n\nfun f() = \"\"\"\nimport no.No\n\"\"\"\n"),
        ("scala", "import a.{\n  B,\n  C\n}\nclass X { import d.E; def f = { import g.H; 1 } }\n"),
        ("go", 'package p\n\nimport (\n\t"a" // (one)\n\t"b"\n)\n\nvar s = `\nimport "no"\n`\n'),
        ("go", 'package p; import "a"; import "b"\n\nfunc f() { fmt.Println("import") }\n'),
        ("csharp", "global using A.B;\nglobal using static C.D;\nusing E = F.G<int>;\nnamespace N\n{\n    using H.I;\n    class X {}\n}\n"),
        ("csharp", "using A;\n\nclass X { void F() { using var f = Open(); using (var g = Open()) { } } }\n"),
        ("python", "import a, \\\n    b\nfrom c \\\n    import d\nif x: import e; import f\n"),
        ("python", "def g():\n    from h import (  # (one)\n        i,\n    )\n"),
        ("python", 'def f():\n    """Take\n\n    from b import c\n    """\n    try:\n        import a\n    finally:\n        pass\n'),
        ("typescript", 'import {\n  a,\n  b,\n} from "./c";\nimport /* one */ "d";\nexport * from\n  "./e";\n'),
        ("typescript", 'const f = () => import(\n  /* two */ "./g"\n);\nconst h = require("i")\n'),
        ("javascript", 'const a = require ("b");\nfunction f() {\n  return [require(`c`), import("d")];\n}\n// from "no"\n'),
        ("tsx", 'import A from "a";\nconst B = () => <p>Taken from "b" it is</p>;\n'),
    ],
)  # fmt: skip
def test_imports_alone_are_those_of_the_whole_in_odd_forms(language: str, text: str) -> None:
    after = "\n" + "x = 1;\n" * 100
    for whole in (text, text + after):
        assert _imports_alone(whole, language) == outline_of(whole, language).imports


def test_of_a_text_with_its_imports_at_the_top_the_rest_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "package a;\nimport b.C;\n\nclass X {\n" + "  int x() { return 1; }\n" * 50 + "}\n"
    monkeypatch.setattr("rag_ls.chunking.chunker.parse", lambda *_: pytest.fail("the whole was parsed"))
    assert [found.module for found in _imports_alone(text, "java")] == ["b.C"]
    assert _imports_alone(text.replace("import b.C;", ""), "java") == ()


def _imports_alone(text: str, language: str) -> tuple[Import, ...]:
    return outline_of_document(text, "a/file", language, declarations=False).imports


def test_every_language_with_imports_has_a_case() -> None:
    # What is read by lines has its cases in `test_lines`.
    read = {name for name, each in LANGUAGES.items() if each.imports is not None and each.lines is None}
    assert set(CASES) | {sample.language for sample in SAMPLES if sample.imports} == read <= set(SYNTAXES)


def test_an_import_has_the_line_that_it_is_on() -> None:
    imports = outline_of("\n\nimport a\r\n\rfrom b import (\n c,\n)\nimport d\n", "python").imports
    assert [(found.module, found.line) for found in imports] == [("a", 3), ("b", 5), ("d", 8)]


def test_a_name_that_is_missing_in_broken_code_is_left_out() -> None:
    (found,) = outline_of('import { { ref } from "vue";\n', "typescript").imports
    assert (found.module, "" in found.names) == ("vue", False)
