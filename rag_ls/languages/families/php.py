"""PHP."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from rag_ls.languages.conventions import EXTENDING_CLASS, ErrorSyntax, read_tests
from rag_ls.languages.imports import SLASH_COMMENT, ImportRule, Taken, first_word, first_words, read_strings, split_list
from rag_ls.languages.language import UNLESS_PRIVATE, Language
from rag_ls.languages.patterns import QUOTED, SLASHED_COMMENTS, SLASHED_OR_HASHED, Lexis, compile_lines
from rag_ls.languages.reference_rules import read_references
from rag_ls.languages.source_tree import SourceTree, Target, join
from rag_ls.languages.syntax import read_syntax
from rag_ls.model import Import
from rag_ls.util.decoding import read_json


def _read_import(text: str) -> Iterator[Taken]:
    text = re.sub(SLASH_COMMENT, " ", text)
    if not text.startswith("use"):
        yield from ((module.lstrip("/") if "__DIR__" in text else module, ()) for module, _ in read_strings(text))
        return
    body = re.sub(r"^use\s+(?:function\s+|const\s+)?", "", text).strip().rstrip(";")
    prefix, brace, names = body.partition("{")
    if brace:
        yield prefix.strip(" \\\n"), first_words(names.strip("} \n"))
    else:
        yield from ((first_word(part).lstrip("\\"), ()) for part in split_list(body))


_NAMESPACE = r"^\s*(?:<\?php\s+)?namespace\s+([\w\\]+)\s*[;{]"


class PhpResolver:
    """See `Resolver`: the PSR-4 folders of `composer.json`, else the end of the path; included files."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._namespaces: dict[str, str] = {}

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The documents of the classes that are used, or the file that is included."""
        if imported.module.endswith((".php", ".inc")):
            path = join(importer.rpartition("/")[0], imported.module)
            found = (
                [path] if path in self._tree.paths else self._tree.find_ending(imported.module.lstrip("./"), importer)
            )
            yield from (Target(each) for each in found)
            return
        for name in [f"{imported.module}\\{each}" for each in imported.names] or [imported.module]:
            yield from (Target(path, (name.rpartition("\\")[2],)) for path in self._class(name, importer))

    def _class(self, name: str, importer: str) -> list[str]:
        for prefix, folder in self._prefixes:
            if name.startswith(prefix):
                path = join(folder, name[len(prefix) :].replace("\\", "/") + ".php")
                if path in self._tree.paths:
                    return [path]
        parts = name.split("\\")
        if len(parts) < 2:
            return []
        # Without a manifest: the namespace's last part and the class, unless the file there declares another namespace.
        found = self._tree.find_ending("/".join(parts[-2:]) + ".php", importer)
        space = "\\".join(parts[:-1])
        return [path for path in found if not (own := self._namespace(path)) or f"\\{own}".endswith(f"\\{space}")]

    def _namespace(self, path: str) -> str:
        """The namespace that a document declares; empty if there is none."""
        if path not in self._namespaces:
            declared = compile_lines(_NAMESPACE).search(self._tree.read(path))
            self._namespaces[path] = declared[1] if declared else ""
        return self._namespaces[path]

    @cached_property
    def _prefixes(self) -> list[tuple[str, str]]:
        found = []
        for manifest in self._tree.by_name.get("composer.json", ()):
            try:
                content = read_json(self._tree.read(manifest))
                sections = [content.get(key, {}).get("psr-4", {}) for key in ("autoload", "autoload-dev")]
                pairs = [(prefix, folder) for section in sections for prefix, folder in section.items()]
            except (ValueError, AttributeError):
                continue
            base = manifest.rpartition("/")[0]
            for prefix, folders in pairs:
                for folder in folders if isinstance(folders, list) else [folders]:
                    found.append((str(prefix), join(base, str(folder))))
        return sorted(found, key=lambda item: -len(item[0]))


PHP = Language(
    "php", title="PHP",
    syntax=read_syntax("php"),
    comments=SLASHED_OR_HASHED, lexis=Lexis(comments=SLASHED_COMMENTS + r"|#(?!\[)[^\n]*", strings=QUOTED),
    is_matched=True,
    references=read_references("php"),
    imports=ImportRule(
        _read_import,
        (
            "namespace_use_declaration", "include_expression", "include_once_expression", "require_expression",
            "require_once_expression",
        ),
    ),
    exports=UNLESS_PRIVATE, resolver=PhpResolver, is_named_by_tools=True,
    tests=read_tests("php"),
    errors=ErrorSyntax(declared=EXTENDING_CLASS, raised=r"\bthrow\s+new\s+\\?([\w\\]+)"),
)  # fmt: skip

LANGUAGES = (PHP,)
