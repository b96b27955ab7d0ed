"""CMake."""

from __future__ import annotations

from rag_ls.languages.comments import HASHED
from rag_ls.languages.import_readers import read_second_word
from rag_ls.languages.import_rules import import_calls
from rag_ls.languages.includes import IncludeResolver
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.syntax import Declaration, Kind, Syntax, declare

CMAKE = Language(
    name="cmake",
    suffixes=("cmake",),
    file_names=("CMakeLists.txt",),
    syntax=Syntax(
        grammar="cmake",
        one_line=True,
        declarations={
            **declare(Kind.FUNCTION, "function_def", names=("<function_command/<argument_list/<argument",)),
            **declare(Kind.FUNCTION, "macro_def", names=("<macro_command/<argument_list/<argument",)),
            "normal_command": (
                Declaration(
                    Kind.VALUE,
                    ("<argument_list/<argument",),
                    when=(
                        "<identifier",
                        frozenset({"add_executable", "add_library", "add_custom_target", "option", "set"}),
                    ),
                ),
            ),
        },
        comments=frozenset({"line_comment", "bracket_comment"}),
    ),
    comments=HASHED,
    references=ReferenceRule(),
    imports=import_calls(read_second_word, "normal_command", "include", "add_subdirectory", "find_package"),
    resolver=IncludeResolver,
)
