"""Dart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from rag_ls.languages.comments import COMMON_LEXIS
from rag_ls.languages.exports import ExportRule
from rag_ls.languages.import_readers import STRING, first_words
from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import CONSTRUCTED, PREFIX_TYPE, ReferenceRule
from rag_ls.languages.source_tree import SourceTree, Target, join
from rag_ls.languages.syntax import Declaration, Kind, Syntax, declare
from rag_ls.model import Import


def _read_import(text: str) -> Iterator[Taken]:
    module = re.search(STRING, text)
    if module:
        shown = re.search(r"\bshow\s+([\w\s,]+?)(?:\bhide\b|;|$)", text)
        is_named = re.search(r"\bas\s+\w+", text)
        yield module[2], first_words(shown[1]) if shown else () if is_named else ("*",)


class DartResolver:
    """See `Resolver`: paths from a document's folder, and from `lib` of the packages that manifests name."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The document that is imported, exported or a part."""
        if imported.module.startswith("package:"):
            package, _, rest = imported.module.removeprefix("package:").partition("/")
            paths = [join(folder, f"lib/{rest}") for folder in self._packages.get(package, ())]
        else:
            paths = [join(importer.rpartition("/")[0], imported.module)]
        yield from (Target(path, imported.names) for path in paths if path in self._tree.paths)

    @cached_property
    def _packages(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for manifest in self._tree.by_name.get("pubspec.yaml", ()):
            if named := re.search(r"^name:\s*(\w+)", self._tree.read(manifest), re.MULTILINE):
                found.setdefault(named[1], []).append(manifest.rpartition("/")[0])
        return found


def _is_public(name: str, _signature: str, _member: bool) -> bool:
    return not name.startswith("_")


DART = Language(
    name="dart",
    title="Dart",
    suffixes=("dart",),
    syntax=Syntax(
        grammar="dart",
        declarations={
            **declare(Kind.TYPE, "class_definition", "enum_declaration", "extension_declaration"),
            **declare(Kind.TYPE, "mixin_declaration", names=("<identifier",)),
            **declare(Kind.TYPE, "type_alias", names=("<type_identifier",)),
            **declare(Kind.FUNCTION, "function_signature", "getter_signature", "setter_signature"),
            **declare(
                Kind.FUNCTION,
                "constant_constructor_signature",
                "constructor_signature",
                "factory_constructor_signature",
                "redirecting_factory_constructor_signature",
                names=("!constructor",),
            ),
            **declare(Kind.VALUE, "enum_constant"),
            "operator_signature": (Declaration(Kind.FUNCTION, ("=operator",)),),
            **declare(
                Kind.VALUE,
                "declaration",
                names=("<initialized_identifier_list/<initialized_identifier/<identifier",),
            ),
        },
        wrappers=frozenset({"method_signature"}),
        comments=frozenset({"comment", "documentation_comment"}),
        attributes=frozenset({"annotation"}),
        trailers=frozenset({"function_body", "initializers", "redirection"}),
    ),
    lexis=COMMON_LEXIS,
    references=ReferenceRule(
        bases=("(superclass (_) @base)", "(interfaces (_) @base)"),
        own_is_implied=True,
        is_declared=True,
        types_precede=True,
        argument_labels=r"\s*:",
        aliases=(r"{name}[\"']\s*(?:deferred\s+)?as\s+(\w+)",),
        # Of `{Uri? url, this.size}`, `url`.
        parameters=r"(?<![\w.$]){name}\s*[,)}\]=]",
        types=(PREFIX_TYPE.replace(r"[\s*&]+", r"\??\s+"), CONSTRUCTED),
        returns=r"([A-Z][\w.]*)(?:<[^;(){}]*>)?\??\s+(?:get\s+)?{name}\s*(?:[(<]|$)",
        wrappers=frozenset({"Future", "FutureOr"}),
        lists=frozenset({"Iterable", "List", "Set", "Stream"}),
        elements=frozenset({"[]", "elementAt", "first", "firstWhere", "last", "lastWhere", "single", "singleWhere"}),
        same=frozenset({"skip", "take", "toList", "toSet", "where"}),
        loops=(r"\bfor\s*\(\s*(?:final|var)\s+{name}\s+in\s+",),
    ),
    imports=ImportRule(_read_import, ("import_or_export", "part_directive", "part_of_directive")),
    resolver=DartResolver,
    exports=ExportRule(_is_public),
)
