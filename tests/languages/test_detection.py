"""Which language a document is in, by its name and first line."""

from __future__ import annotations

import pytest

from rag_ls.languages import by_alias, detect_language
from tests.chunking.samples import SAMPLES, Sample


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.language)
def test_a_file_is_detected_by_its_name(sample: Sample) -> None:
    assert detect_language(sample.path) == sample.language


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


@pytest.mark.parametrize(
    ("word", "language"),
    [
        ("kotlin", "kotlin"),
        ("KT", "kotlin"),
        ("pwsh", "powershell"),
        ("golang", "go"),
        ("C#", "csharp"),
        ("objc", "objective-c"),
        ("dosini", "ini"),
        ("klingon", None),
        ("", None),
    ],
)
def test_a_language_is_meant_by_its_names_suffixes_and_interpreters(word: str, language: str | None) -> None:
    assert by_alias(word) == language
