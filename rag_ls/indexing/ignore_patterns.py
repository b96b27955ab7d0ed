"""One pattern in .gitignore syntax, compiled so that matching it always ends soon."""

from __future__ import annotations

import re
from typing import Any

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from rag_ls.util.patterns import LinearPattern, lazy_pattern

_FOLDER = "ps_d"
# Parts of the regular expression that pathspec makes of a pattern.
_BELOW, _INNER, _RUN, _NAME = r"(?:.+/)?", r"(?:/.+)?", r"[^/]*", r"[^/]+"
_OPEN_END, _FOLDER_END = rf"(?:(?P<{_FOLDER}>/)|$)", rf"(?P<{_FOLDER}>/)"
_WILDCARD = lazy_pattern("|".join(map(re.escape, (_BELOW, _INNER, _RUN, _NAME))))


def compile_pattern(line: str) -> GitIgnoreSpecPattern:
    """Compile the pattern of a line. Raises `ValueError` and `re.error` for a line that is no pattern."""
    expression, is_included = GitIgnoreSpecPattern.pattern_to_regex(line)
    if expression is None:
        return GitIgnoreSpecPattern(None)
    expression = _complete(expression, line)
    wildcards = len(_WILDCARD.findall(expression))
    # Most patterns have one wildcard in a name, at any depth. For these, `re` reads each name once.
    is_simple = wildcards <= 1 or (wildcards == 2 and expression.startswith("^" + _BELOW) and _INNER not in expression)
    compiled: Any = re.compile(expression) if is_simple else LinearPattern(expression)
    return GitIgnoreSpecPattern(compiled, is_included)


def matches_itself(pattern: GitIgnoreSpecPattern, path: str) -> bool:
    """Whether a pattern matches a path, and not only a folder that it is in. A folder's path ends with `/`."""
    return pattern.regex is not None and pattern.regex.fullmatch(path) is not None


def _complete(expression: str, line: str) -> str:
    """The expression that matches whole paths: pathspec's own for `*`, `*/`, `a/**` and `a/**/` match a part of them."""
    if expression in (".", _FOLDER_END):
        return f"^{_BELOW}{_NAME}{_OPEN_END if expression == '.' else _FOLDER_END}"
    if expression.endswith(_FOLDER_END):
        is_inside = line.rstrip().endswith("/**/")
        return f"{expression.removesuffix(_FOLDER_END)}/{_BELOW}{_NAME}{_FOLDER_END}" if is_inside else expression
    return expression if expression.endswith(_OPEN_END) else f"{expression}{_BELOW}{_NAME}{_OPEN_END}"
