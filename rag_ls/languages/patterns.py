"""Compiles the patterns of languages when they are first used: no process needs all of them."""

from __future__ import annotations

import re
from functools import cache


@cache
def compile_lines(pattern: str) -> re.Pattern[str]:
    """A pattern whose `^` and `$` match at each line."""
    return re.compile(pattern, re.MULTILINE)
