"""Go."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from rag_ls.languages.conventions import read_tests
from rag_ls.languages.imports import STRING, ImportRule, Statement, Taken, UseRule
from rag_ls.languages.language import NAME, TEXT, ExportRule, Language, OwnNameRule
from rag_ls.languages.patterns import DOUBLE_QUOTED, SLASHED_COMMENTS, Lexis
from rag_ls.languages.reference_rules import read_references
from rag_ls.languages.source_tree import SourceTree, Target, join
from rag_ls.languages.syntax import read_syntax
from rag_ls.model import Import

_MODULE = r"(?m)^[ \t]*module\s+\"?([^\s\"]+)"
_ALIAS = r"^\s*(\w+)\s+[\"`]"
_VERSION = r"^v\d+$"
_NOISE = rb"//[^\n]*|/\*.*?\*/|`[^`]*`|'(?:[^'\\\n]|\\.)*'|" + TEXT
# Places that declare a name or name a field, so they do not use it.
_DECLARES = rb"\bfunc\s*\([^()]*\)\s*\w+|\bfunc\s+\w+|\btype\s+\w+|(?<!case )(?<![\w.])\w+\s*:(?!=)"
_INTERFACE = rb"\binterface\s*\{[^{}]*\}"
_METHOD = rb"(?m)^\s*\w+(?=\()"
_STRUCT = rb"\bstruct\s*\{[^{}]*\}"
_FIELD = rb"(?m)^(\s*)\w+(?:\s*,\s*\w+)*(?=[ \t]+\S)"
_LOCAL = rb"((?:\b\w+\s*,\s*)*\b\w+)\s*:=|\b(?:var|const)\s+(\w+)|[(,]\s*(\w+(?:\s*,\s*\w+)*)\s+(?:\.\.\.|\*|\[|\w|chan\b|func\b)"


def _read_import(text: str) -> Iterator[Taken]:
    for match in re.finditer(STRING, text):
        yield match[2], ("*",) if text.lstrip().startswith(".") else ()


def _bindings(statement: Statement) -> Iterator[tuple[str, str]]:
    yield _package_name(statement), ""


def _package_name(statement: Statement) -> str:
    alias = re.match(_ALIAS, statement.text)
    if alias:
        return alias[1]
    module = statement.imported.module
    parts = [part for part in module.split("/") if not re.match(_VERSION, part)] or [module]
    # The package of `gopkg.in/yaml.v3` is yaml; that of `go-cmp` is often cmp.
    return parts[-1].split(".v")[0].removeprefix("go-").removesuffix("-go").rpartition("-")[2] or parts[-1]


def _own_names(data: bytes) -> list[bytes]:
    data = re.sub(_INTERFACE, lambda match: re.sub(_METHOD, b"", match[0]), data)
    data = re.sub(_STRUCT, lambda match: re.sub(_FIELD, rb"\1", match[0]), data)
    found = list(dict.fromkeys(re.findall(NAME, re.sub(_DECLARES, b" ", data))))
    local = {
        name.strip()
        for match in re.finditer(_LOCAL, data)
        for group in match.groups()
        if group
        for name in group.split(b",")
    }
    # A local variable hides a lower-case name of the package; exported names are seldom hidden.
    return [name for name in found if name not in local or name[:1].isupper()]


class GoResolver:
    """See `Resolver`. A package is a folder: each of its files is a target, with the names that are used."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The documents that an import means."""
        folder = self.folder_of(imported.module)
        if folder is None:
            return
        names = ("*",) if "*" in imported.names else imported.uses
        for path in self._tree.files_in.get(folder, ()):
            if path.endswith(".go") and not path.endswith("_test.go"):
                yield Target(path, names)

    def folder_of(self, module: str) -> str | None:
        """The folder of a package of the project; None for any other package."""
        for prefix, folder in self._modules:
            if module == prefix:
                return folder
            if module.startswith(prefix + "/"):
                return join(folder, module[len(prefix) + 1 :])
        return None

    def names_of(self, path: str) -> tuple[str, ...]:
        """The last part of the module path, for a Go file in the folder of a `go.mod`."""
        if not path.endswith(".go"):
            return ()
        folder = path.rpartition("/")[0]
        return tuple(prefix.rsplit("/", 1)[-1] for prefix, root in self._modules if root == folder)

    @cached_property
    def _modules(self) -> list[tuple[str, str]]:
        """Module paths with their folders, the longest first."""
        found = []
        for manifest in self._tree.by_name.get("go.mod", ()):
            if match := re.search(_MODULE, self._tree.read(manifest)):
                found.append((match[1], manifest.rpartition("/")[0]))
        return sorted(found, key=lambda item: -len(item[0]))


GO = Language(
    "go", title="Go",
    syntax=read_syntax("go"),
    lexis=Lexis(comments=SLASHED_COMMENTS, strings=DOUBLE_QUOTED + r"|'(?:[^'\\\n]|\\.){1,8}'|`[^`]*`"), is_matched=True,
    references=read_references("go"),
    imports=ImportRule(_read_import, ("import_spec",), marks=(b"import",)),
    uses=UseRule(r"\.", _bindings), exports=ExportRule(lambda name, _signature, _member: name.rpartition(".")[2][:1].isupper()),
    own_names=OwnNameRule(noise=_NOISE, find=_own_names), resolver=GoResolver, shares_folder=True, needs_use=True,
    is_named_by_tools=True,
    tests=read_tests("go"),
)  # fmt: skip

LANGUAGES = (GO,)
