"""Languages that are known by the names of their files alone: they have no grammar here."""

from __future__ import annotations

from rag_ls.languages.language import Language, Role

_SUFFIXES = """
abap: abap
actionscript: as
ada: adb ads
agda: agda
apex: cls apex
apl: apl dyalog
arduino: ino pde
assembly: asm s nasm
astro: astro
autohotkey: ahk
awk: awk
ballerina: bal
batch: bat cmd
bazel: bzl bazel star
beancount: beancount bean
bibtex: bib
bicep: bicep
cadence: cdc
cairo: cairo
capnp: capnp
circom: circom
cobol: cob cbl cpy
coffeescript: coffee litcoffee
crystal: cr
csv: csv tsv
cuda: cu cuh
cue: cue
cython: pyx pxd pxi
d: d di
device-tree: dts dtsi
dhall: dhall
diff: diff patch
dot: dot gv
elvish: elv
factor: factor
fennel: fnl
fish: fish
flatbuffers: fbs
forth: fth 4th forth
fsharp: fs fsi fsx
gdscript: gd
gettext: po pot
gherkin: feature
glsl: glsl vert frag geom comp tesc tese fsh
gn: gn gni
gnuplot: gp gnuplot plt
gradle: gradle
groovy: groovy gvy gy gsh
hack: hack
handlebars: hbs handlebars mustache
haxe: hx
hlsl: hlsl fx fxh
http: http
hurl: hurl
hy: hy
idris: idr
ini: ini cfg conf properties editorconfig desktop service timer socket prefs
janet: janet
jinja: jinja jinja2 j2 njk
jq: jq
jsonnet: jsonnet libsonnet
just: just
kdl: kdl
lean: lean
less: less
lilypond: ly ily
linker-script: ld lds
liquid: liquid
lisp: lisp lsp cl asd el
llvm: ll
m4: m4 ac
mathematica: wl wls
matlab: matlab
mermaid: mmd mermaid
meson: meson
mlir: mlir
mojo: mojo
move: move
nginx: nginx nginxconf
nim: nim nims nimble
noir: nr
nushell: nu
ocaml-interface: mli
odin: odin
opencl: opencl
openscad: scad
pascal: pas pp lpr dpr inc
perl: pl pm t pod psgi
pkl: pkl
plantuml: puml plantuml
pony: pony
postscript: ps eps
prolog: pro prolog
pug: pug jade
puppet: epp
purescript: purs
qml: qml qbs
qsharp: qs
racket: rkt rktl
raku: raku rakumod p6
reason: re rei
rego: rego
rescript: res resi
rexx: rexx
robot: robot resource
roff: roff
sas: sas
sass: sass
scheme: scm ss sld
sed: sed
smalltalk: st
smithy: smithy
sparql: rq sparql
stan: stan
standard-ml: sml sig fun
starlark: starlark
stata: do ado
stylus: styl
systemverilog: sv svh
tablegen: td
tcl: tcl tk
typespec: tsp
typst: typ
v: vsh v
vala: vala vapi
vb: vb bas vbs
vcl: vcl
verilog: vh
vhdl: vhd vhdl
vim: vim vimrc
wasm-text: wat wast
wdl: wdl
wgsl: wgsl
wit: wit
xquery: xq xquery xqy
yang: yang
zeek: zeek
"""

_FILE_NAMES = """
bazel: BUILD WORKSPACE BUCK Tiltfile
caddyfile: Caddyfile
doxygen: Doxyfile
earthfile: Earthfile
go-module: go.mod go.work go.sum
groovy: Jenkinsfile
ignore: .gitignore .dockerignore .npmignore .ragignore .eslintignore .prettierignore .hgignore .vscodeignore
ignore: .gitattributes CODEOWNERS
ini: .tmux.conf .inputrc .curlrc .wgetrc .bazelrc .pypirc .condarc .editorconfig .gitconfig .gitmodules .npmrc
ini: .pylintrc .flake8 .coveragerc setup.cfg tox.ini
just: justfile Justfile .justfile
kconfig: Kconfig
lisp: .emacs Cask
meson: meson.build meson_options.txt meson.options
nginx: nginx.conf
perl: cpanfile Makefile.PL
procfile: Procfile
requirements: requirements.txt constraints.txt
vim: .vimrc .gvimrc
yarn-lock: yarn.lock
"""

_INTERPRETERS = """
awk: awk gawk mawk
crystal: crystal
fish: fish
groovy: groovy
guile: guile
just: just
perl: perl
racket: racket
raku: raku perl6
sed: sed
tcl: tclsh wish expect
"""

_ALIASES = """
ini: dosini
perl: cperl
"""

_DATA = frozenset({"csv", "ini"})


def _table(text: str) -> dict[str, tuple[str, ...]]:
    """`language -> words` from lines of `language: word word`."""
    table: dict[str, tuple[str, ...]] = {}
    for line in text.split("\n"):
        language, colon, words = line.partition(":")
        if colon:
            table[language] = (*table.get(language, ()), *words.split())
    return table


def _languages() -> tuple[Language, ...]:
    suffixes, names, interpreters = _table(_SUFFIXES), _table(_FILE_NAMES), _table(_INTERPRETERS)
    aliases = _table(_ALIASES)
    return tuple(
        Language(
            name=name,
            aliases=aliases.get(name, ()),
            role=Role.DATA if name in _DATA else Role.CODE,
            suffixes=suffixes.get(name, ()),
            file_names=names.get(name, ()),
            interpreters=interpreters.get(name, ()),
        )
        for name in sorted({*suffixes, *names, *interpreters})
    )


PLAIN = _languages()
