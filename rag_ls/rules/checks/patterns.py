"""Regular expressions that a project's files state: matching them ends in time."""

from __future__ import annotations

import re
from functools import lru_cache

import regex

# Paths and names are matched in microseconds; what takes longer never ends.
_MATCH_S = 0.2
_MAX_CHARACTERS = 10_000
# What `regex` makes of a pattern: it writes a counted repetition out.
_MAX_PARTS = 100_000
_COUNT = re.compile(r"(.?)\{\s*(\d+)", re.DOTALL)
_LETTER = re.compile(r"[\w.\]]")


class PatternTooSlow(Exception):
    """A regular expression took too long; the message names it, and the remedy."""


class Pattern:
    """A regular expression of a project. Once a match has taken too long, it is not tried again."""

    def __init__(self, pattern: str) -> None:
        """Raises `re.error`, also for a pattern that is too long or too deep."""
        _check_size(pattern)
        try:
            self._pattern = regex.compile(pattern)
        except regex.error as error:
            raise re.error(str(error)) from error
        except RecursionError:
            raise re.error("it is nested too deeply; use fewer brackets") from None
        self._is_slow = False

    def search(self, text: str) -> tuple[str, ...] | None:
        """The first match as a whole, then its groups that took part; None without a match.

        Raises `PatternTooSlow`.
        """
        found = self._match(self._pattern.search, text)
        return (found[0], *(group for group in found.groups() if group is not None)) if found else None

    def matches_all(self, text: str) -> bool:
        """Whether the whole text matches. Raises `PatternTooSlow`."""
        return self._match(self._pattern.fullmatch, text) is not None

    def _match(self, match, text: str):  # type: ignore[no-untyped-def]
        if not self._is_slow:
            try:
                return match(text, timeout=_MATCH_S)
            except TimeoutError:
                self._is_slow = True
        raise PatternTooSlow(
            f"the regular expression {self._pattern.pattern!r} takes too long: nested repetitions such as `(a+)+` "
            "need exponential time; until it is changed, this rule is not checked"
        )


def _check_size(pattern: str) -> None:
    """Raises `re.error` for a pattern that takes too long to compile."""
    if len(pattern) > _MAX_CHARACTERS:
        raise re.error(f"it has {len(pattern)} characters, {_MAX_CHARACTERS} are allowed; state several rules")
    parts, times = len(pattern), 1
    for before, at_least in _COUNT.findall(pattern):
        # Counts after a bracket multiply, for brackets may be nested. Nine digits are too many already.
        count = int(at_least[:9])
        if _LETTER.fullmatch(before):
            parts += count
        else:
            times *= max(count, 1)
        if parts * times > _MAX_PARTS:
            raise re.error("its counted repetitions, as `{1000}`, are too many; use `*` or smaller counts")


@lru_cache(maxsize=4096)
def pattern_of(pattern: str) -> Pattern:
    """The regular expression. Raises `re.error`."""
    return Pattern(pattern)
