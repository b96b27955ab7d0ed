"""The languages of the JVM, whose packages are folders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from rag_ls.languages.conventions import EXTENDING_CLASS, THROWN_CLASS, ErrorSyntax, read_tests
from rag_ls.languages.imports import (
    SLASH_COMMENT,
    ImportRule,
    Taken,
    first_words,
    read_dotted,
    split_outside_braces,
)
from rag_ls.languages.language import TYPE_NAMES, UNLESS_PRIVATE, Language
from rag_ls.languages.line_rules import read_line_rule
from rag_ls.languages.patterns import COMMON_LEXIS, compile_lines
from rag_ls.languages.reference_rules import CONSTRUCTED, NEW, PREFIX_TYPE, ReferenceRule, read_references
from rag_ls.languages.source_tree import SourceTree, Target
from rag_ls.languages.syntax import read_syntax, words
from rag_ls.model import Import

_SHORTENED = (".kt", ".scala")
_PACKAGE = r"^package\s+([\w.]+)"
_SUFFIXES = (".java", ".kt", ".scala", ".groovy")
# Only the first such folder, because packages may have the same name (`org/codehaus/groovy`).
_LANGUAGE = r"(?:java\d*|kotlin|scala|groovy)/"
SOURCE_ROOT = (
    rf"(?:.*?/)??src/(?:(?!(?:com|org|net|io)/)[\w-]+/)?{_LANGUAGE}"
    r"|(?:.*?/)??src/(?:[\w-]*(?:[mM]ain|[tT]est)[\w-]*/)?"
    rf"|(?:.*?/)??{_LANGUAGE}(?=\w+(?:/|$))"
)
JUNIT_TEST = r"^[ \t]*@(?:Test|ParameterizedTest)\b"


class JvmResolver:
    """See `Resolver`: Java, Kotlin, Scala and Groovy, whose packages are folders."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._packages: dict[str, list[str]] = {}

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The documents of a class, or of a package with `*`; the classes that hold an inner class or static member."""
        parts, names = imported.module.split("."), self._tree.by_name
        for length in range(len(parts), 1, -1):
            # Most imports are of packages from outside.
            suffixes = [suffix for suffix in _SUFFIXES if parts[length - 1] + suffix in names]
            end = "/".join(parts[:length]) if suffixes else ""
            found = [path for suffix in suffixes for path in self._tree.find_ending(end + suffix, importer)]
            if found:
                yield from (Target(path, (parts[length - 1],)) for path in found)
                return
        if "*" in imported.names:
            yield from (Target(path, ("*",)) for path in self._package("/".join(parts)))
        else:
            # Kotlin's functions and types may stand in a file of any name.
            files = self._package("/".join(parts[:-1]))
            yield from (Target(path, (parts[-1],)) for path in files if not path.endswith(".java"))

    def _package(self, folder: str) -> list[str]:
        if folder not in self._packages:
            self._packages[folder] = self._files_of(folder)
        return self._packages[folder]

    def _files_of(self, folder: str) -> list[str]:
        named = self._tree.folders_named.get(folder.rsplit("/", 1)[-1], ())
        folders = [each for each in named if each == folder or each.endswith("/" + folder)]
        if "/" not in folder:
            # `scala.util` is in no folder of the project's that is called `scala`.
            folders = [each for each in folders if self._package_of(each) in ("", folder)]
        # Folders of Kotlin and Scala may leave out the first parts of a package.
        folders = folders or self._shortened.get(folder.replace("/", "."), [])
        files = [path for each in folders for path in self._tree.files_in[each]]
        return [path for path in files if path.endswith(_SUFFIXES)]

    @cached_property
    def _shortened(self) -> dict[str, list[str]]:
        """The folders of each package whose name their paths do not end with, as one document of each folder tells it."""
        found: dict[str, list[str]] = {}
        for folder in self._tree.files_in:
            package = self._package_of(folder, _SHORTENED)
            if package and not f"/{folder}".endswith("/" + package.replace(".", "/")):
                found.setdefault(package, []).append(folder)
        return found

    def _package_of(self, folder: str, suffixes: tuple[str, ...] = _SUFFIXES) -> str:
        """The package that the first document of a folder names."""
        first = next((path for path in self._tree.files_in[folder] if path.endswith(suffixes)), None)
        package = compile_lines(_PACKAGE).search(self._tree.read(first)) if first else None
        return package[1] if package else ""


JAVA = Language(
    "java", title="Java",
    syntax=read_syntax("java"),
    lexis=COMMON_LEXIS, is_matched=True,
    references=read_references("java"),
    imports=ImportRule(read_dotted, ("import_declaration",), marks=(b"import",)), exports=UNLESS_PRIVATE,
    own_names=TYPE_NAMES, resolver=JvmResolver, shares_folder=True, source_root=SOURCE_ROOT, is_named_by_tools=True,
    tests=read_tests("java"),
    errors=ErrorSyntax(declared=EXTENDING_CLASS, raised=THROWN_CLASS),
)  # fmt: skip

KOTLIN = Language(
    "kotlin", title="Kotlin",
    syntax=read_syntax("kotlin"),
    lexis=COMMON_LEXIS, is_matched=True,
    references=read_references("kotlin"),
    imports=ImportRule(read_dotted, ("import_header",), marks=(b"import",)), exports=UNLESS_PRIVATE, own_names=TYPE_NAMES,
    resolver=JvmResolver, shares_folder=True, source_root=SOURCE_ROOT, is_named_by_tools=True,
    tests=read_tests("kotlin"),
    errors=ErrorSyntax(declared=r"\bclass\s+(\w+)\s*(?:\([^()]*\))?\s*:\s*([\w.]+)\(", raised=r"\bthrow\s+([A-Z][\w.]*)"),
)  # fmt: skip


def _read_scala_import(text: str) -> Iterator[Taken]:
    text = re.sub(SLASH_COMMENT, " ", text).removeprefix("import").strip()
    for part in split_outside_braces(text):
        module, brace, names = part.strip().partition(".{")
        if brace:
            wanted = first_words(names.replace("=>", " ").rstrip("} \n"))
            yield module, tuple("*" if name in ("_", "given") else name for name in wanted)
        else:
            yield from read_dotted(part.strip())


SCALA = Language(
    "scala", title="Scala",
    syntax=read_syntax("scala"),
    lexis=COMMON_LEXIS, has_single_quotes=False, is_matched=True,
    references=read_references("scala"),
    imports=ImportRule(_read_scala_import, ("import_declaration",), marks=(b"import",)), exports=UNLESS_PRIVATE,
    own_names=TYPE_NAMES, resolver=JvmResolver, shares_folder=True, source_root=SOURCE_ROOT, is_named_by_tools=True,
    tests=read_tests("scala"),
)  # fmt: skip

GROOVY = Language(
    "groovy", title="Groovy",
    lines=read_line_rule("groovy"),
    lexis=COMMON_LEXIS,
    references=ReferenceRule(is_open=True, kin="jvm", own_is_implied=True, types=(PREFIX_TYPE, CONSTRUCTED, NEW), own=words("this")),
    imports=ImportRule(read_dotted), exports=UNLESS_PRIVATE, resolver=JvmResolver, is_named_by_tools=True,
    tests=read_tests("groovy"),
)  # fmt: skip

LANGUAGES = (JAVA, KOTLIN, SCALA, GROOVY)
