"""A language in a filter, setting or rule means every document that holds code in it."""

from __future__ import annotations

import pytest

from rag_ls.languages import holds_language


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
