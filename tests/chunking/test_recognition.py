"""Which language a document is in, where its name alone does not tell."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_ls.chunking import recognise
from rag_ls.languages import LANGUAGES, detect_language

from .samples import SAMPLES, Sample

CASES = [
    ("a.h", "#ifndef A\nint f(void);\n#endif\n", "c"),
    ("a.h", "#pragma once\nnamespace a {\nclass B;\n}\n", "cpp"),
    ("a.h", "#import <UIKit/UIKit.h>\n@interface A : NSObject\n@end\n", "objective-c"),
    ("a.m", '#import "A.h"\n@implementation A\n@end\n', "objective-c"),
    ("a.m", "function y = f(x)\n% doc\ny = x;\nend\n", "matlab"),
    ("a.pl", "use strict;\nmy $x = 1;\n", "perl"),
    ("a.pl", ":- module(a, [b/1]).\nb(X) :- c(X).\n", "prolog"),
    ("a.pl", "parent(tom, bob).\n", "prolog"),
    ("a.ts", "export const a = 1;\n", "typescript"),
    ("a.ts", '<?xml version="1.0"?>\n<!DOCTYPE TS>\n<TS version="2.1">\n', "xml"),
    ("a.v", "module top(input clk);\nendmodule\n", "verilog"),
    ("a.v", "Require Import List.\nTheorem t : True.\n", "coq"),
    ("a.v", "module main\n\nfn main() {\n}\n", "v"),
    ("a.v", "(* List.v *)\nModule A.\nEnd A.\n", "coq"),
    ("a.v", "// of the core\nassign x = y;\n", "verilog"),
    ("a.m", "x = 3;\nplot(x, y)\n", "matlab"),
    ("a.t", "  $ echo hello\n  hello\n", "text"),
    ("a.cl", "__kernel void f() {}\n", "opencl"),
    ("a.cl", "(defun f ())\n", "lisp"),
    ("a.d", "/**\n * Authors: me\n */\nmodule a;\n", "d"),
    ("a.pp", "unit A;\ninterface\n", "pascal"),
    ("a.pp", "class a {\n}\n", "puppet"),
    ("a.inc", "; of the loader\nmov ax, 1\n", "assembly"),
    ("run", "#!/usr/bin/emacs --script\n", "emacs-lisp"),
    ("dockerfile.go", "package main\n", "go"),
    ("Dockerfile.go", "FROM scratch\n", "dockerfile"),
    ("lib/makefile.pm", "package makefile;\n", "perl"),
    ("Makefile.inc", "A := 1\n", "make"),
    ("a.fs", "module A\nlet f x = x\n", "fsharp"),
    ("a.fs", "#version 330\nvoid main() {}\n", "glsl"),
    ("a.d", "module a;\nimport std.stdio;\n", "d"),
    ("a.d", "build/a.o: a.c a.h\n", "make"),
    ("a.inc", "<?php echo 1;", "php"),
    ("a.inc", "program x;\n", "pascal"),
    ("a.pro", "QT += core\n", "qmake"),
    ("a.cls", "public class A {}\n", "apex"),
    ("a.cls", "\\ProvidesClass{a}\n", "latex"),
    ("a.sql", "SELECT 1", "sql"),
    ("run", "#!/usr/bin/env -S python3 -u\n", "python"),
    ("run", "#!/usr/bin/env -S LANG=C python3 -u\n", "python"),
    ("run", "#!/usr/bin/python3.12\r\n", "python"),
    ("run", "# -*- coding: utf-8 -*-\n", None),
    ("page", "<?php\necho 1;\n", "php"),
    ("feed", '\ufeff<?xml version="1.0"?>\n<rss/>\n', "xml"),
    ("page", "\n\n<!DOCTYPE html>\n<html>", "html"),
    ("data", '{"a": [1, 2]}\n', "json"),
    ("data", "{not json", None),
    ("change", "diff --git a/x b/x\n", "diff"),
    ("config", "---\nname: a\n", "yaml"),
    ("notes", "Just words.\n", None),
    ("", "", None),
    ("a.md", "# vim: ft=python\n", "markdown"),
]


@pytest.mark.parametrize(("path", "text", "language"), CASES)
def test_a_language_is_recognised(path: str, text: str, language: str | None) -> None:
    assert recognise(path, text) == language


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.language)
def test_a_sample_is_recognised_by_name_and_text(sample: Sample) -> None:
    assert recognise(sample.path, sample.text) == sample.language


NAMES = """
bash .bashrc x.sh .zshrc gradlew PKGBUILD configure
bazel BUILD.bazel BUILD WORKSPACE x.bzl Tiltfile x.starlark
c x.c
cmake CMakeLists.txt x.cmake
dockerfile Dockerfile Containerfile Dockerfile.prod x.dockerfile
go-module go.mod go.sum go.work
groovy Jenkinsfile x.groovy build.gradle
hcl main.tf x.tfvars .terraform.lock.hcl
ini setup.cfg .editorconfig tox.ini .gitconfig
json package.json .babelrc composer.lock
make Makefile GNUmakefile x.mk makefile
ruby Gemfile Rakefile Vagrantfile x.gemspec Berksfile
toml Cargo.toml Cargo.lock pyproject.toml Pipfile
yaml .clang-format x.yml
python x.py x.pyi SConstruct Snakefile
text LICENSE README
vim .vimrc x.vim
just justfile
meson meson.build
nix flake.nix
protobuf x.proto
"""


@pytest.mark.parametrize("line", NAMES.split("\n")[1:-1])
def test_files_are_recognised_by_their_names(line: str) -> None:
    language, *names = line.split()
    assert {recognise(f"some/where/{name}", "") for name in names} == {language}


def test_more_than_a_hundred_languages_are_known() -> None:
    assert len(LANGUAGES) > 180


@given(st.text(max_size=200), st.sampled_from(["x", "a.h", "a.m", "a.pl", "a.v", "a.d", "a.inc", ".h", "a."]))
def test_any_text_is_recognised_as_something_or_nothing(text: str, path: str) -> None:
    assert recognise(path, text) in {None, *LANGUAGES}
    assert detect_language(path, text) in {None, *LANGUAGES}


@pytest.mark.parametrize("unit", ["a", "(", "a(", " ", "\n", "a:", "FROM a\n", "<!--", "[a]\n", "module ", "vim: "])
@pytest.mark.parametrize("path", ["x", "a.h", "a.m", "a.pl", "a.v", "a.d", "a.inc", "a.cls", "a.pro"])
def test_no_text_takes_long(unit: str, path: str) -> None:
    start = time.process_time()
    recognise(path, unit * (1_000_000 // len(unit)))
    assert time.process_time() - start < 1
