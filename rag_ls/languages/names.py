"""The names of languages, and what tells a document's language without its text: its file's name, its suffix, its first line.

This is all that a process knows of a language until a document of it comes: its rules stand in a module of `families`.
"""

from __future__ import annotations

import re
from enum import StrEnum


class Role(StrEnum):
    """The purpose of a document in a language."""

    CODE = "code"
    DOCS = "docs"
    DATA = "data"
    """Settings, data or styles."""


def _read_table(text: str) -> dict[str, tuple[str, ...]]:
    """Return `name -> words` of a text like `name: word word; name: word`."""
    rows = (row.partition(":") for row in text.split(";"))
    return {name.strip(): tuple(words.split()) for name, _, words in rows}


def _invert(table: dict[str, tuple[str, ...]]) -> dict[str, str]:
    return {word: name for name, words in table.items() for word in words}


# The modules of `families`, with the languages whose rules they hold; of any other, the name is all that is known.
_MODULES = """
builds: make cmake just dockerfile bazel puppet; c: c cpp cuda glsl hlsl objective-c;
data: json yaml toml sql graphql protobuf thrift prisma hcl xml; dotnet: csharp fsharp vb;
functional: haskell elm ocaml erlang elixir gleam nix; go: go; hardware: verilog vhdl assembly;
jvm: java kotlin scala groovy; lisps: clojure lisp scheme racket emacs-lisp; php: php;
prose: markdown asciidoc latex man mdx org rst text textile; python: python cython; ruby: ruby crystal; rust: rust;
scripting: lua perl r julia gdscript vim matlab; shells: bash fish powershell tcl; swift: swift dart;
systems: zig d nim ada pascal fortran solidity; templates: erb haml slim eex ejs blade razor jsp twig;
web: javascript typescript tsx html vue svelte css scss
"""
# Languages whose conventions others share. The role of a language is code, unless it is listed here.
_FAMILIES = """
cpp: cuda; csharp: razor; elixir: eex; java: jsp; javascript: ejs; php: blade twig; python: cython;
ruby: erb haml slim; typescript: javascript svelte tsx typescript vue
"""
_ROLES = """
data: css json scss toml yaml xml csv ini; docs: html markdown asciidoc latex mdx org rst text textile
"""
# In lower case, without the dot. A suffix is listed with one language; `ambiguous` reads the text if several use it.
_OWN_SUFFIXES = """
abap agda astro awk bicep cairo capnp circom cmake css cue dart dhall ejs elm factor fish gleam go hack haml http
hurl hy janet jq just kdl lean less liquid matlab mdx meson mlir mojo move nix odin opencl org pkl pony prisma r
rego rexx roff sas sass scss sed slim smithy stan svelte textile thrift toml tsx twig vcl vue wdl wgsl wit yang zeek
"""
_SUFFIXES = """
actionscript: as; ada: adb ads ada; apex: cls apex; apl: apl dyalog; arduino: ino pde; asciidoc: adoc asciidoc asc;
assembly: asm s nasm a51; autohotkey: ahk; ballerina: bal; bash: sh bash zsh ksh bats ebuild command;
batch: bat cmd; bazel: bzl bazel star starlark sky; beancount: beancount bean; bibtex: bib; blade: blade.php;
c: c h idc; cadence: cdc; clojure: clj cljs cljc edn bb; cobol: cob cbl cpy; coffeescript: coffee litcoffee;
cpp: cpp cc cxx c++ hpp hh hxx h++ ipp tpp txx inl metal cppm ixx; crystal: cr; csharp: cs csx cake; csv: csv tsv;
cuda: cu cuh; cython: pyx pxd pxi; d: d di; device-tree: dts dtsi; diff: diff patch;
dockerfile: dockerfile containerfile; dot: dot gv; eex: eex heex leex; elixir: ex exs; elvish: elv;
emacs-lisp: el eld; erb: erb rhtml; erlang: erl hrl escript; fennel: fnl; flatbuffers: fbs; forth: fth 4th forth;
fortran: f f77 f90 f95 f03 f08 for ftn; fsharp: fs fsi fsx; gdscript: gd; gettext: po pot; gherkin: feature;
glsl: glsl vert frag geom comp tesc tese fsh vsh rgen rchit rmiss; gn: gn gni; gnuplot: gp gnuplot plt;
graphql: graphql gql graphqls; groovy: groovy gvy gy gsh gradle nf jenkinsfile; handlebars: hbs handlebars mustache;
haskell: hs lhs hsc; haxe: hx; hcl: hcl tf tfvars nomad; hlsl: hlsl hlsli fx fxh shader cginc compute usf ush;
html: html htm xhtml; idris: idr lidr; ini: ini cfg conf properties editorconfig desktop service timer socket prefs;
java: java jav; javascript: js jsx mjs cjs es6 jsm; jinja: jinja jinja2 j2 njk;
json: json jsonc json5 geojson webmanifest topojson har avsc code-workspace jsonl ndjson ipynb;
jsonnet: jsonnet libsonnet; jsp: jsp jspx jspf; julia: jl; kotlin: kt kts; latex: tex sty ltx dtx; lilypond: ly ily;
linker-script: ld lds; lisp: lisp lsp cl asd; llvm: ll; lua: lua luau rockspec; m4: m4 ac; make: mk mak make;
man: 1 2 3 4 5 6 7 8 9; markdown: md markdown mdown mkd mdwn rmd qmd mdc; mathematica: wl wls; mermaid: mmd mermaid;
nginx: nginx nginxconf; nim: nim nims nimble; noir: nr; nushell: nu; objective-c: m mm; ocaml: ml;
ocaml-interface: mli; openscad: scad; pascal: pas lpr dpr dpk inc; perl: pl pm t pod psgi al plx;
php: php phtml php3 php4 php5 php7 php8 phps; plantuml: puml plantuml; postscript: ps eps;
powershell: ps1 psm1 psd1; prolog: pro prolog; protobuf: proto; pug: pug jade; puppet: pp epp; purescript: purs;
python: py pyi pyw gyp gypi wsgi sage; qml: qml qbs; qsharp: qs; racket: rkt rktl rktd scrbl; raku: raku rakumod p6;
razor: cshtml razor; reason: re rei; rescript: res resi; robot: robot resource; rst: rest rst;
ruby: rb rake gemspec ru jbuilder podspec thor builder; rust: rs; scala: scala sc sbt;
scheme: scm ss sld sch sls sps; smalltalk: st; solidity: sol; sparql: rq sparql; sql: sql ddl dml psql pgsql mysql;
standard-ml: sml sig fun; stata: do ado; stylus: styl; swift: swift swiftinterface; tablegen: td;
tcl: tcl tk tm itcl xdc sdc; text: txt text log; typescript: ts mts cts; typespec: tsp; typst: typ; v: vv;
vala: vala vapi; vb: vb bas vbs; verilog: v vh sv svh svp vlg; vhdl: vhd vhdl vho; vim: vim vimrc;
wasm-text: wat wast;
xml: xml xsd xsl xslt svg rss atom wsdl xaml plist csproj fsproj vbproj props targets resx pom storyboard xib dtd ui
    qrc;
xquery: xq xquery xqy; yaml: yaml yml clang-format clang-tidy cff sublime-syntax; zig: zig zon
"""
# Files without a suffix of their own, or with that of another language.
_FILE_NAMES = """
bash: .bashrc .bash_profile .bash_aliases .bash_logout .profile .zshrc .zshenv .zprofile .envrc APKBUILD PKGBUILD
    gradlew mvnw configure .kshrc .xinitrc .xprofile;
bazel: BUILD WORKSPACE BUCK Tiltfile WORKSPACE.bzlmod; caddyfile: Caddyfile; cmake: CMakeLists.txt;
coffeescript: Cakefile; dockerfile: Dockerfile Containerfile; doxygen: Doxyfile; earthfile: Earthfile;
elixir: mix.lock; emacs-lisp: .emacs Cask Eask; erlang: rebar.config rebar.lock; go-module: go.mod go.work go.sum;
groovy: Jenkinsfile; haskell: .ghci; hcl: .terraform.lock.hcl;
ignore: .gitignore .dockerignore .npmignore .ragignore .eslintignore .prettierignore .hgignore .vscodeignore
    .gitattributes CODEOWNERS;
ini: .tmux.conf .inputrc .curlrc .wgetrc .bazelrc .pypirc .condarc .editorconfig .gitconfig .gitmodules .npmrc
    .pylintrc .flake8 .coveragerc setup.cfg tox.ini;
javascript: Jakefile;
json: .babelrc .eslintrc .prettierrc .stylelintrc .jshintrc .swcrc composer.lock Pipfile.lock flake.lock deno.lock;
just: justfile Justfile .justfile; kconfig: Kconfig; lua: .luacheckrc;
make: Makefile makefile GNUmakefile Kbuild BSDmakefile; markdown: .cursorrules .windsurfrules;
meson: meson.build meson_options.txt meson.options; nginx: nginx.conf; perl: cpanfile Makefile.PL Build.PL;
procfile: Procfile; python: SConstruct SConscript wscript Snakefile; r: .Rprofile;
requirements: requirements.txt constraints.txt;
ruby: Gemfile Rakefile Vagrantfile Guardfile Podfile Fastfile Capfile Brewfile Dangerfile Appfile Berksfile Thorfile
    Puppetfile Buildfile Steepfile Appraisals .irbrc .pryrc;
text: README LICENSE LICENCE COPYING AUTHORS CONTRIBUTORS CHANGELOG CHANGES NEWS TODO INSTALL NOTICE VERSION
    MAINTAINERS .tool-versions .nvmrc .python-version .ruby-version .node-version;
toml: Cargo.lock poetry.lock uv.lock Pipfile pdm.lock; vim: .vimrc .gvimrc _vimrc vimrc gvimrc .ideavimrc .exrc;
yaml: .clang-format .clang-tidy .clangd .yamllint CITATION.cff; yarn-lock: yarn.lock
"""
# The programs of a shebang line, without version.
_INTERPRETERS = """
awk: awk gawk mawk; bash: sh bash dash zsh ksh ash bats busybox; clojure: bb; crystal: crystal; d: rdmd dub;
elixir: elixir iex; emacs-lisp: emacs; erlang: escript; fish: fish; fsharp: fsharpi dotnet; groovy: groovy nextflow;
haskell: runhaskell runghc stack; javascript: node nodejs bun; julia: julia; just: just; kotlin: kotlin;
lisp: sbcl clisp; lua: lua luajit texlua; make: make; matlab: octave; nim: nim; nix: nix-shell; ocaml: ocaml;
perl: perl; php: php; powershell: pwsh powershell; python: python pypy uv; r: Rscript littler; racket: racket;
raku: raku perl6; ruby: ruby jruby rake macruby; scala: scala scala-cli amm; scheme: guile gosh chibi-scheme csi;
sed: sed; swift: swift; tcl: tclsh wish expect; typescript: ts-node tsx deno
"""
# Other names, besides suffixes and interpreters: in modelines, notebooks, filters and rules.
_ALIASES = """
assembly: asm68k gas; bash: shell-script; bazel: starlark; cpp: c++; csharp: c#; emacs-lisp: elisp; fsharp: f#;
go: golang; groovy: jenkinsfile; ini: dosini; lisp: common-lisp commonlisp; matlab: octave; objective-c: objc;
pascal: delphi objectpascal; perl: cperl; vb: vbnet vba vbscript; verilog: systemverilog verilog_systemverilog;
vim: viml vimscript vim-script
"""
# The values of `type` and `lang` by which a script or style in markup is in a language, in lower case.
_SCRIPT_TYPES = """
css: css postcss text/css; javascript: js javascript module text/javascript application/javascript;
json: json importmap application/json application/ld+json; scss: scss text/scss; tsx: tsx jsx text/babel text/jsx;
typescript: ts typescript text/typescript application/typescript
"""
# Beginnings of the names of files.
_PREFIXES = "dockerfile: dockerfile. containerfile.; make: makefile.; groovy: jenkinsfile."
_OPENINGS = (("<?xml", "xml"), ("<!doctype html", "html"), ("<html", "html"), ("<?php", "php"))
_SHEBANG = r"^\ufeff?#!\s*(\S+)(.*)"
_REQUIREMENTS = r"(?:requirements|constraints)[-_.\w]*\.txt"

