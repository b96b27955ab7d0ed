"""Python and Cython."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cached_property
from itertools import filterfalse

from rag_ls.languages.conventions import ErrorSyntax, read_tests
from rag_ls.languages.imports import (
    ImportRule,
    Statement,
    Taken,
    UseRule,
    first_word,
    first_words,
    split_list,
)
from rag_ls.languages.language import NAME, TEXT, ExportRule, Language, OwnNameRule
from rag_ls.languages.line_rules import read_line_rule
from rag_ls.languages.patterns import HASHED, QUOTED, TRIPLE_QUOTED, Lexis
from rag_ls.languages.reference_rules import ReferenceRule, read_references
from rag_ls.languages.source_tree import SourceTree, Target, above, closest, join
from rag_ls.languages.syntax import read_syntax, words
from rag_ls.model import Import

_COMMENTS = r"#[^\n]*|\\\r?\n"
_NOISE = rb"#[^\n]*|" + TEXT + rb"|'(?:[^'\\\n]|\\.)*'"
_MODULE_SUFFIXES = (".py", ".pyi", ".pyx")
_USUAL_ROOTS = ("", "src", "lib", "python")


def _read_import(text: str) -> Iterator[Taken]:
    text = re.sub(_COMMENTS, " ", text)
    match = re.match(r"from\s*([\w.\s]+?)\s*\bimport\b(.*)", text, re.DOTALL)
    if match:
        yield "".join(match[1].split()), first_words(match[2].strip("() \t\r\n"))
        return
    for part in split_list(text.removeprefix("import")):
        yield first_word(part), ()


def _bindings(statement: Statement) -> Iterator[tuple[str, str]]:
    imported = statement.imported
    if imported.names:
        renamed = statement.aliases()
        yield from ((renamed.get(name, name), name) for name in imported.names if name != "*")
        return
    alias = re.search(rf"(?<![\w.]){re.escape(imported.module)}\s+as\s+(\w+)", statement.text)
    yield (alias[1] if alias else imported.module), ""


def _is_public(name: str, _signature: str, _member: bool) -> bool:
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))


class PythonResolver:
    """See `Resolver`."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The documents that an import means."""
        module = self._absolute(importer, imported.module)
        if module is None:
            return
        if not imported.names:
            yield from self._module(module, imported.uses)
            return
        own = self._file(module)
        taken = []
        for name in imported.names:
            submodule = self._file(join(module, name)) if name != "*" else None
            # A package's own function hides the module of its name.
            if submodule is None or (own is not None and self._declares(own, name)):
                taken.append(name)
            else:
                members = tuple(use.partition(".")[2] for use in imported.uses if use.startswith(f"{name}."))
                yield Target(submodule, members)
        if own and taken:
            yield Target(own, tuple(taken))

    def _module(self, module: str, uses: tuple[str, ...]) -> Iterator[Target]:
        own = self._file(module)
        if own is not None:
            yield Target(own, uses)
        for use in uses:
            submodule = self._file(join(module, use))
            if submodule is not None:
                yield Target(submodule)

    def _declares(self, path: str, name: str) -> bool:
        """Whether a module has a function or class of a name."""
        return bool(
            re.search(rf"^(?:async\s+)?(?:def|class)\s+{re.escape(name)}\b", self._tree.read(path), re.MULTILINE)
        )

    def _absolute(self, importer: str, module: str) -> str | None:
        """The path of a module without a suffix; None if it is not the project's."""
        name = module.lstrip(".")
        if dots := len(module) - len(name):
            folder = importer.rpartition("/")[0]
            for _ in range(dots - 1):
                if not folder:
                    return None
                folder = folder.rpartition("/")[0]
            return join(folder, name.replace(".", "/")) if name else folder
        path = name.replace(".", "/")
        root = self._root(importer, path)
        return None if root is None else join(root, path)

    def _root(self, importer: str, path: str) -> str | None:
        """The source root from which an absolute module is imported."""
        top = path.split("/", 1)[0]
        for root in _USUAL_ROOTS:
            if self._exists(join(root, top)):
                return root
        if top in sys.stdlib_module_names:
            return None
        for folder in filterfalse(self._is_package, above(importer)):
            if self._exists(join(folder, top)) and self._exists(join(folder, path), loosely=True):
                return folder
        if roots := closest(self._package_roots.get(top, []), importer):
            return roots[0].rpartition("/")[0] if len(roots) == 1 else None
        folder = importer.rpartition("/")[0]
        # A script sees those beside it, even in a package.
        is_script = self._exists(join(folder, path)) and "__name__ ==" in self._tree.read(importer)
        return folder if is_script else None

    def _is_package(self, folder: str) -> bool:
        """Whether a folder is a package, whose modules are imported by its name: not one that is a project besides."""
        has_name = join(folder, "__init__.py") in self._tree.paths
        return has_name and not any(join(folder, each) in self._tree.paths for each in ("pyproject.toml", "setup.py"))

    @cached_property
    def _package_roots(self) -> dict[str, list[str]]:
        """The outermost packages by name: `packages/shop/src/shop`."""
        found: dict[str, list[str]] = {}
        for init in self._tree.by_name.get("__init__.py", ()):
            package = init.rpartition("/")[0]
            outer = package.rpartition("/")[0]
            if package and join(outer, "__init__.py") not in self._tree.paths:
                found.setdefault(package.rpartition("/")[2], []).append(package)
        return found

    def _exists(self, module: str, *, loosely: bool = False) -> bool:
        # The last part of a dotted path may be a name in the module before it.
        parent = module.rpartition("/")[0]
        return (
            self._file(module) is not None or module in self._tree.folders or (loosely and parent in self._tree.folders)
        )

    def _file(self, module: str) -> str | None:
        for suffix in _MODULE_SUFFIXES:
            for candidate in (f"{module}/__init__{suffix}" if module else f"__init__{suffix}", module + suffix):
                if candidate in self._tree.paths:
                    return candidate
        return None


