"""Pascal, Delphi and Lazarus, read by their lines: the grammar fails where a class has an attribute or a directive."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import Comments
from rag_ls.languages.import_readers import split_list
from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.language import Language
from rag_ls.languages.line_rules import LineRule
from rag_ls.languages.reference_rules import COLON_TYPE, ReferenceRule
from rag_ls.languages.source_tree import SourceTree, Target
from rag_ls.model import Import

_COMMENTS = r"//[^\n]*|\{.*?\}|\(\*.*?\*\)"


def _read_import(text: str) -> Iterator[Taken]:
    names = re.sub(f"(?s){_COMMENTS}", " ", text).strip()[len("uses") :]
    yield from ((name.split()[0], ()) for name in split_list(names.rstrip(";")))


class PascalResolver:
    """See `Resolver`: a unit is a file of its name."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The document of a unit."""
        yield from (Target(path, imported.names) for path in self._tree.find_ending(f"{imported.module}.pas", importer))


PASCAL = Language(
    name="pascal",
    title="Pascal",
    aliases=("delphi", "objectpascal"),
    suffixes=("pas", "lpr", "dpr", "dpk", "inc"),
    lines=LineRule(
        declared=(
            rb"(?i:^[ \t]*+(?:class[ \t]+)?(?:procedure|function|constructor|destructor|operator)[ \t]+"
            rb"(?P<function>[\w.]+(?:<[^<>\n]*>)?[\w.]*)"
            rb"|^[ \t]*+(?P<type>[a-z_]\w*)(?:<[^<>\n]*>)?[ \t]*=[ \t]*(?:packed[ \t]+)?(?!(?:class|interface)[ \t]*;)"
            rb"(?=(?:class|record|interface|object|dispinterface|set|array|reference|procedure|function)\b|\()"
            rb"|^(?:unit|program|library|package)[ \t]+(?P<module>[\w.]+)"
            rb"|^[ \t]*+property[ \t]+(?P<value>\w+)"
            rb"|^[ \t]+(?P<value2>[a-z_]\w*)[ \t]*(?::[^:=;\n]{1,80})?=[ \t]*[^;=\n]+;)"
        ),
        noise=rb"//[^\n]*|\{[^{}]*\}|\(\*(?s:.*?)(?:\*\)|\Z)|'[^'\n]*'",
        closing=rb"(?i:end\b)|\)",
        going_on=rb"(?i:(?:var|const|type|begin|label|private|public|protected|published|strict|asm|threadvar|resourcestring)\b)",
        attributes=rb"\[",
        imported=rb"(?i:^[ \t]*uses\b[^;]{1,4000};)",
        calls=rb":=[ \t]*(?:\w+\.)*([A-Za-z_]\w*)[ \t]*;|^[ \t]*(?:\w+\.)*([A-Za-z_]\w*)[ \t]*;",
        bases=rb"=[ \t]*(?i:class|interface)[ \t]*\(([\w., \t<>]{1,200})\)",
    ),
    comments=Comments(pattern=_COMMENTS, start="// "),
    references=ReferenceRule(
        is_open=True, members_apart=True, types=(COLON_TYPE,), own=frozenset({"Self"}), parents=frozenset({"inherited"})
    ),
    imports=ImportRule(_read_import),
    resolver=PascalResolver,
)
