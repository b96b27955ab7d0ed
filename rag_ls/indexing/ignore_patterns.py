"""One pattern in .gitignore syntax, compiled so that matching it always ends soon."""

from __future__ import annotations

import re

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from rag_ls.util.path_globs import Element, LinearGlob, is_cheap
from rag_ls.util.patterns import lazy_pattern

_FOLDER = "ps_d"
# Parts of the regular expression that pathspec makes of a pattern.
_BELOW, _INNER, _RUN, _NAME = r"(?:.+/)?", r"(?:/.+)?", r"[^/]*", r"[^/]+"
_OPEN_END, _FOLDER_END = rf"(?:(?P<{_FOLDER}>/)|$)", rf"(?P<{_FOLDER}>/)"
_PART = lazy_pattern(r"\(\?:\.\+/\)\?|\(\?:/\.\+\)\?|\[\^/\][*+]?|\[\^?\]?[^\]]*\]|\\.|.", re.DOTALL)
_ANY, _SLASH, _NO_SLASH = ".", re.escape("/"), "[^/]"
_ELEMENTS = {
    _BELOW: (Element(_ANY, skips=(3,)), Element(_ANY, repeats=True, skips=(1,)), Element(_SLASH)),
    _INNER: (Element(_SLASH, skips=(3,)), Element(_ANY), Element(_ANY, repeats=True, skips=(1,))),
    _RUN: (Element(_NO_SLASH, repeats=True, skips=(1,)),),
    _NAME: (Element(_NO_SLASH), Element(_NO_SLASH, repeats=True, skips=(1,))),
}


def compile_pattern(line: str) -> GitIgnoreSpecPattern:
    """Compile the pattern of a line. Raises `ValueError` and `re.error` for a line that is no pattern."""
    expression, is_included = GitIgnoreSpecPattern.pattern_to_regex(line)
    if expression is None:
        return GitIgnoreSpecPattern(None)
    expression = _complete(expression, line)
    parts = _PART.findall(expression)
    wildcards = sum(part in _ELEMENTS for part in parts)
    folders = parts.count(_BELOW) + parts.count(_INNER)
    # Most patterns have one wildcard in a name, at any depth. For these, `re` reads each name once.
    if wildcards <= 1 or (wildcards == 2 and expression.startswith("^" + _BELOW) and _INNER not in expression):
        return GitIgnoreSpecPattern(re.compile(expression), is_included)
    return GitIgnoreSpecPattern(_Expression(expression, wildcards - folders, folders), is_included)  # type: ignore[type-var]


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


class _Expression:
    """An expression that pathspec takes for a compiled regular expression."""

    def __init__(self, expression: str, runs: int, folders: int) -> None:
        self.pattern = expression
        self._regex = re.compile(expression)
        self._runs, self._folders = runs, folders
        self._wants_folder = expression.endswith(_FOLDER_END)
        self._linear: LinearGlob | None = None

    def match(self, path: str) -> re.Match[str] | _Match | None:
        if self._is_cheap(path):
            return self._regex.search(path)
        is_whole, is_folder = self._glob().match(path)
        if is_whole and not self._wants_folder:
            return _Match("")
        return _Match("/") if is_folder else None

    search = match

    def fullmatch(self, path: str) -> re.Match[str] | _Match | None:
        if self._is_cheap(path):
            return self._regex.fullmatch(path)
        is_folder = path.endswith("/")
        is_whole, _ = self._glob().match(path.removesuffix("/"))
        return _Match("/" * is_folder) if is_whole and is_folder >= self._wants_folder else None

    def _is_cheap(self, path: str) -> bool:
        return is_cheap(path, size=len(self.pattern), runs=self._runs, folders=self._folders)

    def _glob(self) -> LinearGlob:
        if self._linear is None:
            self._linear = _parse_linear(self.pattern)
        return self._linear


class _Match:
    """A match as pathspec asks it: whether it ended with the slash after a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def groupdict(self) -> dict[str, str]:
        return {_FOLDER: self._folder}


def _parse_linear(expression: str) -> LinearGlob:
    """Parse an expression into a linear glob without its end."""
    end = next(end for end in (_OPEN_END, _FOLDER_END) if expression.endswith(end))
    parts = _PART.findall(expression.removeprefix("^").removesuffix(end))
    return LinearGlob(
        [
            each
            for part in parts
            for each in _ELEMENTS.get(part) or (Element(re.escape(part) if len(part) == 1 else part),)
        ]
    )
