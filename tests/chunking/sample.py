"""What a sample is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sample:
    """A document, its language, and symbols that at least one of its chunks must carry."""

    path: str
    language: str
    symbols: tuple[str, ...]
    text: str
    imports: tuple[str, ...] = ()
    """Modules that it imports, in any order; looked at if there are any."""
