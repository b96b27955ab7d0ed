"""Ruby and Crystal."""

from __future__ import annotations

from collections.abc import Iterator

from rag_ls.languages.conventions import ErrorSyntax, read_tests
from rag_ls.languages.imports import ImportRule, Taken, import_calls, read_strings
from rag_ls.languages.language import Language
from rag_ls.languages.line_rules import read_line_rule
from rag_ls.languages.patterns import HASHED, QUOTED, Lexis
from rag_ls.languages.reference_rules import COLON_TYPE, ReferenceRule, read_references
from rag_ls.languages.source_tree import SourceTree, Target, closest, join
from rag_ls.languages.syntax import read_syntax, words
from rag_ls.model import Import


def _read_ruby_import(text: str) -> Iterator[Taken]:
    for module, _ in read_strings(text):
        relative = text.startswith("require_relative") and not module.startswith(".")
        yield ("./" + module if relative else module), ()


class RubyResolver:
    """See `Resolver`: `require_relative`, and `require` from any load path."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The file that is required."""
        name = imported.module.removesuffix(".rb") + ".rb"
        if name.startswith("."):
            path = join(importer.rpartition("/")[0], name)
            found = [path] if path in self._tree.paths else []
        else:
            loaded = [
                path
                for path in self._tree.find_ending(name, importer)
                if path == name or path == f"lib/{name}" or f"/lib/{name}" in f"/{path}" or "/" in name
            ]
            found = closest(loaded, importer)[:1]
        yield from (Target(path) for path in found)


RUBY_REFERENCES = read_references("ruby")
RUBY = Language(
    "ruby", title="Ruby",
    syntax=read_syntax("ruby"),
    comments=HASHED, lexis=Lexis(comments=r"(?<![\w\"'$])#(?!\{)[^\n]*", strings=QUOTED), is_matched=True, references=RUBY_REFERENCES,
    imports=import_calls(_read_ruby_import, "call method: (identifier)", "require", "require_relative", "load"), resolver=RubyResolver,
    is_named_by_tools=True,
    tests=read_tests("ruby"),
    errors=ErrorSyntax(declared=r"\bclass\s+([\w:]+)\s*<\s*([\w:]+)", raised=r"\braise[ (]\s*([A-Z][\w:]*)", raise_word="raise"),
)  # fmt: skip

CRYSTAL = Language(
    "crystal", title="Crystal",
    lines=read_line_rule("crystal"),
    comments=HASHED, has_single_quotes=False,
    references=ReferenceRule(is_open=True, own_is_implied=True, types=(COLON_TYPE,), constructors=words("initialize")),
    imports=ImportRule(read_strings),
)  # fmt: skip

LANGUAGES = (RUBY, CRYSTAL)
