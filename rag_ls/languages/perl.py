"""Perl. Its grammar never returns from a text that ends in a word and a comment, so it is read by its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import HASHED
from rag_ls.languages.conventions import Tests
from rag_ls.languages.exports import ExportRule
from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.language import Language
from rag_ls.languages.line_rules import QUOTED_NOISE, LineRule
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.source_tree import SourceTree, Target
from rag_ls.model import Import


def _read_import(text: str) -> Iterator[Taken]:
    match = re.match(r"(?:use|require)\s+[\"']?([A-Za-z_][\w:./]*)(.*)", text, re.DOTALL)
    if match is None or re.match(r"v\d", match[1]):
        return
    module, rest = match.groups()
    words = tuple(re.findall(r"[\w:]+", re.sub(r"(?<![\w:])qw\b|-\w+", " ", rest)))
    if module in ("parent", "base", "Mojo::Base"):
        yield from ((word, ()) for word in words)
    if module not in ("parent", "base"):
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
    suffixes=("pl", "pm", "t", "pod", "psgi", "al", "plx"),
    file_names=("cpanfile", "Makefile.PL", "Build.PL"),
    interpreters=("perl",),
    lines=LineRule(
        declared=(
            rb"^[ \t]*(?:(?:my|our|state)[ \t]+)?(?:async[ \t]+)?(?:sub|method|fun|func)[ \t]+(?P<function>[\w:']+)(?=[ \t]*(?:[{(:;]|$))"
            rb"|^[ \t]*(?:class|role)[ \t]+(?P<type>[A-Z][\w:]*)(?=[^;={}]{0,400}[{;])"
            rb"|^[ \t]*package[ \t]+(?P<module>[\w:]+)(?=[^;{]{0,400}[;{])"
            rb"|^(?:our|my|local)[ \t]+[$@%](?P<value>\w+)(?=[ \t]*=)"
            rb"|^[ \t]*(?:use[ \t]+constant|has)[ \t]+[\"']?\+?(?P<value2>[A-Za-z_]\w*)[\"']?(?=[ \t]*(?:=>|;))"
            rb"|^\*(?P<function2>[A-Za-z_]\w*)(?=[ \t]*=[ \t]*(?:sub\b|\\&))"
        ),
        noise=(
            rb"^=[A-Za-z](?s:.*?)(?:^=cut\b[^\n]*|\Z)|^__(?:END|DATA)__(?s:.*)|"
            + QUOTED_NOISE
            + rb"|(?:^|(?<=[\s;{},)]))#[^\n]*"
        ),
        attributes=rb":\w",
        imported=rb"^[ \t]*(?:use|require)[ \t]+[^;]{1,2000};",
        calls=rb"->\s?([A-Za-z_]\w*)|(?<![\w&])&([A-Za-z_]\w*)|^[ \t]*([a-z_]\w*)[ \t]+(?:[$@%\"'\\]|sub\b)",
        has_heredocs=True,
    ),
    comments=HASHED,
    references=ReferenceRule(is_open=True, own=frozenset({"self", "class"}), parents=frozenset({"SUPER"})),
    imports=ImportRule(_read_import),
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
