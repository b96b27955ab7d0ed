"""Reads the names that a document uses without an import of their own: those of its package, or of `import *`.

In Go, Java and their kin, the documents of a package see each other's names. Comments and texts in quotes are no uses; a
local variable of the same name may still be taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from rag_ls.model import Import

MAX_NAMES = 1500

_TEXT = rb'"(?:[^"\\\n]|\\.)*"'
_NOISE: Mapping[str, re.Pattern[bytes]] = {
    **dict.fromkeys(
        ("java", "kotlin", "scala", "groovy", "csharp"), re.compile(rb"//[^\n]*|/\*.*?\*/|" + _TEXT, re.DOTALL)
    ),
    "go": re.compile(rb"//[^\n]*|/\*.*?\*/|`[^`]*`|'(?:[^'\\\n]|\\.)*'|" + _TEXT, re.DOTALL),
    "python": re.compile(rb"#[^\n]*|" + _TEXT + rb"|'(?:[^'\\\n]|\\.)*'"),
}
_NAME = re.compile(rb"(?<![\w.])[A-Za-z_]\w*")
_TYPE_NAME = re.compile(rb"(?<!\w)[A-Z]\w*")
# Go: what follows declares the name, or names a field, and does not use it.
_GO_DECLARES = re.compile(rb"\bfunc\s*\([^()]*\)\s*\w+|\bfunc\s+\w+|\btype\s+\w+|(?<!case )(?<![\w.])\w+\s*:(?!=)")
_GO_INTERFACE = re.compile(rb"\binterface\s*\{[^{}]*\}")
_GO_METHOD = re.compile(rb"^\s*\w+(?=\()", re.MULTILINE)
_GO_STRUCT = re.compile(rb"\bstruct\s*\{[^{}]*\}")
_GO_FIELD = re.compile(rb"^(\s*)\w+(?:\s*,\s*\w+)*(?=[ \t]+\S)", re.MULTILINE)
_GO_LOCAL = re.compile(
    rb"((?:\b\w+\s*,\s*)*\b\w+)\s*:=|\b(?:var|const)\s+(\w+)|[(,]\s*(\w+(?:\s*,\s*\w+)*)\s+(?:\.\.\.|\*|\[|\w|chan\b|func\b)"
)


def own_names(imports: Iterable[Import], language: str, data: bytes) -> tuple[str, ...]:
    """The names that a document may take from its own package, or from `import *`; none in other languages."""
    if language not in _NOISE or (language == "python" and not any("*" in each.names for each in imports)):
        return ()
    return _names(language, _NOISE[language].sub(b" ", data))


def _names(language: str, data: bytes) -> tuple[str, ...]:
    pattern = _NAME if language == "python" else _TYPE_NAME
    found = _go_names(data) if language == "go" else pattern.findall(data)
    return tuple(name.decode() for name in list(dict.fromkeys(found))[:MAX_NAMES])


def _go_names(data: bytes) -> list[bytes]:
    data = _GO_INTERFACE.sub(lambda match: _GO_METHOD.sub(b"", match[0]), data)
    data = _GO_STRUCT.sub(lambda match: _GO_FIELD.sub(rb"\1", match[0]), data)
    found = list(dict.fromkeys(_NAME.findall(_GO_DECLARES.sub(b" ", data))))
    local = {
        name.strip()
        for match in _GO_LOCAL.finditer(data)
        for group in match.groups()
        if group
        for name in group.split(b",")
    }
    # A local variable hides a lower-case name of the package; exported names are seldom hidden.
    return [name for name in found if name not in local or name[:1].isupper()]
