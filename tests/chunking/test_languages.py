"""What each language's declarations are called, and which language a document is in."""

from __future__ import annotations

import pytest

from rag_ls.chunking import Budget, detect_language
from rag_ls.chunking.grammars import SPECS

from .checks import MEDIUM, chunks_of
from .samples import SAMPLES, Sample


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.language)
def test_declarations_are_found_by_their_symbols(sample: Sample) -> None:
    symbols = {chunk.symbol for chunk in chunks_of(sample.text, sample.language, MEDIUM)}
    assert set(sample.symbols) <= symbols


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.language)
def test_declarations_are_found_in_files_with_other_line_ends(sample: Sample) -> None:
    symbols = {c.symbol for c in chunks_of(sample.text.replace("\n", "\r\n"), sample.language, MEDIUM)}
    assert set(sample.symbols) <= symbols


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.language)
def test_a_file_is_detected_by_its_name(sample: Sample) -> None:
    assert detect_language(sample.path) == sample.language


def test_every_grammar_has_a_sample() -> None:
    assert {sample.language for sample in SAMPLES} == set(SPECS)


@pytest.mark.parametrize(
    ("path", "first_line", "language"),
    [
        ("Makefile", "", "make"),
        ("a/b/CMakeLists.txt", "", "cmake"),
        ("requirements-dev.txt", "", "requirements"),
        ("notes.TXT", "", "text"),
        ("doc/index.rst", "", "rst"),
        ("api.proto", "", "protobuf"),
        ("schema.graphql", "", "graphql"),
        ("setup.cfg", "", "ini"),
        ("x.d.ts", "", "typescript"),
        ("a\\b\\x.PY", "", "python"),
        ("config.yaml.example", "", "yaml"),
        ("Dockerfile.dev", "", "dockerfile"),
        ("bin/run", "#!/usr/bin/env python3.11", "python"),
        ("bin/run", "#!/usr/bin/env -S node --flag", "javascript"),
        ("bin/run", "#!/bin/sh -e", "bash"),
        ("bin/run", "\ufeff#!/bin/dash", "bash"),
        ("feed", '<?xml version="1.0"?>', "xml"),
        ("bin/run", "hello", None),
        ("blob.unheardof", "", None),
        ("", "", None),
    ],
)
def test_a_language_is_detected(path: str, first_line: str, language: str | None) -> None:
    assert detect_language(path, first_line) == language


def test_a_header_with_classes_is_read_as_cpp() -> None:
    text = "#pragma once\nnamespace a {\nclass Foo {\n public:\n  void bar(int x, int y, int z);\n};\n}\n"
    chunks = chunks_of(text, "c", Budget(), path="foo.h")
    assert [chunk.symbol for chunk in chunks] == ["a.Foo"]


def test_forty_languages_and_more_are_read_by_their_grammars() -> None:
    assert len(SPECS) >= 45
