"""One pattern in .gitignore syntax, compiled so that matching it always ends soon."""

from __future__ import annotations

import re

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from rag_ls.util.linear_globs import Element, LinearGlob, is_cheap

_FOLDER = "ps_d"
# Parts of the regular expression that pathspec makes of a pattern.
_BELOW, _INNER, _RUN, _NAME = r"(?:.+/)?", r"(?:/.+)?", r"[^/]*", r"[^/]+"
_OPEN_END, _FOLDER_END, _INSIDE_END = rf"(?:(?P<{_FOLDER}>/)|$)", rf"(?P<{_FOLDER}>/)", "/"
_PART = re.compile(r"\(\?:\.\+/\)\?|\(\?:/\.\+\)\?|\[\^/\][*+]?|\[\^?\]?[^\]]*\]|\\.|.", re.DOTALL)
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
    parts = _PART.findall(expression)
    wildcards = sum(part in _ELEMENTS for part in parts)
    folders = parts.count(_BELOW) + parts.count(_INNER)
    # Most patterns have one wildcard in a name, at any depth. For these, `re` reads each name once.
    if wildcards <= 1 or (wildcards == 2 and expression.startswith("^" + _BELOW) and _INNER not in expression):
        return GitIgnoreSpecPattern(re.compile(expression), is_included)
    return GitIgnoreSpecPattern(_Expression(expression, wildcards - folders, folders), is_included)  # type: ignore[type-var]


class _Expression:
    """An expression that pathspec takes for a compiled regular expression."""

    def __init__(self, expression: str, runs: int, folders: int) -> None:
        self.pattern = expression
        self._regex = re.compile(expression)
        self._runs, self._folders = runs, folders
        self._linear: tuple[LinearGlob, str] | None = None

    def match(self, path: str) -> re.Match[str] | _Match | None:
        if is_cheap(path, size=len(self.pattern), runs=self._runs, folders=self._folders):
            return self._regex.search(path)
        if self._linear is None:
            self._linear = _parse_linear(self.pattern)
        glob, end = self._linear
        is_whole, is_folder = glob.match(path)
        if end == _OPEN_END and is_whole:
            return _Match("")
        return _Match("" if end == _INSIDE_END else "/") if is_folder else None

    search = match


class _Match:
    """A match as pathspec asks it: whether it ended with the slash after a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def groupdict(self) -> dict[str, str]:
        return {_FOLDER: self._folder}


def _parse_linear(expression: str) -> tuple[LinearGlob, str]:
    """Parse an expression of pathspec into a linear glob and its end."""
    end = next(end for end in (_OPEN_END, _FOLDER_END, _INSIDE_END) if expression.endswith(end))
    parts = _PART.findall(expression.removeprefix("^").removesuffix(end))
    return LinearGlob(
        [
            each
            for part in parts
            for each in _ELEMENTS.get(part) or (Element(re.escape(part) if len(part) == 1 else part),)
        ]
    ), end
