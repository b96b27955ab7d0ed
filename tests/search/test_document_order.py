"""Code comes before tests, tests before texts, each by path."""

from __future__ import annotations

import numpy as np

from rag_ls.search.roles import Roles
from rag_ls.search.view import DocumentOrder

ROWS = [
    (7, "src/b.py", "python", ""),
    (2, "README.md", "markdown", ""),
    (9, "src/a.py", "python", ""),
    (4, "tests/test_a.py", "python", ""),
]


def test_documents_are_ranked_by_role_and_path() -> None:
    order, roles = DocumentOrder(), Roles()
    arranged = order.arrange(ROWS, roles)
    assert [document.path for document in arranged.documents] == [
        "src/a.py",
        "src/b.py",
        "tests/test_a.py",
        "README.md",
    ]
    assert arranged.find_ranks(np.array([2, 3, 4, 7, 9, 10])).tolist() == [3, -1, 2, 1, 0, -1]
    assert order.arrange([], roles).find_ranks(np.array([2])).tolist() == [-1]


def test_the_order_is_made_anew_for_other_rows_or_roles() -> None:
    order, roles = DocumentOrder(), Roles()
    first = order.arrange(ROWS, roles)
    assert order.arrange(ROWS, roles) is first
    assert [document.document_id for document in order.arrange(ROWS[:1], roles).documents] == [7]
    other = Roles(test_globs=("src/a.py",))
    assert order.arrange(ROWS, other).documents[0].path == "src/b.py"
