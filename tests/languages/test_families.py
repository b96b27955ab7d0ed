"""A language in a filter, setting or rule means every document that holds code in it."""

from __future__ import annotations

from pathlib import Path

import pytest

import rag_ls.languages.families
from rag_ls.languages import find_language, holds_language
from rag_ls.languages.names import MODULES
from rag_ls.languages.patterns import read_sections

_FAMILIES = Path(rag_ls.languages.families.__file__).parent


@pytest.mark.parametrize(
    ("wanted", "language", "path"),
    [
        ("typescript", "tsx", "a.tsx"),
        ("typescript", "vue", "a.vue"),
        ("javascript", "svelte", "a.svelte"),
        ("javascript", "ejs", "a.ejs"),
        ("cpp", "c", "include/a.h"),
        ("c", "cpp", "include/A.H"),
        ("objective_c", "c", "a.h"),
        ("cpp", "cuda", "a.cu"),
        ("python", "notebook", "a.ipynb"),
        ("ruby", "erb", "a.html.erb"),
        ("php", "twig", "a.twig"),
        ("go", "go", "a.go"),
    ],
)
def test_documents_that_hold_code_in_it_belong_to_a_language(wanted: str, language: str, path: str) -> None:
    assert holds_language(wanted, language, path)


@pytest.mark.parametrize(
    ("wanted", "language", "path"),
    [
        ("tsx", "typescript", "a.ts"),
        ("typescript", "javascript", "a.js"),
        ("javascript", "typescript", "a.ts"),
        ("cpp", "c", "a.c"),
        ("python", "markdown", "a.h"),
        ("vue", "typescript", "a.ts"),
        ("nonsense", "python", "a.py"),
    ],
)
def test_documents_of_another_language_do_not(wanted: str, language: str, path: str) -> None:
    assert not holds_language(wanted, language, path)


@pytest.mark.parametrize("file", sorted(_FAMILIES.glob("*.txt")), ids=lambda file: file.stem)
def test_each_table_of_a_family_is_read_by_its_language(file: Path) -> None:
    kinds = {"declarations": "syntax", "lines": "lines", "references": "references", "tests": "tests"}
    sections = [section.split(" ") for section in read_sections(f"families/{file.name}") if section]
    assert sections
    for kind, language in sections:
        assert MODULES[language] == file.stem
        assert getattr(find_language(language), kinds[kind]) is not None
