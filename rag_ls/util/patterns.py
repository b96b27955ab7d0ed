"""Regular expressions that are compiled when they are first asked, since a start defines hundreds and asks few of them."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")
_PROPERTIES = ("pattern", "flags", "groups", "groupindex")


def lazy_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what `re.compile` returns, compiled at its first use; an error in the pattern shows only then.

    It serves as a receiver alone: functions of `re` do not take it.
    """
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))


class _LazyPattern:
    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._definition = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS and name not in _PROPERTIES:
            raise AttributeError(name)
        compiled: Any = re.compile(*self._definition)
        for each in (*_METHODS, *_PROPERTIES):
            setattr(self, each, getattr(compiled, each))
        return getattr(compiled, name)
