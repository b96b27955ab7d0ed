"""YAML."""

from __future__ import annotations

from rag_ls.languages.comments import HASHED
from rag_ls.languages.language import Language, Role
from rag_ls.languages.nesting import line_nesting
from rag_ls.languages.syntax import Kind, Syntax, declare

YAML = Language(
    name="yaml",
    role=Role.DATA,
    suffixes=("yaml", "yml", "clang-format", "clang-tidy", "cff", "sublime-syntax"),
    file_names=(".clang-format", ".clang-tidy", ".clangd", ".yamllint", "CITATION.cff"),
    syntax=Syntax(
        grammar="yaml",
        declarations=declare(Kind.GROUP, "block_mapping_pair", "flow_pair", names=("key",)),
        transparent=frozenset({"document", "block_node", "block_mapping"}),
        plain_names=True,
        outline_depth=2,
        nesting=line_nesting,
    ),
    comments=HASHED,
    is_indented=True,
    is_matched=True,
)
