"""Cython, read by its lines: what Python's grammar makes of it is half of it."""

from __future__ import annotations

from collections.abc import Iterator

from rag_ls.languages.comments import HASHED
from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.language import Language
from rag_ls.languages.line_rules import QUOTED_NOISE, TRIPLE_NOISE, LineRule
from rag_ls.languages.python import PYTHON, PythonResolver
from rag_ls.languages.reference_rules import ReferenceRule


def _read_import(text: str) -> Iterator[Taken]:
    assert PYTHON.imports is not None
    if text.startswith("include"):
        yield from ((name, ()) for name in text.split()[1:2])
        return
    yield from PYTHON.imports.reader(text.replace("cimport", "import"))


CYTHON = Language(
    name="cython",
    title="Cython",
    family="python",
    suffixes=("pyx", "pxd", "pxi"),
    lines=LineRule(
        declared=(
            rb"^[ \t]*+(?:cdef[ \t]+|cpdef[ \t]+|ctypedef[ \t]+)?(?:(?:public|packed|api)[ \t]+)*(?:class|struct|enum|union|cppclass|fused)"
            rb"[ \t]+(?P<type>\w+)"
            rb"|^[ \t]*+(?:async[ \t]+)?def[ \t]+(?P<function>\w+)"
            rb"|^[ \t]*+cp?def[ \t]+(?:[\w.*\[\], &:<>]{1,80}?[ \t*&])?(?P<function2>\w+)[ \t]*(?=\()"
            rb"|^(?:cdef[ \t]+[\w.* ]{0,60}?)?(?P<value>[A-Za-z_]\w*)[ \t]*(?:=(?!=)|:[ \t]*\w+[ \t]*=)"
            rb"|^[ \t]*+DEF[ \t]+(?P<value2>\w+)"
        ),
        noise=TRIPLE_NOISE + rb"|" + QUOTED_NOISE + rb"|#[^\n]*",
        closing=rb"[})\]]",
        going_on=rb"\)|(?:else|elif|except|finally)\b",
        imported=rb"^[ \t]*(?:(?:from[ \t]+[\w.]+[ \t]+)?c?import[ \t]+(?:\([^()]{1,4000}\)|[^\n]+)|include[ \t]+[^\n]+)",
        called=rb"\(",
        bases=rb"\bclass[ \t]+\w+\(([^()\n]+)\)",
        docstring=rb"[^\n]*+(?:\n[ \t]++(?!c?p?def\b|class\b|@)[^\n]*+){0,8}?(?<=:)\n[ \t]*+((?:\"{3}|[']{3})(?s:.*?)(?:\"{3}|[']{3}))",
    ),
    comments=HASHED,
    is_indented=True,
    references=ReferenceRule(own=frozenset({"self", "cls"}), parents=frozenset({"super()"})),
    imports=ImportRule(_read_import),
    exports=PYTHON.exports,
    resolver=PythonResolver,
    is_named_by_tools=True,
)
