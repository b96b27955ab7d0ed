"""Names that are nearly those that somebody gave, for messages that say what was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import PurePosixPath

_MAX_SHOWN = 3
_MIN_LIKENESS = 0.5


def nearest(wanted: str, known: Iterable[str]) -> list[str]:
    """The names most like the wanted one, else those that contain it; at most three."""
    names = list(dict.fromkeys(known))
    return (
        difflib.get_close_matches(wanted, names, _MAX_SHOWN, _MIN_LIKENESS)
        or [name for name in names if wanted.lower() in name.lower()][:_MAX_SHOWN]
    )


def nearest_paths(wanted: str, known: Iterable[str]) -> list[str]:
    """The paths whose file names are most like the wanted one's, whatever their suffixes; of equal names, those in the most
    similar folders.
    """
    by_name: dict[str, list[str]] = {}
    for path in known:
        by_name.setdefault(PurePosixPath(path).stem, []).append(path)
    found = [path for name in nearest(PurePosixPath(wanted).stem, by_name) for path in by_name[name]]
    found.sort(key=lambda path: -difflib.SequenceMatcher(None, wanted, path).ratio())
    return found[:_MAX_SHOWN]


def nearest_text(found: Iterable[str]) -> str:
    """The part of a message that names them; empty for none."""
    names = list(dict.fromkeys(found))
    if not names:
        return ""
    return f"the nearest {'is' if len(names) == 1 else 'are'} {', '.join(names)}; "
