"""Reads the names that a document uses without an import of their own: those of its package, or of `import *`.

In Go, Java and their kin, the documents of a package see each other's names. Comments and texts in quotes are no uses; a
local variable of the same name may still be taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from rag_ls.model import Import

MAX_NAMES = 1500

TEXT = rb'"(?:[^"\\\n]|\\.)*"'
NAME = rb"(?<![\w.])[A-Za-z_]\w*"
_TYPE_NAME = rb"(?<!\w)[A-Z]\w*"


class OwnNameRule(NamedTuple):
    """The patterns that find the names in a text."""

    noise: bytes
    """A pattern of comments and texts in quotes; `.` matches line ends too."""
    find: Callable[[bytes], list[bytes]]
    """The names in a text without noise, in its order."""
    needs_star: bool = False
    """Whether names come from elsewhere by `import *` alone."""


def _type_names(data: bytes) -> list[bytes]:
    return re.findall(_TYPE_NAME, data)


TYPE_NAMES = OwnNameRule(noise=rb"//[^\n]*|/\*.*?\*/|" + TEXT, find=_type_names)
"""The types of a package: the languages of the JVM, and C#."""


def own_names(rule: OwnNameRule | None, imports: Iterable[Import], data: bytes) -> tuple[str, ...]:
    """The names that a document may take from its own package, or from `import *`; none without a rule."""
    if rule is None or (rule.needs_star and not any("*" in each.names for each in imports)):
        return ()
    found = rule.find(re.sub(rule.noise, b" ", data, flags=re.DOTALL))
    return tuple(name.decode() for name in list(dict.fromkeys(found))[:MAX_NAMES])
