"""Measures how deeply a text is nested, for grammars whose scanners crash the process on deep texts."""

from __future__ import annotations

import re

import numpy as np

MAX_NESTING = 200
"""The scanners of Markdown, YAML and Kotlin crash the process near 255, 254 and 1,025 levels."""

_NESTED_LINE = rb"(?m)^(?:[ \t>]|[-+*?:][ \t]|\d{1,9}[.)][ \t]){50,}"


def line_nesting(data: bytes) -> int:
    """The most levels that a line of the text may be in; 0 for few.

    A level needs a column at least, and its line must repeat the levels above: markers or white space.
    """
    prefixes = (match[0] for match in re.finditer(_NESTED_LINE, data.replace(b"\r", b"\n")))
    return max((len(prefix) + 3 * prefix.count(b"\t") for prefix in prefixes), default=0)


def template_nesting(data: bytes) -> int:
    """The most braces that are open at once in a text with templates in its strings; 0 for few templates."""
    if data.count(b"${") <= MAX_NESTING:
        return 0
    array = np.frombuffer(data, dtype=np.uint8)
    balance = np.cumsum((array == ord("{")).astype(np.int64) - (array == ord("}")))
    return int((balance - np.minimum.accumulate(balance)).max())
