"""Dockerfiles."""

from __future__ import annotations

from rag_ls.languages.comments import HASHED
from rag_ls.languages.language import Language
from rag_ls.languages.syntax import Kind, Syntax, declare

DOCKERFILE = Language(
    name="dockerfile",
    suffixes=("dockerfile", "containerfile"),
    file_names=("Dockerfile", "Containerfile"),
    syntax=Syntax(
        grammar="dockerfile",
        declarations=declare(Kind.GROUP, "from_instruction", names=("as", "<image_spec")),
        plain_names=True,
    ),
    comments=HASHED,
)
