"""Rust."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from rag_ls.languages.conventions import read_tests
from rag_ls.languages.imports import (
    SLASH_COMMENT,
    ImportRule,
    PathRule,
    Statement,
    Taken,
    UseRule,
    first_word,
    split_outside_braces,
)
from rag_ls.languages.language import ExportRule, Language
from rag_ls.languages.patterns import SLASHED_COMMENTS, Lexis, compile_lines
from rag_ls.languages.reference_rules import read_references
from rag_ls.languages.source_tree import SourceTree, Target, above, join
from rag_ls.languages.syntax import read_syntax, words
from rag_ls.model import Import

_SECTION = r"(?ms)^\[{}\]\s*$(.*?)(?=^\[|\Z)"
_VALUE = r"(?m)^[ \t]*{}\s*=\s*\"([^\"]+)\""
_RENAMED = r"(?m)^[ \t]*([\w-]+)\s*=\s*\{[^}\n]*\bpackage\s*=\s*\"([^\"]+)\""
_AS = r"\bas\s+([\w$]+)"
_INLINE = rb"^(?:pub(?:\([^)\n]*\))?[ \t]+)?mod[ \t]+\w+[ \t]*\{"
_PATH = rb"\b[a-z_]\w*+::[\w:]*+"
_WITHIN = rb"mod[ \t]+(\w+)"
_GIVEN = r"\b(\w++)\s++as\s++(\w+)"
_BUILT_IN = words("std core alloc i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 str char bool slice self")
_OTHER_ROOTS = ("tests", "examples", "benches")
"""The folders of a crate whose documents are crates of their own."""


def _read_import(text: str) -> Iterator[Taken]:
    text = re.sub(r"^pub(?:\s*\([^)]*\))?\s*", "", re.sub(SLASH_COMMENT, " ", text))
    kind, _, rest = text.partition(" ")
    rest = rest.strip().rstrip(";").strip()
    if kind == "mod":
        yield f"self::{rest}", ()
    elif kind == "extern":
        yield first_word(rest.removeprefix("crate").strip()), ()
    else:
        taken: dict[str, list[str]] = {}
        for path in _branches(rest):
            module, name = _split_leaf(first_word(path))
            taken.setdefault(module, []).extend([name] if name else [])
        yield from ((module, tuple(names)) for module, names in taken.items())


def _branches(text: str, depth: int = 0) -> Iterator[str]:
    """The paths of a tree of braces: `a::{b, c::{d}}` is `a::b` and `a::c::d`."""
    opening = text.find("{")
    if opening < 0 or depth > 8:
        yield text.strip()
        return
    prefix = "".join(text[:opening].split())
    for part in split_outside_braces(text[opening + 1 : text.rfind("}")]):
        yield from (prefix + path for path in _branches(part, depth + 1))


def _split_leaf(path: str) -> tuple[str, str]:
    """Split off the last name if it is a type, constant or `*`; any other name may itself be a module."""
    module, mark, last = path.rpartition("::")
    if last == "self":
        return module, ""
    if mark and (last == "*" or last[:1].isupper()):
        return module, last
    return path, ""


def _bindings(statement: Statement) -> Iterator[tuple[str, str]]:
    if not statement.imported.names:
        alias = re.search(_AS, statement.text)
        yield (alias[1] if alias else statement.imported.module.rsplit("::", 1)[-1]), ""


def _is_inline(data: bytes, start: int) -> bool:
    """Whether a place is within a module that its document holds, as tests often are."""
    return (
        compile_lines(_INLINE).search(data, data.rfind(b"\n}", 0, start) + 1, data.rfind(b"\n", 0, start) + 1)
        is not None
    )


def _place(module: str, data: bytes, start: int) -> str:
    """The module that a path means from a place: in a module within the document, `super` is the document."""
    if not module.startswith("super") or not _is_inline(data, start):
        return module
    rest = module.removeprefix("super").removeprefix("::")
    return rest if rest.startswith("super") else "::".join(filter(None, ("self", rest)))


def _read_paths(statements: Sequence[Statement], data: bytes) -> Callable[[str], tuple[str, str] | None]:
    bound: dict[str, str] = {}
    for statement in statements:
        module, names = statement.imported.module, statement.imported.names
        given = dict(re.findall(_GIVEN, statement.text)) if " as " in statement.text else {}
        last = module.rpartition("::")[2]
        bound.update(
            dict.fromkeys((given.get(name, name) for name in names), "") if names else {given.get(last, last): module}
        )
    own = {name.decode() for name in re.findall(_WITHIN, data)} | _BUILT_IN

    def read(path: str) -> tuple[str, str] | None:
        parts = path.rstrip(":").split("::")
        # A name after a type is its member.
        at = next((number for number, part in enumerate(parts) if part[:1].isupper()), len(parts) - 1)
        first, *inner = parts[:at] or [""]
        if inner and (module := bound.get(first)):
            return "::".join((module, *inner)), parts[at]
        return None if not first or first in bound or first in own else ("::".join(parts[:at]), parts[at])

    return read


class RustResolver:
    """See `Resolver`: `crate`, `self`, `super`, `mod`, and the crates of a workspace."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._known: dict[str, tuple[str, frozenset[str]]] = {}

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The document that declares what a path names: the longest leading part that is a module."""
        first, *rest = imported.module.split("::")
        start = self._start(importer, first)
        if start is None:
            start, rest = self._folder(importer), [first, *rest]
            if self._module(start, rest[:1]) is None:
                return
        is_other = first in self._crates
        while rest and rest[0] == "super":
            start, rest = start.rpartition("/")[0], rest[1:]
        for length in range(len(rest), -1, -1):
            path = self._module(start, rest[:length])
            if path is not None:
                break
        else:
            return
        names = tuple(rest[length : length + 1]) or (*imported.names, *imported.uses)
        # Nothing can be taken from a program.
        if not (is_other and path.endswith("/main.rs")):
            yield Target(path, names)

    def names_of(self, path: str) -> tuple[str, ...]:
        """The names of the crate whose library a document is."""
        folder, _, name = path.rpartition("/")
        is_library = name == "lib.rs" or (name.endswith(".rs") and self._is_root(path, folder))
        return tuple(crate for crate, source in self._crates.items() if source == folder) if is_library else ()

    def _start(self, importer: str, first: str) -> str | None:
        """The folder of the modules below the first part of a path."""
        if first == "crate":
            return self._crate(importer)
        if first == "self":
            return self._folder(importer)
        if first == "super":
            return self._folder(importer).rpartition("/")[0]
        return self._crates.get(first)

    def _crate(self, importer: str) -> str | None:
        """The folder of the modules of the crate that a document is part of."""
        manifest = self._tree.nearest("Cargo.toml", importer)
        if manifest is None:
            return None
        base = manifest.rpartition("/")[0]
        inner = importer[len(base) :].lstrip("/")
        top = inner.partition("/")[0] if not inner.startswith("src/bin/") else "src/bin"
        if top in _OTHER_ROOTS or top == "src/bin":
            within = (folder for folder in above(importer) if len(folder) > len(base))
            return next((each for each in within if join(each, "main.rs") in self._tree.paths), join(base, top))
        return self._sources(manifest)[0]

    def _folder(self, path: str) -> str:
        """The folder that holds the modules below a document's own module."""
        folder, _, name = path.rpartition("/")
        is_root = name in ("mod.rs", "lib.rs", "main.rs", "build.rs") or self._is_root(path, folder)
        return folder if is_root else join(folder, name.removesuffix(".rs"))

    def _is_root(self, path: str, folder: str) -> bool:
        """Whether a document is a crate by itself: a test, an example, a program, what the manifest names."""
        manifest = self._tree.nearest("Cargo.toml", path)
        base = manifest.rpartition("/")[0] if manifest is not None else ""
        others = [join(base, each) for each in (*_OTHER_ROOTS, "src/bin")]
        return manifest is not None and (folder in others or path in self._sources(manifest)[1])

    def _sources(self, manifest: str) -> tuple[str, frozenset[str]]:
        """The folder of the modules of a manifest's crate, and the documents that it names as crates."""
        if manifest not in self._known:
            base, text = manifest.rpartition("/")[0], self._tree.read(manifest)
            roots = [join(base, each) for each in re.findall(_VALUE.format("path"), text) if each.endswith(".rs")]
            library = re.search(_SECTION.format("lib"), text)
            path = re.search(_VALUE.format("path"), library[1]) if library else None
            source = join(base, "src")
            if path:
                source = join(base, path[1]).rpartition("/")[0]
            elif source not in self._tree.folders and roots:
                source = roots[0].rpartition("/")[0]
            self._known[manifest] = source, frozenset(roots)
        return self._known[manifest]

    def _module(self, start: str, parts: list[str]) -> str | None:
        place = join(start, "/".join(parts)) if parts else start
        ends = (".rs", "/mod.rs") if parts else ("/lib.rs", "/mod.rs", "/main.rs", ".rs")
        return next((place + end for end in ends if place + end in self._tree.paths), None)

    @cached_property
    def _crates(self) -> dict[str, str]:
        """The source folders of the workspace's crates by name, and by the names that others give them."""
        found: dict[str, str] = {}
        renamed: dict[str, str] = {}
        for manifest in self._tree.by_name.get("Cargo.toml", ()):
            text = self._tree.read(manifest)
            renamed.update(re.findall(_RENAMED, text))
            for section in ("package", "lib"):
                part = re.search(_SECTION.format(section), text)
                if part and (name := re.search(_VALUE.format("name"), part[1])):
                    found[name[1].replace("-", "_")] = self._sources(manifest)[0]
        given = {name.replace("-", "_"): found.get(crate.replace("-", "_")) for name, crate in renamed.items()}
        return {name: folder for name, folder in given.items() if folder is not None} | found


# Of `&'a mut Cart` and `Cart<T>` the type within is meant. `'` begins a lifetime as often as a character.
RUST = Language(
    "rust", title="Rust",
    syntax=read_syntax("rust"),
    lexis=Lexis(comments=SLASHED_COMMENTS, strings=r'"(?:[^"\\]|\\.)*"|\'"\''), has_single_quotes=False, is_matched=True,
    references=read_references("rust"),
    imports=ImportRule(
        _read_import, ("use_declaration", "extern_crate_declaration"), ("(mod_item !body) @call",), (b"mod", b"pub"), placed=_place,
    ),
    uses=UseRule("::", _bindings), paths=PathRule(_PATH, "::", (b":", b"'"), _read_paths),
    exports=ExportRule(lambda _name, signature, _member: signature.startswith(("pub ", "pub("))), resolver=RustResolver,
    is_named_by_tools=True, tests=read_tests("rust"),
)  # fmt: skip

LANGUAGES = (RUST,)
