"""Languages that are known by the names of their files alone: they have no grammar here."""

from __future__ import annotations

from rag_ls.languages.language import Language, Role

_SUFFIXES = """
abap: abap
actionscript: as
agda: agda
apex: cls apex
apl: apl dyalog
arduino: ino pde
astro: astro
autohotkey: ahk
awk: awk
ballerina: bal
batch: bat cmd
beancount: beancount bean
bibtex: bib
bicep: bicep
cadence: cdc
cairo: cairo
capnp: capnp
circom: circom
cobol: cob cbl cpy
coffeescript: coffee litcoffee
csv: csv tsv
cue: cue
device-tree: dts dtsi
dhall: dhall
diff: diff patch
dot: dot gv
elvish: elv
factor: factor
fennel: fnl
flatbuffers: fbs
forth: fth 4th forth
gettext: po pot
gherkin: feature
gn: gn gni
gnuplot: gp gnuplot plt
hack: hack
handlebars: hbs handlebars mustache
haxe: hx
http: http
hurl: hurl
hy: hy
idris: idr lidr
ini: ini cfg conf properties editorconfig desktop service timer socket prefs
janet: janet
jinja: jinja jinja2 j2 njk
jq: jq
jsonnet: jsonnet libsonnet
kdl: kdl
lean: lean
less: less
lilypond: ly ily
linker-script: ld lds
liquid: liquid
llvm: ll
m4: m4 ac
mathematica: wl wls
mermaid: mmd mermaid
meson: meson
mlir: mlir
mojo: mojo
move: move
nginx: nginx nginxconf
noir: nr
nushell: nu
ocaml-interface: mli
odin: odin
opencl: opencl
openscad: scad
pkl: pkl
plantuml: puml plantuml
pony: pony
postscript: ps eps
prolog: pro prolog
pug: pug jade
purescript: purs
qml: qml qbs
qsharp: qs
raku: raku rakumod p6
reason: re rei
rego: rego
rescript: res resi
rexx: rexx
robot: robot resource
roff: roff
sas: sas
sass: sass
sed: sed
smalltalk: st
smithy: smithy
sparql: rq sparql
stan: stan
standard-ml: sml sig fun
stata: do ado
stylus: styl
tablegen: td
typespec: tsp
typst: typ
v: vv
vala: vala vapi
vcl: vcl
wasm-text: wat wast
wdl: wdl
wgsl: wgsl
wit: wit
xquery: xq xquery xqy
yang: yang
zeek: zeek
"""

_FILE_NAMES = """
caddyfile: Caddyfile
coffeescript: Cakefile
doxygen: Doxyfile
earthfile: Earthfile
go-module: go.mod go.work go.sum
ignore: .gitignore .dockerignore .npmignore .ragignore .eslintignore .prettierignore .hgignore .vscodeignore
ignore: .gitattributes CODEOWNERS
ini: .tmux.conf .inputrc .curlrc .wgetrc .bazelrc .pypirc .condarc .editorconfig .gitconfig .gitmodules .npmrc
ini: .pylintrc .flake8 .coveragerc setup.cfg tox.ini
kconfig: Kconfig
meson: meson.build meson_options.txt meson.options
nginx: nginx.conf
procfile: Procfile
requirements: requirements.txt constraints.txt
yarn-lock: yarn.lock
"""

_INTERPRETERS = """
awk: awk gawk mawk
raku: raku perl6
sed: sed
"""

_ALIASES = """
ini: dosini
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
