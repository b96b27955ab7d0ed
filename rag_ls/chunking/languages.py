"""Detects a document's language by its name, suffix or shebang line."""

from __future__ import annotations

import re

PROSE = frozenset({"text", "rst", "asciidoc", "org", "markdown", "mdx", "textile", "latex", "man"})
"""Texts that are cut at paragraphs and sentences."""

_SUFFIXES = """
ada: adb ads
agda: agda
apex: cls apex
arduino: ino pde
asciidoc: adoc asciidoc asc
assembly: asm s nasm
astro: astro
awk: awk
bash: sh bash zsh ksh bats ebuild command
batch: bat cmd
bazel: bzl bazel star
bibtex: bib
bicep: bicep
c: c h idc
capnp: capnp
clojure: clj cljs cljc edn bb
cmake: cmake
coffeescript: coffee litcoffee
cpp: cpp cc cxx c++ hpp hh hxx h++ ipp tpp inl cppm ixx
crystal: cr
csharp: cs csx cake
css: css
csv: csv tsv
cuda: cu cuh
cue: cue
cython: pyx pxd pxi
d: d di
dart: dart
dhall: dhall
diff: diff patch
dockerfile: dockerfile containerfile
dot: dot gv
eex: eex heex leex
elixir: ex exs
elm: elm
erb: erb rhtml
erlang: erl hrl escript
fennel: fnl
fish: fish
fortran: f f77 f90 f95 f03 f08 for ftn
fsharp: fs fsi fsx
gdscript: gd
gettext: po pot
gleam: gleam
glsl: glsl vert frag geom comp tesc tese vsh fsh
gn: gn gni
go: go
gradle: gradle
graphql: graphql gql graphqls
groovy: groovy gvy gy gsh
haml: haml
handlebars: hbs handlebars mustache
haskell: hs lhs hsc
haxe: hx
hcl: hcl tf tfvars nomad
hlsl: hlsl fx fxh
html: html htm xhtml
http: http rest
idris: idr
ini: ini cfg conf properties editorconfig desktop service timer socket prefs
janet: janet
java: java jav
javascript: js jsx mjs cjs es6 jsm
jinja: jinja jinja2 j2 njk
json: json jsonc json5 geojson webmanifest topojson har avsc code-workspace jsonl ndjson ipynb
julia: jl
just: just
kdl: kdl
kotlin: kt kts
latex: tex sty ltx dtx
lean: lean
less: less
liquid: liquid
lisp: lisp lsp cl asd el
lua: lua luau rockspec
make: mk mak make
man: 1 2 3 4 5 6 7 8 9
markdown: md markdown mdown mkd mdwn rmd qmd
matlab: matlab
mdx: mdx
meson: meson
mojo: mojo
nginx: nginx nginxconf
nim: nim nims nimble
nix: nix
objective-c: m mm
ocaml: ml
ocaml-interface: mli
odin: odin
org: org
pascal: pas pp lpr dpr inc
perl: pl pm t pod psgi
php: php phtml php3 php4 php5 php7 php8 phps
pony: pony
powershell: ps1 psm1 psd1
prisma: prisma
prolog: pro prolog
protobuf: proto
pug: pug jade
puppet: epp
purescript: purs
python: py pyi pyw gyp gypi wsgi sage
qml: qml qbs
r: r
racket: rkt rktl
raku: raku rakumod p6
reason: re rei
rego: rego
rescript: res resi
robot: robot resource
rst: rst rest
ruby: rb rake gemspec ru jbuilder podspec thor builder
rust: rs
sass: sass
scala: scala sc sbt
scheme: scm ss sld
scss: scss
smalltalk: st
smithy: smithy
solidity: sol
sparql: rq sparql
sql: sql ddl dml psql pgsql mysql
standard-ml: sml sig fun
starlark: starlark
stylus: styl
svelte: svelte
swift: swift swiftinterface
systemverilog: sv svh
tablegen: td
tcl: tcl tk
text: txt text log
textile: textile
thrift: thrift
toml: toml
tsx: tsx
twig: twig
typescript: ts mts cts
typst: typ
v: v vsh
vala: vala vapi
vb: vb bas vbs
verilog: vh
vhdl: vhd vhdl
vim: vim vimrc
vue: vue
wasm-text: wat wast
wgsl: wgsl
wit: wit
xml: xml xsd xsl xslt svg rss atom
xml: wsdl xaml plist csproj fsproj vbproj props targets resx pom storyboard xib
yaml: yaml yml clang-format clang-tidy cff sublime-syntax
yang: yang
zig: zig zon
abap: abap
actionscript: as
apl: apl dyalog
autohotkey: ahk
ballerina: bal
beancount: beancount bean
cairo: cairo
cadence: cdc
circom: circom
cobol: cob cbl cpy
device-tree: dts dtsi
ejs: ejs
elvish: elv
factor: factor
flatbuffers: fbs
forth: fth 4th forth
gherkin: feature
gnuplot: gp gnuplot plt
hack: hack
hurl: hurl
hy: hy
jq: jq
jsonnet: jsonnet libsonnet
lilypond: ly ily
linker-script: ld lds
llvm: ll
m4: m4 ac
mathematica: wl wls
mermaid: mmd mermaid
mlir: mlir
move: move
noir: nr
nushell: nu
opencl: opencl
openscad: scad
pkl: pkl
plantuml: puml plantuml
postscript: ps eps
qsharp: qs
rexx: rexx
roff: roff
sas: sas
sed: sed
slim: slim
stan: stan
stata: do ado
typespec: tsp
vcl: vcl
wdl: wdl
xml: dtd ui qrc
xquery: xq xquery xqy
zeek: zeek
"""

