"""Nim, read by its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import HASHED
from rag_ls.languages.exports import ExportRule
from rag_ls.languages.import_readers import first_word, first_words, split_list
from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.language import Language
from rag_ls.languages.line_rules import DOUBLE_NOISE, LineRule
from rag_ls.languages.reference_rules import COLON_TYPE, CONSTRUCTED, ReferenceRule
from rag_ls.languages.source_tree import SourceTree, Target
from rag_ls.model import Import


def _read_import(text: str) -> Iterator[Taken]:
    text = re.sub(r"#[^\n]*", " ", text)
    if match := re.match(r"from\s+([\w./]+)\s+import\s+(.*)", text, re.DOTALL):
        yield match[1], first_words(match[2])
        return
    body = re.sub(r"^(?:import|include)\s+", "", text).partition(" except ")[0]
    for folder, names in re.findall(r"([\w./]+)/\[([^\]]*)\]", body):
        yield from ((f"{folder}/{name}", ()) for name in split_list(names))
    yield from ((first_word(part), ()) for part in split_list(re.sub(r"[\w./]+/\[[^\]]*\]", "", body)))


def _is_public(name: str, signature: str, _member: bool) -> bool:
    return re.search(rf"(?:^|\s){re.escape(name)}`?\*", signature) is not None


class NimResolver:
    """See `Resolver`: a module is a file below the importer's folder, or of its name."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The document of a module."""
        name = re.sub(r"^(?:\.{1,2}/)+", "", imported.module)
        yield from (Target(path, imported.names) for path in self._tree.find_ending(f"{name}.nim", importer))


NIM = Language(
    name="nim",
    title="Nim",
    suffixes=("nim", "nims", "nimble"),
    interpreters=("nim",),
    lines=LineRule(
        declared=(
            rb"^[ \t]*+(?:proc|func|method|iterator|template|macro|converter)[ \t]+(?P<function>\w+|`[^`\n]+`)"
            rb"|^[ \t]*+(?:type[ \t]+)?(?P<type>[A-Z]\w*)\*?(?:\[[^\]\n]*\])?[ \t]*(?:\{\.[^\n]*?\.?\})?[ \t]*=[ \t]*"
            rb"(?=(?:(?:ref|ptr)[ \t]+)?(?:object|enum|tuple|distinct|concept|proc|ref|ptr|set|seq|array|[A-Z]\w*(?:\[[^\n]*\])?[ \t]*$)|$)"
            rb"|^(?:const|let|var)[ \t]+(?P<value>\w+)\*?[ \t]*(?:\{\.[^\n]*?\.?\}[ \t]*)?(?=[=:])"
            rb"|^[ \t]+(?P<value2>[A-Za-z]\w*)\*[ \t]*(?==[^=])"
            rb"|^task[ \t]+(?P<function2>\w+)"
        ),
        noise=rb"#\[(?s:.*?)(?:\]#|\Z)|#[^\n]*|" + rb'"""(?s:.*?)(?:"""|\Z)|' + DOUBLE_NOISE,
        closing=rb"[})\]]",
        going_on=rb"(?:else|elif|except|finally|of)\b",
        attributes=rb"\{\.",
        imported=rb"^[ \t]*(?:import[ \t\n]+[^\n]+(?:,[ \t]*\n[^\n]+){0,40}|include[ \t]+[^\n]+|from[ \t]+[\w./]+[ \t]+import[ \t]+[^\n]+)",
        called=rb"\(",
        calls=rb"\.([A-Za-z]\w*)|^[ \t]*([a-z]\w*)[ \t]+[\"A-Za-z0-9]",
        bases=rb"\bobject[ \t]+of[ \t]+([\w.]+)",
        docstring=rb"[^\n]*+(?:\n[ \t]++[^\n]*+){0,6}?(?<==)\n((?:[ \t]++##[^\n]*+\n)+)",
    ),
    comments=HASHED,
    has_single_quotes=False,
    is_indented=True,
    references=ReferenceRule(is_open=True, types=(COLON_TYPE, CONSTRUCTED)),
    imports=ImportRule(_read_import),
    exports=ExportRule(_is_public),
    resolver=NimResolver,
)