_BY_SUFFIX = {name: name for name in _OWN_SUFFIXES.split()} | _invert(_read_table(_SUFFIXES))
_BY_NAME = _invert(_read_table(_FILE_NAMES))
_BY_LOWER_NAME = {name.lower(): language for name, language in _BY_NAME.items()}
_BY_PREFIX = _invert(_read_table(_PREFIXES))
_BY_INTERPRETER = _invert(_read_table(_INTERPRETERS))
_BY_ALIAS = _invert(_read_table(_ALIASES))
_BY_SCRIPT_TYPE = _invert(_read_table(_SCRIPT_TYPES))
_FAMILY = _invert(_read_table(_FAMILIES))
_ROLE = _invert(_read_table(_ROLES))
MODULES = dict.fromkeys((*_BY_SUFFIX.values(), *_BY_NAME.values()), "") | _invert(_read_table(_MODULES))
"""Every language, with the module of `families` that holds its rules; empty where no more than its name is known."""


def role_of(name: str) -> Role:
    """Return the purpose of documents in a language."""
    return Role(_ROLE.get(name, "code"))


def family_of(name: str) -> str:
    """Return the language whose conventions a language follows: another one's, or its own."""
    return _FAMILY.get(name, name)


def related_languages(family: str) -> frozenset[str]:
    """Return the languages that follow the conventions of one."""
    return frozenset(_read_table(_FAMILIES).get(family, (family,)))


