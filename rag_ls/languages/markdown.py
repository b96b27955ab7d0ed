"""Markdown."""

from __future__ import annotations

from rag_ls.languages.comments import TAGGED
from rag_ls.languages.language import Language, Role
from rag_ls.languages.nesting import line_nesting
from rag_ls.languages.syntax import Declaration, Kind, Syntax

MARKDOWN = Language(
    name="markdown",
    role=Role.DOCS,
    is_prose=True,
    suffixes=("md", "markdown", "mdown", "mkd", "mdwn", "rmd", "qmd", "mdc"),
    file_names=(".cursorrules", ".windsurfrules"),
    syntax=Syntax(
        grammar="markdown",
        declarations={
            "section": (
                Declaration(
                    Kind.GROUP,
                    ("<atx_heading/heading_content", "<setext_heading/heading_content"),
                ),
            ),
        },
        comments=frozenset(),
        leaves=frozenset({"paragraph", "inline"}),
        separator=" > ",
        plain_names=True,
        prose=True,
        is_ascii_alone=True,
        nesting=line_nesting,
    ),
    comments=TAGGED,
)
