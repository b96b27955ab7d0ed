"""All languages: a new one is a module of its own, imported and named here."""

from __future__ import annotations

from collections.abc import Mapping

from rag_ls.languages.ada import ADA
from rag_ls.languages.assembly import ASSEMBLY
from rag_ls.languages.bash import BASH
from rag_ls.languages.bazel import BAZEL
from rag_ls.languages.c import C
from rag_ls.languages.clojure import CLOJURE
from rag_ls.languages.cmake import CMAKE
from rag_ls.languages.cpp import CPP
from rag_ls.languages.crystal import CRYSTAL
from rag_ls.languages.csharp import CSHARP
from rag_ls.languages.css import CSS
from rag_ls.languages.cuda import CUDA
from rag_ls.languages.cython import CYTHON
from rag_ls.languages.d import D
from rag_ls.languages.dart import DART
from rag_ls.languages.dockerfile import DOCKERFILE
from rag_ls.languages.elixir import ELIXIR
from rag_ls.languages.elm import ELM
from rag_ls.languages.emacs_lisp import EMACS_LISP
from rag_ls.languages.erlang import ERLANG
from rag_ls.languages.fish import FISH
from rag_ls.languages.fortran import FORTRAN
from rag_ls.languages.fsharp import FSHARP
from rag_ls.languages.gdscript import GDSCRIPT
from rag_ls.languages.gleam import GLEAM
from rag_ls.languages.glsl import GLSL
from rag_ls.languages.go import GO
from rag_ls.languages.graphql import GRAPHQL
from rag_ls.languages.groovy import GROOVY
from rag_ls.languages.haskell import HASKELL
from rag_ls.languages.hcl import HCL
from rag_ls.languages.hlsl import HLSL
from rag_ls.languages.html import HTML
from rag_ls.languages.java import JAVA
from rag_ls.languages.javascript import JAVASCRIPT
from rag_ls.languages.json import JSON
from rag_ls.languages.julia import JULIA
from rag_ls.languages.just import JUST
from rag_ls.languages.kotlin import KOTLIN
from rag_ls.languages.language import Language
from rag_ls.languages.lisp import LISP
from rag_ls.languages.lua import LUA
from rag_ls.languages.make import MAKE
from rag_ls.languages.markdown import MARKDOWN
from rag_ls.languages.matlab import MATLAB
from rag_ls.languages.nim import NIM
from rag_ls.languages.nix import NIX
from rag_ls.languages.objective_c import OBJECTIVE_C
from rag_ls.languages.ocaml import OCAML
from rag_ls.languages.pascal import PASCAL
from rag_ls.languages.perl import PERL
from rag_ls.languages.php import PHP
from rag_ls.languages.plain import PLAIN
from rag_ls.languages.powershell import POWERSHELL
from rag_ls.languages.prisma import PRISMA
from rag_ls.languages.prose import ASCIIDOC, LATEX, MAN, MDX, ORG, RST, TEXT, TEXTILE
from rag_ls.languages.protobuf import PROTOBUF
from rag_ls.languages.puppet import PUPPET
from rag_ls.languages.python import PYTHON
from rag_ls.languages.r import R
from rag_ls.languages.racket import RACKET
from rag_ls.languages.ruby import RUBY
from rag_ls.languages.rust import RUST
from rag_ls.languages.scala import SCALA
from rag_ls.languages.scheme import SCHEME
from rag_ls.languages.scss import SCSS
from rag_ls.languages.solidity import SOLIDITY
from rag_ls.languages.sql import SQL
from rag_ls.languages.svelte import SVELTE
from rag_ls.languages.swift import SWIFT
from rag_ls.languages.syntax import Syntax
from rag_ls.languages.tcl import TCL
from rag_ls.languages.templates import TEMPLATES
from rag_ls.languages.thrift import THRIFT
from rag_ls.languages.toml import TOML
from rag_ls.languages.tsx import TSX
from rag_ls.languages.typescript import TYPESCRIPT
from rag_ls.languages.vb import VB
from rag_ls.languages.verilog import VERILOG
from rag_ls.languages.vhdl import VHDL
from rag_ls.languages.vim import VIM
from rag_ls.languages.vue import VUE
from rag_ls.languages.xml import XML
from rag_ls.languages.yaml import YAML
from rag_ls.languages.zig import ZIG

_ALL: tuple[Language, ...] = (
    # With a grammar.
    BASH, BAZEL, C, CLOJURE, CMAKE, CPP, CSHARP, CSS, CUDA, D, DART, DOCKERFILE, ELIXIR, ELM, ERLANG, FORTRAN, GDSCRIPT, GLEAM, GLSL,
    GO, GRAPHQL, HASKELL, HCL, HLSL, HTML, JAVA, JAVASCRIPT, JSON, JULIA, KOTLIN, LUA, MAKE, MARKDOWN, NIX, OBJECTIVE_C, OCAML, PHP,
    POWERSHELL, PRISMA, PROTOBUF, PYTHON, R, RUBY, RUST, SCALA, SCSS, SOLIDITY, SQL, SVELTE, SWIFT, THRIFT, TOML, TSX,
    TYPESCRIPT, VUE, YAML, ZIG,
    # With a rule for its lines.
    ADA, ASSEMBLY, CRYSTAL, CYTHON, EMACS_LISP, FISH, FSHARP, GROOVY, JUST, LISP, MATLAB, NIM, PASCAL, PERL, PUPPET, RACKET, SCHEME,
    TCL, VB, VERILOG, VHDL, VIM,
    # Without either.
    ASCIIDOC, LATEX, MAN, MDX, ORG, RST, TEXT, TEXTILE, XML, *TEMPLATES, *PLAIN,
)  # fmt: skip

LANGUAGES: Mapping[str, Language] = {each.name: each for each in _ALL}
"""By name, as documents and chunks carry it."""

SYNTAXES: Mapping[str, Syntax] = {each.name: each.syntax for each in _ALL if each.syntax is not None}
"""The syntax of each language that has a grammar."""


def find_language(name: str) -> Language:
    """The facts that are known of a language; nothing but its name if it is unknown."""
    known = LANGUAGES.get(name)
    return known if known is not None else Language(name=name)


def family_of(name: str) -> str:
    """The language whose conventions a language follows: another one's, or its own."""
    return find_language(name).family or name
