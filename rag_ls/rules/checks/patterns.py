"""Regular expressions from a project's files, matched with a time limit."""

from __future__ import annotations

from functools import lru_cache

from rag_ls.util.patterns import compile_timed

# Paths and names match in microseconds. A match that takes this long may never end.
_MAX_MATCH_S = 0.2


class PatternTooSlow(Exception):
    """A regular expression took too long; the message names it, and the remedy."""


class Pattern:
    """A regular expression of a project. Once a match has taken too long, it is not tried again."""

    def __init__(self, pattern: str) -> None:
        """Raises `re.error`, also for a pattern that is too long or too deep."""
        self._pattern = compile_timed(pattern)
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
                return match(text, timeout=_MAX_MATCH_S)
            except TimeoutError:
                self._is_slow = True
        raise PatternTooSlow(
            f"the regular expression {self._pattern.pattern!r} takes too long: nested repetitions such as `(a+)+` "
            "need exponential time; until it is changed, this rule is not checked"
        )


@lru_cache(maxsize=4096)
def pattern_of(pattern: str) -> Pattern:
    """The regular expression. Raises `re.error`."""
    return Pattern(pattern)
