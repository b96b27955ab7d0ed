"""HCL: Terraform and its kin."""

from __future__ import annotations

from rag_ls.languages.comments import SLASHED_OR_HASHED
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.syntax import Kind, Syntax, declare

HCL = Language(
    name="hcl",
    suffixes=("hcl", "tf", "tfvars", "nomad"),
    file_names=(".terraform.lock.hcl",),
    syntax=Syntax(
        grammar="hcl",
        declarations={
            **declare(Kind.GROUP, "block", names=("!labels",)),
            **declare(Kind.VALUE, "attribute", names=("<identifier",)),
        },
        transparent=frozenset({"body"}),
        plain_names=True,
        outline_depth=1,
    ),
    comments=SLASHED_OR_HASHED,
    references=ReferenceRule(),
)
