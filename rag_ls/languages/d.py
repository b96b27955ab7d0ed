"""D."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import COMMON_LEXIS
from rag_ls.languages.exports import UNLESS_PRIVATE
from rag_ls.languages.import_readers import first_word, first_words, split_list
from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import NEW, PREFIX_TYPE, ReferenceRule
from rag_ls.languages.source_tree import SourceTree, Target
from rag_ls.languages.syntax import Kind, Syntax, declare
from rag_ls.model import Import


def _read_import(text: str) -> Iterator[Taken]:
    modules, colon, names = re.sub(r"^(?:(?:public|static|private)\s+)*import\s+", "", text.rstrip(";")).partition(":")
    parts = split_list(modules)
    for number, part in enumerate(parts):
        yield (
            first_word(part.rpartition("=")[2].strip()),
            first_words(names) if colon and number == len(parts) - 1 else (),
        )


class DResolver:
    """See `Resolver`: a module's parts are folders."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The document of a module, or of a package."""
        path = imported.module.replace(".", "/")
        for end in (f"{path}.d", f"{path}/package.d"):
            yield from (Target(found, imported.names) for found in self._tree.find_ending(end, importer))


D = Language(
    name="d",
    title="D",
    suffixes=("d", "di"),
    interpreters=("rdmd", "dub"),
    syntax=Syntax(
        grammar="d",
        declarations={
            **declare(
                Kind.TYPE, "class_declaration", "struct_declaration", "interface_declaration", names=("<identifier",)
            ),
            **declare(
                Kind.TYPE, "union_declaration", "enum_declaration", "template_declaration", names=("<identifier",)
            ),
            **declare(Kind.TYPE, "mixin_template_declaration", names=("<template_declaration/<identifier",)),
            **declare(
                Kind.VALUE, "alias_declaration", names=("<alias_initializer/<identifier", "<identifier"), listed="type"
            ),
            **declare(Kind.FUNCTION, "function_declaration", names=("<identifier",)),
            **declare(Kind.FUNCTION, "constructor", names=("=this",)),
            **declare(Kind.FUNCTION, "destructor", names=("=~this",)),
            **declare(Kind.VALUE, "manifest_constant", names=("<manifest_declarator/<identifier",)),
            **declare(Kind.VALUE, "variable_declaration", names=("<declarator/<identifier", "<declarator")),
        },
        transparent=frozenset({"module_def"}),
        is_ascii_alone=True,
    ),
    lexis=COMMON_LEXIS,
    references=ReferenceRule(
        is_open=True,
        calls=("(call_expression . (_) @call)", "(new_expression (type) @call)"),
        bases=("(base_class) @base",),
        own_is_implied=True,
        types=(PREFIX_TYPE, NEW),
        constructors=frozenset({"this"}),
    ),
    imports=ImportRule(_read_import, ("import_declaration",)),
    exports=UNLESS_PRIVATE,
    resolver=DResolver,
)