PYTHON = Language(
    "python", title="Python",
    syntax=read_syntax("python"),
    comments=HASHED, lexis=Lexis(comments=TRIPLE_QUOTED + r"|#[^\n]*", strings=QUOTED), is_indented=True,
    is_matched=True,
    references=read_references("python")._replace(library=rf"(?:{'|'.join(sorted(sys.stdlib_module_names))})(?:\.|\Z)"),
    imports=ImportRule(
        _read_import, ("import_statement", "import_from_statement", "future_import_statement"),
        marks=(b"import",),
    ),
    uses=UseRule(r"\s*\.\s*", _bindings), exports=ExportRule(_is_public),
    own_names=OwnNameRule(noise=_NOISE, find=lambda data: re.findall(NAME, data), needs_star=True), resolver=PythonResolver,
    is_named_by_tools=True,
    tests=read_tests("python"),
    errors=ErrorSyntax(
        declared=r"^[ \t]*class\s+(\w+)\(([^()\n]+)\)\s*:", raised=r"^[ \t]*raise[ \t]+([\w.]+)", raise_word="raise",
    ),
)  # fmt: skip


def _read_cython_import(text: str) -> Iterator[Taken]:
    if text.startswith("include"):
        yield from ((name, ()) for name in text.split()[1:2])
    else:
        yield from _read_import(text.replace("cimport", "import"))


CYTHON = Language(
    "cython", title="Cython",
    lines=read_line_rule("cython"),
    comments=HASHED, is_indented=True, references=ReferenceRule(own=words("self cls"), parents=words("super()")),
    imports=ImportRule(_read_cython_import), exports=PYTHON.exports, resolver=PythonResolver, is_named_by_tools=True,
)  # fmt: skip

LANGUAGES = (PYTHON, CYTHON)
