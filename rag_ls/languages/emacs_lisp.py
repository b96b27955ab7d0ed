"""Emacs Lisp, read by its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.exports import ExportRule
from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.language import Language
from rag_ls.languages.lisps import LISP_COMMENTS, make_lisp_rule
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.source_tree import SourceTree, Target
from rag_ls.model import Import


def _read_import(text: str) -> Iterator[Taken]:
    yield from ((module, ()) for module in re.findall(r"\((?:require|load)\s+['\"]([\w./+-]+)", text))


def _is_public(name: str, _signature: str, _member: bool) -> bool:
    return "--" not in name


class EmacsLispResolver:
    """See `Resolver`: a feature is a file of its name."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The document of a feature."""
        name = imported.module.removesuffix(".el")
        yield from (Target(path, imported.names) for path in self._tree.find_ending(f"{name}.el", importer))


EMACS_LISP = Language(
    name="emacs-lisp",
    title="Emacs Lisp",
    aliases=("elisp",),
    suffixes=("el", "eld"),
    interpreters=("emacs",),
    file_names=(".emacs", "Cask", "Eask"),
    lines=make_lisp_rule(
        declared=(
            rb"^[ \t]*+\((?:cl-)?def(?:class|struct|type)[ \t]+\(?(?P<type>NAME)"
            rb"|^[ \t]*+\((?:def(?:var|const|custom|face|group|var-local|var-keymap|image)|defvar-keymap)[ \t]+"
            rb"(?P<value>NAME)(?=[ \t]*[^\s)]|[ \t]*$)"
            rb"|^[ \t]*+\((?:(?:cl-)?def(?!ault)[\w*-]*|define-(?!key\b|obsolete|error)[\w-]+|[\w-]+-define-[\w-]+"
            rb"|ert-deftest)[ \t]+'?\(?(?P<function>NAME)"
        ),
        imported=rb"^[ \t]*\((?:require|load)[ \t]+[^()\n]+\)|\(eval-when-compile[ \t]+\(require[^()\n]+\)",
        docstring=rb"[^\n\"]*+(?:\n[^\n\"]*+)?\n[ \t]++(\"(?:[^\"\\]|\\(?s:.)){1,2500}\")",
    ),
    comments=LISP_COMMENTS,
    has_single_quotes=False,
    references=ReferenceRule(is_open=True),
    imports=ImportRule(_read_import),
    exports=ExportRule(_is_public),
    resolver=EmacsLispResolver,
    is_named_by_tools=True,
)
