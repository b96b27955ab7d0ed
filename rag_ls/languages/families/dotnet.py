"""The languages of .NET."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from rag_ls.languages.conventions import THROWN_CLASS, ErrorSyntax, read_tests
from rag_ls.languages.imports import ImportRule, Taken, read_match
from rag_ls.languages.language import TYPE_NAMES, UNLESS_PRIVATE, Language
from rag_ls.languages.line_rules import read_line_rule
from rag_ls.languages.patterns import COMMON_LEXIS, Comments, compile_lines
from rag_ls.languages.reference_rules import COLON_TYPE, ReferenceRule, read_references
from rag_ls.languages.source_tree import SourceTree, Target
from rag_ls.languages.syntax import read_syntax, words
from rag_ls.model import Import


def _read_csharp_import(text: str) -> Iterator[Taken]:
    match = re.match(r"(?:global\s+)?using\s+(static\s+)?(?:\w+\s*=\s*)?(?:global::)?([\w.:]+)", text)
    if match:
        yield match[2], ("*",) if match[1] else ()


_NAMESPACE = r"^\ufeff?[ \t]*namespace[ \t]+([\w.]+)"


class CSharpResolver:
    """See `Resolver`: a namespace means the folder whose path ends as it does, a type its file there."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._namespaces: dict[str, tuple[str, ...]] = {}

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The documents in the folder of a namespace; the one of a type that is given another name, or whose members are taken."""
        parts = imported.module.split(".")
        for length in range(len(parts), 0, -1):
            end = "/".join(parts[-length:])
            files = [path for folder in self._folders(parts[-length:]) for path in self._tree.files_in[folder]]
            if found := [path for path in files if path.endswith(".cs") and self._declares(path, imported.module)]:
                yield from (Target(path, ("*",)) for path in found)
                return
            space = ".".join(parts[:-1])
            named = self._tree.find_ending(f"{end}.cs", importer) if length > 1 else []
            if found := [path for path in named if self._declares(path, space)]:
                yield from (Target(path, (parts[-1],)) for path in found)
                return

    def _folders(self, parts: Sequence[str]) -> Iterable[str]:
        """The folders whose paths end in some parts of a namespace; a folder may have the name of several."""
        end = "/".join(parts)
        return (each for each in self._by_end.get(parts[-1], ()) if f"/{each.replace('.', '/')}".endswith(f"/{end}"))

    @cached_property
    def _by_end(self) -> dict[str, list[str]]:
        """The folders by the last part of their names."""
        found: dict[str, list[str]] = {}
        for folder in self._tree.files_in:
            found.setdefault(folder.replace(".", "/").rpartition("/")[2], []).append(folder)
        return found

    def _declares(self, path: str, namespace: str) -> bool:
        """Whether a document adds to a namespace: to that one, or to one whose last parts it is."""
        if path not in self._namespaces:
            self._namespaces[path] = tuple(compile_lines(_NAMESPACE).findall(self._tree.read(path)))
        return any(f".{each}".endswith(f".{namespace}") for each in self._namespaces[path])


# A namespace is not named, so that both of its forms give the same symbols.
CSHARP = Language(
    "csharp", title="C#",
    syntax=read_syntax("csharp"),
    lexis=COMMON_LEXIS, is_matched=True,
    references=read_references("csharp"),
    imports=ImportRule(_read_csharp_import, ("using_directive",), marks=(b"using",)),
    exports=UNLESS_PRIVATE, own_names=TYPE_NAMES, resolver=CSharpResolver, needs_use=True, is_named_by_tools=True,
    tests=read_tests("csharp"),
    errors=ErrorSyntax(declared=r"\bclass\s+(\w+)\s*(?:\([^()]*\))?\s*:\s*([\w.]+)", raised=THROWN_CLASS),
)  # fmt: skip


FSHARP = Language(
    "fsharp", title="F#",
    lines=read_line_rule("fsharp"),
    comments=Comments(pattern=r"//[^\n]*|\(\*(?!\)).*?\*\)", start="// "), has_single_quotes=False, is_indented=True,
    references=ReferenceRule(is_open=True, types=(COLON_TYPE,), own=words("this self x __ _")),
    imports=ImportRule(read_match(r"^(?:open|#load|#r)\s+(?:type\s+)?\"?([^\s\"]+)")), exports=UNLESS_PRIVATE,
)  # fmt: skip


VB = Language(
    "vb", title="Visual Basic",
    lines=read_line_rule("vb"),
    comments=Comments(pattern=r"'[^\n]*", start="' "), has_single_quotes=False,
    references=ReferenceRule(is_open=True, own=words("Me"), parents=words("MyBase")),
    imports=ImportRule(read_match(r"(?i)^imports\s+(?:\w+\s*=\s*)?([\w.]+)")),
)  # fmt: skip

LANGUAGES = (CSHARP, FSHARP, VB)
