"""Perl."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import HASHED
from rag_ls.languages.conventions import Tests
from rag_ls.languages.exports import ExportRule
from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.language import Language
from rag_ls.languages.nesting import bracket_nesting
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.source_tree import SourceTree, Target
from rag_ls.languages.syntax import Declaration, Kind, Syntax, declare
from rag_ls.model import Import


def _read_import(text: str) -> Iterator[Taken]:
    match = re.match(r"(?:use|require)\s+[\"']?([A-Za-z_][\w:./]*)(.*)", text, re.DOTALL)
    if match is None:
        return
    module, rest = match.groups()
    words = tuple(re.findall(r"[\w:]+", re.sub(r"(?<![\w:])qw\b|-\w+", " ", rest)))
    if module in ("parent", "base"):
        yield from ((word, ()) for word in words)
    elif not re.match(r"v?\d", module):
        yield module, words if re.match(r"\s*(?:qw\b|[\"'(])", rest) else ()


def _is_public(name: str, signature: str, _member: bool) -> bool:
    return not name.startswith("_") and not signature.startswith("my ")


class PerlResolver:
    """See `Resolver`: a module's parts are folders."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The document of a module, or a file that is required by its path."""
        module = imported.module
        end = module if module.endswith((".pl", ".pm")) else module.replace("::", "/") + ".pm"
        yield from (Target(path, imported.names) for path in self._tree.find_ending(end.removeprefix("./"), importer))


PERL = Language(
    name="perl",
    title="Perl",
    aliases=("cperl",),
    suffixes=("pl", "pm", "t", "pod", "psgi"),
    file_names=("cpanfile", "Makefile.PL"),
    interpreters=("perl",),
    syntax=Syntax(
        grammar="perl",
        declarations={
            **declare(Kind.FUNCTION, "subroutine_declaration_statement", "method_declaration_statement"),
            **declare(Kind.TYPE, "class_statement", "role_statement"),
            "package_statement": (Declaration(Kind.SCOPE, listed="module"),),
            "use_statement": (
                Declaration(
                    Kind.VALUE,
                    ("<list_expression/<autoquoted_bareword", "<autoquoted_bareword"),
                    when=("module", frozenset({"constant"})),
                ),
            ),
            "assignment_expression": (
                Declaration(
                    Kind.VALUE, ("left/variable/<varname",), when=("left", frozenset({"variable_declaration"}))
                ),
            ),
        },
        nesting=bracket_nesting,
    ),
    comments=HASHED,
    references=ReferenceRule(is_open=True, names=frozenset({"bareword", "function", "method", "package", "varname"})),
    imports=ImportRule(_read_import, ("use_statement", "require_expression")),
    exports=ExportRule(_is_public),
    resolver=PerlResolver,
    is_named_by_tools=True,
    tests=Tests(
        file_names=(("*.t", r"\.t$"),),
        libraries=(
            ("Test::More", r"\buse\s+Test::(?:More|Simple)\b"),
            ("Test2", r"\buse\s+Test2::"),
            ("Test::Class", r"\b(?:use|parent|base)\b.*\bTest::Class\b"),
        ),
    ),
)
