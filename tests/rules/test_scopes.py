"""A rule is about the files that its text names, and those below its document's folder."""

from __future__ import annotations

import pytest

from rag_ls.rules.scopes import governs, is_about


@pytest.mark.parametrize(
    ("text", "path", "named"),
    [
        ("Everything in `src/api/` returns JSON.", "src/api/users.py", "src/api/"),
        ("Everything in src/api/ returns JSON.", "src/api/users.py", "src/api/"),
        ('- files: "src/**/*.ts"', "src/web/a.ts", "src/**/*.ts"),
        ("`services/*.py` hold no SQL", "app/services/cart.py", "services/*.py"),
        ("`src/{api,web}/**` is typed", "src/web/a.ts", "src/{api,web}/**"),
        ("`retry.py` is generated", "lib/retry.py", "retry.py"),
        ("either/or is no path here", "src/a.py", ""),
        ("see https://example.org/src/api/", "src/api/users.py", ""),
        ("`api` is a word", "src/api/users.py", ""),
        ("Only `src/web/` matters.", "src/api/users.py", ""),
    ],
)
def test_a_text_names_files(text: str, path: str, named: str) -> None:
    assert is_about(text, path) == named


def test_a_document_of_a_package_governs_the_package() -> None:
    assert governs("packages/api/AGENTS.md", "packages/api/src/a.ts")
    assert not governs("packages/api/AGENTS.md", "packages/web/a.ts")
    assert not governs("AGENTS.md", "packages/web/a.ts"), "the root's rules are for everything: that says nothing"
