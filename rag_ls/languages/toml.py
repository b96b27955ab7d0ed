"""TOML."""

from __future__ import annotations

from rag_ls.languages.comments import HASHED
from rag_ls.languages.language import Language, Role
from rag_ls.languages.syntax import Kind, Syntax, declare

_KEYS = ("<dotted_key", "<bare_key", "<quoted_key")


TOML = Language(
    name="toml",
    role=Role.DATA,
    suffixes=("toml",),
    file_names=("Cargo.lock", "poetry.lock", "uv.lock", "Pipfile", "pdm.lock"),
    syntax=Syntax(
        grammar="toml",
        declarations=declare(Kind.GROUP, "table", "table_array_element", "pair", names=_KEYS),
        plain_names=True,
        outline_depth=2,
    ),
    comments=HASHED,
)
