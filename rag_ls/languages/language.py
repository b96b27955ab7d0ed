"""The rules of a language, as data. A module of `families` holds those of languages that are alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY
from typing import NamedTuple

from rag_ls.languages.conventions import ErrorSyntax, Tests
from rag_ls.languages.imports import ImportRule, PathRule, UseRule
from rag_ls.languages.line_rules import LineRule
from rag_ls.languages.patterns import SLASHED, Comments, Lexis
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.source_tree import Resolver, SourceTree
from rag_ls.languages.syntax import Syntax
from rag_ls.model import Import
from rag_ls.util.records import dataclass


class TemplateRule(NamedTuple):
    """The pieces of code in a template."""

    language: str
    code: tuple[bytes, ...]
    """Patterns whose first group is such a piece."""
    opening: bytes = b""
    """The mark that code of the language begins with, before the first piece."""


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """The rules of one language; `names` holds what tells it. The default of a field is what holds for most. No two are equal."""

    name: str
    """Lower case; chunks, documents and rules carry it."""
    _: KW_ONLY
    title: str = ""
    """As people write it; empty where that is its name."""
    is_prose: bool = False
    """Whether it is cut at paragraphs and sentences."""

    # --- how its text is read

    syntax: Syntax | None = None
    """Its grammar and declarations; without one, and without `lines`, texts are cut into windows of lines."""
    lines: LineRule | None = None
    """Its declarations by the lines that begin them, where no grammar reads it."""
    heading: bytes = b""
    """A pattern of the headings of a text without a grammar, with the groups `title` and `mark`; see `headings`."""
    is_markup: bool = False
    """Whether its elements hold scripts and styles in other languages."""
    template: TemplateRule | None = None
    """The code in its texts, where these are templates without a grammar."""
    comments: Comments = SLASHED
    lexis: Lexis | None = None
    """Its comments and texts in quotes, where a survey reads it."""
    has_single_quotes: bool = True
    """Whether a single quote begins a text. Elsewhere it begins a lifetime, or ends a name."""
    is_indented: bool = False
    """Whether its blocks are told by their indentation alone."""
    is_matched: bool = False
    """Whether ast-grep, which matches structural rules, has a grammar for it."""

    # --- what its documents take from each other

    imports: ImportRule | None = None
    """The rules to find and read imports."""
    uses: UseRule | None = None
    """The ways in which members of an imported module are used; None where that is not followed."""
    paths: PathRule | None = None
    """The whole names by which a document uses what it does not import; None where it must import all."""
    exports: ExportRule | None = None
    """The declarations that other documents see; None where they see all."""
    references: ReferenceRule | None = None
    """The rules to find the uses of names; None where it has no names that are used."""
    own_names: OwnNameRule | None = None
    """The ways in which names are used without an import of their own."""
    resolver: Callable[[SourceTree], Resolver] | None = None
    """The maker of what finds the documents that an import means. Languages with the same one share its object."""
    shares_folder: bool = False
    """Whether the documents of a folder see each other's names without an import."""
    source_root: str = ""
    """A pattern of the folders at a path's start that are no part of what documents share: tests lie in another tree."""
    needs_use: bool = False
    """Whether an import alone takes nothing: it names a package, whose names are used."""

    # --- what its projects have in common

    is_named_by_tools: bool = False
    """Whether its compiler, loader or formatters ask for the names of files, so that these show no convention."""
    tests: Tests | None = None
    errors: ErrorSyntax | None = None

    def shared_folder(self, path: str) -> str:
        """The folder of a document, without the root of its sources: where folders are shared, documents of one see each other's names."""
        folder = path.rpartition("/")[0]
        root = re.match(self.source_root, f"{folder}/") if self.source_root else None
        return folder[root.end() :] if root else folder


_HEAD = r"[^(={:]*"
_ATTRIBUTES = r"[@#][\w.]*(?:\([^()]*\))?\s|\[[^\[\]]*\]|\w+\(set\)"


class ExportRule(NamedTuple):
    """The declarations that other documents see. Whether an outer type is hidden, the caller knows."""

    is_exported: Callable[[str, str, bool], bool]
    """(name without its scopes, words of the signature before its parameters or value, member of a type) -> exported"""
    prefix: bytes = b""
    """A word that exports the node after it, for grammars that keep it outside the node: nothing else does then."""
    names_in: Callable[[bytes], frozenset[str]] | None = None
    """The names that a document exports in statements apart from their declarations, for languages that have such."""


def head_words(signature: str) -> frozenset[str]:
    """The words of a signature before its parameters, value or supertypes."""
    match = re.match(_HEAD, re.sub(_ATTRIBUTES, " ", signature))
    return frozenset(match[0].split()) if match else frozenset()


UNLESS_PRIVATE = ExportRule(lambda _name, signature, _member: not head_words(signature) & {"private", "fileprivate"})
UNLESS_STATIC = ExportRule(lambda _name, signature, member: member or "static" not in head_words(signature))
UNLESS_UNDERSCORED = ExportRule(lambda name, _signature, _member: not name.startswith("_"))

MAX_NAMES = 1500

TEXT = rb'"(?:[^"\\\n]|\\.)*"'
NAME = rb"(?<![\w.])[A-Za-z_]\w*"
_TYPE_NAME = rb"(?<!\w)[A-Z]\w*"


class OwnNameRule(NamedTuple):
    """The patterns that find the names in a text."""

    noise: bytes
    """A pattern of comments and texts in quotes; `.` matches line ends too."""
    find: Callable[[bytes], list[bytes]]
    """The names in a text without noise, in its order."""
    needs_star: bool = False
    """Whether names come from elsewhere by `import *` alone."""


TYPE_NAMES = OwnNameRule(rb"//[^\n]*|/\*.*?\*/|" + TEXT, lambda data: re.findall(_TYPE_NAME, data))
"""The types of a package: the languages of the JVM, and C#."""


def own_names(rule: OwnNameRule | None, imports: Iterable[Import], data: bytes) -> tuple[str, ...]:
    """The names that a document may take from its own package, or from `import *`; none without a rule."""
    if rule is None or (rule.needs_star and not any("*" in each.names for each in imports)):
        return ()
    found = rule.find(re.sub(rule.noise, b" ", data, flags=re.DOTALL))
    return tuple(name.decode() for name in list(dict.fromkeys(found))[:MAX_NAMES])
