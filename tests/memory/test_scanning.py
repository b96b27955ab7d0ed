"""Proposals from commits and comments."""

from __future__ import annotations

import pytest

from rag_ls.memory.scanning import propose_from_comments, propose_from_commits
from rag_ls.storage.commits import StoredCommit


def _commit(subject: str, body: str) -> StoredCommit:
    return StoredCommit(1, "a" * 40, 0, "", subject, body)


def test_a_commit_that_says_why_is_proposed_with_its_reason() -> None:
    body = "Tests added.\n\nWe use integers here because\nfloats lose cents in long sums.\n\nSigned-off-by: A <a@b.c>\n"
    (proposal,) = propose_from_commits([_commit("Count in cents.", body)])
    assert proposal.content == "Count in cents: We use integers here because floats lose cents in long sums."
    assert proposal.origin == "commit aaaaaaaaaa"


@pytest.mark.parametrize(
    ("subject", "body"),
    [
        ("Count in cents", ""),
        ("Count in cents", "Adds a test and a page of documentation to it."),
        ("Count in cents", "I am not sure why we must do this, but it is because the tests never passed."),
        ("Bump x from 1 to 2", "We must do it because the old one is never supported."),
        ("Merge branch a", "We must do it because the old one is never supported."),
    ],
)
def test_a_commit_without_a_reason_is_not(subject: str, body: str) -> None:
    assert [*propose_from_commits([_commit(subject, body)])] == []


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (
            "x = 1\n# HACK: sleep, because the scanner\n# drops its first byte.\ny = 2\n",
            "sleep, because the scanner drops its first byte.",
        ),
        (
            "/* NOTE(ada): kept, since not all clients have moved to v2 */\n",
            "kept, since not all clients have moved to v2",
        ),
        ("<!-- TODO: remove it, since nobody links here now -->\n", "remove it, since nobody links here now"),
    ],
)
def test_a_marked_comment_with_a_reason_is_proposed_at_its_place(text: str, content: str) -> None:
    (proposal,) = propose_from_comments("src/a.py", text)
    assert proposal.content == content
    assert proposal.anchor is not None
    assert (proposal.anchor.path, proposal.anchor.start_line) == (
        "src/a.py",
        1 + text[: text.index(content[:5])].count("\n"),
    )


@pytest.mark.parametrize(
    "text",
    ["# TODO: rename this\n", "# because of this, x is one of them\n", 'x = "NOTE: because it is so and no other"\n'],
)
def test_other_comments_and_texts_are_not(text: str) -> None:
    assert [*propose_from_comments("src/a.py", text)] == []
