"""What of a selection is a note."""

from __future__ import annotations

import pytest

from rag_ls.lsp.features.actions import note_in


@pytest.mark.parametrize(
    ("text", "language", "note"),
    [
        ("Amounts are rounded half up.", "markdown", "Amounts are rounded half up."),
        ("Ask Ann first.", "", "Ask Ann first."),
        ("    # Amounts are rounded half up,\n    # as the law says.", "python", "Amounts are rounded half up,\nas the law says."),
        ('    """Sum of the cart, less the discount."""', "python", "Sum of the cart, less the discount."),
        ("// first\n/// second", "rust", "first\nsecond"),
        ("/**\n * Kept for old clients.\n * @see #12\n */", "typescript", "Kept for old clients.\n@see #12"),
        ("/* one */", "c", "one"),
        ("-- nightly only", "sql", "nightly only"),
        ("<!-- keep in step with the server -->", "xml", "keep in step with the server"),
    ],
)  # fmt: skip
def test_prose_and_comments_are_notes_without_their_marks(text: str, language: str, note: str) -> None:
    assert note_in(text, language) == note


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("def dump_cookie(", "python"),
        ("# a comment\nx = 1", "python"),
        ('"""A docstring."""\nreturn 1', "python"),
        ("/* one */ call(); /* two */", "c"),
        ("total += price;", "javascript"),
        ("#", "python"),
        ("   ", "python"),
        ('"""', "python"),
    ],
)
def test_code_is_none(text: str, language: str) -> None:
    assert note_in(text, language) == ""