_NAMES = """
bash: .bashrc .bash_profile .bash_aliases .bash_logout .profile .zshrc .zshenv .zprofile .envrc
bash: APKBUILD PKGBUILD gradlew mvnw configure .kshrc .xinitrc .xprofile
caddyfile: Caddyfile
doxygen: Doxyfile
earthfile: Earthfile
erlang: rebar.config rebar.lock
haskell: .ghci
javascript: Jakefile
kconfig: Kconfig
lisp: .emacs Cask
bazel: BUILD WORKSPACE BUCK Tiltfile
cmake: CMakeLists.txt
dockerfile: Dockerfile Containerfile
elixir: mix.lock
go-module: go.mod go.work go.sum
groovy: Jenkinsfile
hcl: .terraform.lock.hcl
ignore: .gitignore .dockerignore .npmignore .ragignore .eslintignore .prettierignore .hgignore .vscodeignore
ignore: .gitattributes CODEOWNERS
ini: .tmux.conf .inputrc .curlrc .wgetrc .bazelrc .pypirc .condarc
ini: .editorconfig .gitconfig .gitmodules .npmrc .pylintrc .flake8 .coveragerc setup.cfg tox.ini
json: .babelrc .eslintrc .prettierrc .stylelintrc .jshintrc .swcrc composer.lock
json: Pipfile.lock flake.lock deno.lock
just: justfile Justfile .justfile
lua: .luacheckrc
make: Makefile makefile GNUmakefile Kbuild BSDmakefile
meson: meson.build meson_options.txt meson.options
nginx: nginx.conf
perl: cpanfile Makefile.PL
procfile: Procfile
python: SConstruct SConscript wscript Snakefile
r: .Rprofile
requirements: requirements.txt constraints.txt
ruby: Gemfile Rakefile Vagrantfile Guardfile Podfile Fastfile Capfile Brewfile Dangerfile Appfile
ruby: Berksfile Thorfile Puppetfile Buildfile Steepfile Appraisals .irbrc .pryrc
text: README LICENSE LICENCE COPYING AUTHORS CONTRIBUTORS CHANGELOG CHANGES NEWS TODO INSTALL NOTICE VERSION
text: MAINTAINERS .tool-versions .nvmrc .python-version .ruby-version .node-version
toml: Cargo.lock poetry.lock uv.lock Pipfile pdm.lock
vim: .vimrc .gvimrc
yaml: .clang-format .clang-tidy .clangd .yamllint CITATION.cff
yarn-lock: yarn.lock
"""

