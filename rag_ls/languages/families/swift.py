"""Swift and Dart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from rag_ls.languages.imports import STRING, ImportRule, Taken, first_words, read_match
from rag_ls.languages.language import UNLESS_PRIVATE, UNLESS_UNDERSCORED, Language
from rag_ls.languages.patterns import COMMON_LEXIS
from rag_ls.languages.reference_rules import COLON_PARAMETER, COLON_TYPE, CONSTRUCTED, PREFIX_TYPE, TYPE, ReferenceRule
from rag_ls.languages.source_tree import SourceTree, Target, join
from rag_ls.languages.syntax import Syntax, declare, words
from rag_ls.model import Import

SWIFT = Language(
    "swift", title="Swift",
    syntax=Syntax("swift", declare("""
        type class_declaration protocol_declaration typealias_declaration
        function function_declaration protocol_function_declaration macro_declaration
        function init_declaration, names =init
        function deinit_declaration, names =deinit
        function subscript_declaration, names =subscript
        value property_declaration protocol_property_declaration
        value enum_entry, each name
    """), comments=words("comment multiline_comment")),
    lexis=COMMON_LEXIS, is_matched=True,
    references=ReferenceRule(
        is_open=True, members_apart=True, calls=("(call_expression . (_) @call)",), bases=("(inheritance_specifier (_) @base)",),
        skipped=("(value_argument_label (simple_identifier) @skip)",), own=words("self Self"), creators=words("Self"),
        constructors=words("init"), has_bodies=True, own_is_implied=True, is_overloaded=True, is_declared=True,
        parameters=COLON_PARAMETER, types=(COLON_TYPE.replace(TYPE, r"(\[?[A-Za-z_][\w.]*)"), CONSTRUCTED),
        returns=r"->\s*(?:any\s+|some\s+)?(\[?[A-Za-z_][\w.]*)",
    ),
    imports=ImportRule(
        read_match(r"\bimport\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?([\w.]+)"), ("import_declaration",),
    ),
    exports=UNLESS_PRIVATE,
)  # fmt: skip


def _read_dart_import(text: str) -> Iterator[Taken]:
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


DART = Language(
    "dart", title="Dart",
    syntax=Syntax("dart", declare("""
        type class_definition enum_declaration extension_declaration
        type mixin_declaration, names <identifier
        type type_alias, names <type_identifier
        function function_signature getter_signature setter_signature
        function constant_constructor_signature constructor_signature factory_constructor_signature \
            redirecting_factory_constructor_signature, names !constructor
        value enum_constant
        function operator_signature, names =operator
        value declaration, names <initialized_identifier_list/<initialized_identifier/<identifier
    """),
        wrappers=words("method_signature"), comments=words("comment documentation_comment"),
        attributes=words("annotation"), trailers=words("function_body initializers redirection"),
    ),
    lexis=COMMON_LEXIS,
    references=ReferenceRule(
        bases=("(superclass (_) @base)", "(interfaces (_) @base)"), own_is_implied=True, is_declared=True,
        types_precede=True, labels=r"(?:^|[(,])\s*\0\s*:", aliases=(r"{name}[\"']\s*(?:deferred\s+)?as\s+(\w+)",),
        # Of `{Uri? url, this.size}`, `url`.
        parameters=r"(?<![\w.$]){name}\s*[,)}\]=]", types=(PREFIX_TYPE.replace(r"[\s*&]+", r"\??\s+"), CONSTRUCTED),
        returns=r"([A-Z][\w.]*)(?:<[^;(){}]*>)?\??\s+(?:get\s+)?{name}\s*(?:[(<]|$)",
        wrappers=words("Future FutureOr"),
    ),
    imports=ImportRule(_read_dart_import, ("import_or_export", "part_directive", "part_of_directive")),
    resolver=DartResolver, exports=UNLESS_UNDERSCORED,
)  # fmt: skip

LANGUAGES = (SWIFT, DART)