def language_of_script(kind: str) -> str | None:
    """Return the language of a script or style with a `type` or `lang`; None for an unknown one."""
    return _BY_SCRIPT_TYPE.get(kind.lower())


def by_alias(word: str) -> str | None:
    """Return the language that an editor, a rule or a person means: by its own name, another one, a suffix or an interpreter."""
    word = word.lower()
    word = _BY_ALIAS.get(word, word)
    return word if word in MODULES else _BY_SUFFIX.get(word) or _BY_INTERPRETER.get(word)


def detect_language(path: str, first_line: str = "") -> str | None:
    """Return the language of a document by its file name, then its suffix, then its first line.

    None if it is unknown. Languages without a grammar are returned too.
    """
    name = path.replace("\\", "/").rpartition("/")[2]
    if name in _BY_NAME:
        return _BY_NAME[name]
    lower = name.lower()
    if lower in _BY_LOWER_NAME:
        return _BY_LOWER_NAME[lower]
    for prefix, language in _BY_PREFIX.items():
        # `dockerfile.go` is a module about Dockerfiles, `Dockerfile.go` one for a program in Go.
        if lower.startswith(prefix) and (name != lower or _by_suffix(lower) is None):
            return language
    if re.fullmatch(_REQUIREMENTS, lower):
        return "requirements"
    return _by_suffix(lower) or _by_first_line(first_line)


def _by_suffix(name: str) -> str | None:
    stem, dot, suffix = name.rpartition(".")
    if not dot:
        return None
    if suffix in ("in", "tmpl", "template", "example", "sample", "dist", "orig", "bak") and "." in stem:
        return _by_suffix(stem)
    return _BY_SUFFIX.get(f"{stem.rpartition('.')[2]}.{suffix}") or _BY_SUFFIX.get(suffix)


def _by_first_line(line: str) -> str | None:
    match = re.match(_SHEBANG, line)
    if match:
        words = [match[1], *match[2].split()]
        if words[0].endswith("/env"):
            words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        program = words[0].rpartition("/")[2] if words else ""
        return _BY_INTERPRETER.get(program) or _BY_INTERPRETER.get(program.rstrip("0123456789."))
    start = line.lstrip("\ufeff \t").lower()
    return next((language for mark, language in _OPENINGS if start.startswith(mark)), None)
