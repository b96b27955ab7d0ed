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


_MAX_CHARACTERS = 10_000
# Of a pattern with its counted repetitions written out, as `regex` compiles it.
_MAX_PARTS = 100_000
_COUNT = lazy_pattern(r"(.?)\{\s*(\d+)", re.DOTALL)
_LETTER = lazy_pattern(r"[\w.\]]")


def compile_timed(pattern: str) -> Any:
    """The pattern, whose methods take a `timeout` in seconds and then raise `TimeoutError`.

    Raises `re.error`, also for a pattern that is too long or too deep.
    """
    import regex

    _check_size(pattern)
    try:
        return regex.compile(pattern)
    except regex.error as error:
        raise re.error(str(error)) from error
    except RecursionError:
        raise re.error("it is nested too deeply; use fewer brackets") from None


def _check_size(pattern: str) -> None:
    """Raises `re.error` for a pattern that takes too long to compile."""
    if len(pattern) > _MAX_CHARACTERS:
        raise re.error(f"it has {len(pattern)} characters, {_MAX_CHARACTERS} are allowed; state several rules")
    parts, times = len(pattern), 1
    for before, at_least in _COUNT.findall(pattern):
        # The count of a bracket multiplies, because brackets may be nested. Nine digits are too many in any case.
        count = int(at_least[:9])
        if _LETTER.fullmatch(before):
            parts += count
        else:
            times *= max(count, 1)
        if parts * times > _MAX_PARTS:
            raise re.error("its counted repetitions, as `{1000}`, are too many; use `*` or smaller counts")


class LinearPattern:
    """A regular expression without references and looking around, matched in a time linear in the text (by re2)."""

    def __init__(self, expression: str) -> None:
        """Raise `re.error` for what is no expression, or becomes too large."""
        import re2

        options = re2.Options()
        options.dot_nl, options.log_errors = True, False
        try:
            self._regex = re2.compile(_encode(expression), options)
        except re2.error as error:
            raise re.error(str(error)) from error

    def search(self, text: str) -> Any:
        """Return the first match, in bytes; None without one."""
        return self._regex.search(_encode(text))

    match = search
    """Patterns of pathspec, which asks for this, begin with `^`."""

    def fullmatch(self, text: str) -> Any:
        """Return the match of the whole text, in bytes; None without one."""
        return self._regex.fullmatch(_encode(text))


def _encode(text: str) -> bytes:
    """UTF-8, with U+FFFD for halves of characters, which names of files may have."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", "\ufffd", text).encode()
