"""Rust."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from rag_ls.languages.comments import SLASHED_COMMENTS, Lexis
from rag_ls.languages.conventions import Tests
from rag_ls.languages.exports import ExportRule
from rag_ls.languages.import_readers import SLASH_COMMENT, first_word, split_outside_braces
from rag_ls.languages.import_rules import ImportRule, Statement, Taken, UseRule
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import TYPE, ReferenceRule
from rag_ls.languages.source_tree import SourceTree, Target, join
from rag_ls.languages.syntax import Kind, Syntax, declare
from rag_ls.model import Import

_PACKAGE_NAME = r"(?m)^[ \t]*name\s*=\s*\"([^\"]+)\""
_AS = r"\bas\s+([\w$]+)"


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


def _is_public(_name: str, signature: str, _member: bool) -> bool:
    return signature.startswith(("pub ", "pub("))


class RustResolver:
    """See `Resolver`: `crate`, `self`, `super`, `mod`, and the crates of a workspace."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The document that declares what a path names: the longest leading part that is a module."""
        first, *rest = imported.module.split("::")
        start = self._start(importer, first)
        if start is None:
            start, rest = self._folder(importer), [first, *rest]
            if self._module(start, rest[:1]) is None:
                return
        while rest and rest[0] == "super":
            start, rest = start.rpartition("/")[0], rest[1:]
        for length in range(len(rest), -1, -1):
            path = self._module(start, rest[:length])
            if path is not None:
                break
        else:
            return
        names = tuple(rest[length : length + 1]) or (*imported.names, *imported.uses)
        if path != importer:
            yield Target(path, names)

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
        manifest = self._tree.nearest("Cargo.toml", importer)
        return None if manifest is None else join(manifest.rpartition("/")[0], "src")

    def _folder(self, path: str) -> str:
        """The folder that holds the modules below a document's own module."""
        folder, _, name = path.rpartition("/")
        return folder if name in ("mod.rs", "lib.rs", "main.rs") else join(folder, name.removesuffix(".rs"))

    def _module(self, start: str, parts: list[str]) -> str | None:
        place = join(start, "/".join(parts)) if parts else start
        ends = (".rs", "/mod.rs") if parts else ("/lib.rs", "/mod.rs", "/main.rs", ".rs")
        return next((place + end for end in ends if place + end in self._tree.paths), None)

    @cached_property
    def _crates(self) -> dict[str, str]:
        """The source folders of the workspace's crates by name."""
        found = {}
        for manifest in self._tree.by_name.get("Cargo.toml", ()):
            if match := re.search(_PACKAGE_NAME, self._tree.read(manifest)):
                found[match[1].replace("-", "_")] = join(manifest.rpartition("/")[0], "src")
        return found


RUST = Language(
    name="rust",
    title="Rust",
    suffixes=("rs",),
    syntax=Syntax(
        grammar="rust",
        declarations={
            **declare(Kind.TYPE, "struct_item", "enum_item", "union_item", "trait_item", "type_item"),
            **declare(Kind.FUNCTION, "function_item", "function_signature_item", "macro_definition"),
            **declare(Kind.VALUE, "const_item", "static_item"),
            **declare(Kind.SCOPE, "mod_item"),
            # Of `&'a mut Cart` and `Cart<T>` the type within is meant.
            **declare(Kind.SCOPE, "impl_item", names=("type/type", "type"), listed=""),
        },
        comments=frozenset({"line_comment", "block_comment"}),
        attributes=frozenset({"attribute_item"}),
        transparent=frozenset({"foreign_mod_item"}),
    ),
    # `'` begins a lifetime as often as a character; a string may go over several lines.
    lexis=Lexis(comments=SLASHED_COMMENTS, strings=r'"(?:[^"\\]|\\.)*"|\'"\''),
    has_single_quotes=False,
    is_matched=True,
    references=ReferenceRule(
        members_apart=True,
        calls=(
            "(call_expression function: (_) @call)",
            "(generic_function function: (_) @call)",
            "(macro_invocation macro: (_) @call)",
            "(macro_invocation (token_tree) @macro)",
        ),
        bases=("(impl_item trait: (_) @base)", "(impl_item trait: (generic_type type: (_) @base))"),
        own=frozenset({"self", "Self"}),
        creators=frozenset({"Self"}),
        wrappers=frozenset({"Arc", "Box", "Rc"}),
        fields=r"\.\s*$",
        labels=r"\s*:(?!:)",
        types=(
            r"(?<![\w.]){name}\s*:\s*&?(?:'\w+\s+)?(?:mut\s+)?" + TYPE,
            r"(?<![\w.]){name}\s*=\s*&?(?:mut\s+)?" + TYPE + r"(?:::new\b|\s*\{)",
        ),
    ),
    imports=ImportRule(
        _read_import, ("use_declaration", "extern_crate_declaration"), ("(mod_item !body) @call",), (b"mod", b"pub")
    ),
    uses=UseRule("::", _bindings),
    exports=ExportRule(_is_public),
    resolver=RustResolver,
    is_named_by_tools=True,
    tests=Tests(inline_modules=frozenset({"test", "tests"})),
)