_INTERPRETERS = """
awk: awk gawk mawk
bash: sh bash dash zsh ksh ash bats busybox
clojure: bb
crystal: crystal
elixir: elixir iex
erlang: escript
fish: fish
groovy: groovy
guile: guile
haskell: runhaskell runghc stack
javascript: node nodejs bun
julia: julia
just: just
kotlin: kotlin
lua: lua luajit texlua
make: make
nix: nix-shell
ocaml: ocaml
perl: perl
php: php
powershell: pwsh powershell
python: python pypy uv
r: Rscript littler
racket: racket
raku: raku perl6
ruby: ruby jruby rake macruby
scala: scala scala-cli amm
sed: sed
swift: swift
tcl: tclsh wish expect
typescript: ts-node tsx deno
"""


def _table(text: str) -> dict[str, str]:
    """`word -> language` from lines of `language: word word`."""
    table = {}
    for line in text.split("\n"):
        language, _, words = line.partition(":")
        table.update(dict.fromkeys(words.split(), language))
    return table


_BY_SUFFIX, _BY_NAME, _BY_INTERPRETER = _table(_SUFFIXES), _table(_NAMES), _table(_INTERPRETERS)
_BY_LOWER_NAME = {name.lower(): language for name, language in _BY_NAME.items()}
_ALIASES = {"c++": "cpp", "objc": "objective-c", "dosini": "ini", "shell-script": "bash", "cperl": "perl"}
_SHEBANG = re.compile(r"^\ufeff?#!\s*(\S+)(.*)")
_OPENINGS = (("<?xml", "xml"), ("<!doctype html", "html"), ("<html", "html"), ("<?php", "php"))
_PREFIXES = (
    ("dockerfile.", "dockerfile"),
    ("containerfile.", "dockerfile"),
    ("makefile.", "make"),
    ("jenkinsfile.", "groovy"),
)


def known_languages() -> frozenset[str]:
    """All languages that a file's name, suffix or interpreter can stand for."""
    return frozenset((*_BY_NAME.values(), *_BY_SUFFIX.values(), *_BY_INTERPRETER.values()))


def by_alias(word: str) -> str | None:
    """The language that an editor's modeline names: by its own name, a suffix or an interpreter."""
    word = word.lower()
    word = _ALIASES.get(word, word)
    return word if word in known_languages() else _BY_SUFFIX.get(word) or _BY_INTERPRETER.get(word)


def detect_language(path: str, first_line: str = "") -> str | None:
    """The language of a document by its file name, then its suffix, then its first line.

    None if it is unknown. Languages without a grammar are returned too.
    """
    name = path.replace("\\", "/").rpartition("/")[2]
    if name in _BY_NAME:
        return _BY_NAME[name]
    lower = name.lower()
    if lower in _BY_LOWER_NAME:
        return _BY_LOWER_NAME[lower]
    for prefix, language in _PREFIXES:
        if lower.startswith(prefix):
            return language
    if re.fullmatch(r"(?:requirements|constraints)[-_.\w]*\.txt", lower):
        return "requirements"
    return _by_suffix(lower) or _by_first_line(first_line)


def _by_suffix(name: str) -> str | None:
    stem, dot, suffix = name.rpartition(".")
    if not dot:
        return None
    if suffix in ("in", "tmpl", "template", "example", "sample", "dist", "orig", "bak") and "." in stem:
        return _by_suffix(stem)
    return _BY_SUFFIX.get(suffix)


def _by_first_line(line: str) -> str | None:
    match = _SHEBANG.match(line)
    if match:
        words = [match[1], *match[2].split()]
        if words[0].endswith("/env"):
            words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        program = words[0].rpartition("/")[2] if words else ""
        return _BY_INTERPRETER.get(program) or _BY_INTERPRETER.get(program.rstrip("0123456789."))
    start = line.lstrip("\ufeff \t").lower()
    return next((language for mark, language in _OPENINGS if start.startswith(mark)), None)
