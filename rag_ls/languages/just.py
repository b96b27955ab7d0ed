"""Just's recipes, read by their lines."""

from __future__ import annotations

from rag_ls.languages.comments import HASHED
from rag_ls.languages.import_readers import read_strings
from rag_ls.languages.import_rules import ImportRule
from rag_ls.languages.language import Language
from rag_ls.languages.line_rules import QUOTED_NOISE, TRIPLE_NOISE, LineRule
from rag_ls.languages.reference_rules import ReferenceRule

JUST = Language(
    name="just",
    suffixes=("just",),
    file_names=("justfile", "Justfile", ".justfile"),
    interpreters=("just",),
    lines=LineRule(
        declared=(
            rb"^@?(?P<function>[A-Za-z_][\w-]*)(?=(?:[ \t][^:\n]*)?:(?!=))|^(?:export[ \t]+)?(?P<value>[A-Za-z_][\w-]*)[ \t]*:="
            rb"|^alias[ \t]+(?P<function2>[\w-]+)"
        ),
        noise=TRIPLE_NOISE + rb"|" + QUOTED_NOISE + rb"|#[^\n]*",
        attributes=rb"\[",
        imported=rb"^(?:import|mod)\??[ \t]+[^\n]+",
        names=rb"[A-Za-z_][\w-]*",
        calls=rb"^@?[A-Za-z_][\w-]*(?:[ \t][^:\n]*)?:[ \t]*([A-Za-z_][\w-]*)",
    ),
    comments=HASHED,
    references=ReferenceRule(is_open=True),
    imports=ImportRule(read_strings),
)
