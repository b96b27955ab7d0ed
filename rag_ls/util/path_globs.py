"""Globs for project paths, as people and language models write them.

`*` and `?` stay within a name, `**` spans folders, `[a-z]` is one character, `{a,b}` one of several, `!x` takes away, a
comma separates globs. A glob without `/` means names anywhere, a path without wildcards a file or all below a folder,
and a name that exists counts before the pattern that it could be, such as `[id].tsx`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from rag_ls.util.patterns import LinearPattern, lazy_pattern
from rag_ls.util.text import nearest, nearest_paths

Matcher = Callable[[str], bool]

# No real path is longer or has more parts.
_MAX_GLOB_CHARACTERS = 4096
_MAX_ALTERNATIVES = 200
# `re` takes a time that grows with the length of a path to the power of the wildcards.
_MAX_SIMPLE_WILDCARDS = 2
_MAX_NEAREST = 3
_PART = lazy_pattern(r"\*\*/|\*+|\?|\[[!^]?\]?[^\]/]*\]|\\.|.", re.DOTALL)
_WILD = lazy_pattern(r"(?<!\\)[*?\[{]")
_IS_SUFFIX = lazy_pattern(r"(?:\*+/)*[*?]+(?:\.|$)")
_MEANINGS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
# A backslash before a letter separates folders, as on Windows. Before one of these characters, it takes away the special
# meaning.
_ESCAPED = r"*?[]{}!,#\ "
_IS_WINDOWS_PATH = lazy_pattern(r"^[^/]*\\[\w.@-][^/]*$|^[^/\\]*[\w.-]\\\*[^/]*$")

# Syntax that .gitignore lacks, or that means something else there.
_IS_NO_IGNORE_LINE = lazy_pattern(r"[{,\n\[]|^!?\.(/|$)|\\[\w.@*-]")


def glob_matcher(written: str, known: Collection[str] = ()) -> Matcher:
    """A function that tells whether a project path matches some globs.

    Among the paths that are `known`, a name counts before a pattern; if none matches, case counts no more, and a name or
    a pattern means all below the folders that have it.
    """
    if len(written) > _MAX_GLOB_CHARACTERS:
        return lambda path: False
    if written in known:
        return lambda path: path == written
    exact = _matcher_of(split_globs(written), known)
    if not known or any(map(exact, known)):
        return exact
    folded = [path.lower() for path in known]
    loose = _matcher_of([_with_folders(glob.lower()) for glob in split_globs(written)], folded)
    return (lambda path: loose(path.lower())) if any(map(loose, folded)) else exact


def matches_any(globs: Sequence[str], path: str) -> bool:
    """Whether a path matches one of some globs, and none that begins with `!`."""
    return bool(globs) and _matches_several(tuple(globs), path)


@lru_cache(maxsize=16_384)
def _matches_several(globs: tuple[str, ...], path: str) -> bool:
    """Known for a while: each rule is asked of the same paths, and of those that they import."""
    return _of_several(globs)(path)


@lru_cache(maxsize=4096)
def _of_several(globs: tuple[str, ...]) -> Matcher:
    parts = [part for glob in globs for part in ([glob] if len(glob) > _MAX_GLOB_CHARACTERS else split_globs(glob))]
    by_glob = _matcher_of(parts, ())
    return lambda path: path in globs or by_glob(path)


def split_globs(written: str) -> list[str]:
    """The globs in a text, with `/` between folders: those between commas and lines, outside braces and brackets."""
    found, depth, start = [], 0, 0
    for at, letter in enumerate(written):
        if letter in "{[":
            depth += 1
        elif letter in "}]":
            depth = max(0, depth - 1)
        elif letter == "\n" or (letter == "," and not depth):
            found.append(written[start:at])
            start = at + 1
    found.append(written[start:])
    return [_with_slashes(glob.strip()) for glob in found if glob.strip()]


def relative_globs(written: str, root: str) -> str:
    """Some globs with those that are absolute paths below `root` made relative to it."""
    root = _with_slashes(root).rstrip("/")
    if not root or root not in _with_slashes(written):
        return written
    return ",".join(_relative(glob, root) for glob in split_globs(written))


def ignore_lines(globs: Iterable[str], root: str) -> list[str]:
    """Globs of the settings as lines in .gitignore syntax, which knows neither braces nor absolute paths."""
    lines = []
    for written in globs:
        if not _IS_NO_IGNORE_LINE.search(written) and root not in written:
            lines.append(written)
            continue
        relative = relative_globs(written, root)
        # A comma in a plain path is part of it.
        for glob in split_globs(relative) if _WILD.search(relative) or ", " in relative else [_with_slashes(relative)]:
            sign, body = ("!", glob[1:]) if glob.startswith("!") else ("", glob)
            if body.startswith("./"):
                body = body[1:]
            body = "*" if body in (".", "/") else body
            lines += [sign + each for each in _alternatives(body)]
            if "[" in body and "\\" not in body:
                # A name such as `[id].tsx` may also be meant literally.
                lines.append(sign + re.sub(r"[\[\]*?]", lambda mark: "\\" + mark[0], body))
    return lines


def nearest_to_glob(written: str, known: Iterable[str]) -> list[str]:
    """The paths that a glob which matches none may have meant: of like names, else in the folder that it begins with.

    A glob that names nothing, like `**/*.rb`, means none.
    """
    paths = sorted(known)
    globs = [glob.lstrip("!/").removeprefix("./").rstrip("/") for glob in split_globs(written)]
    for glob in globs:
        # `*.rb` is like no name.
        if not _IS_SUFFIX.match(glob.rpartition("/")[2]) and (near := nearest_paths(glob, paths)):
            return near
        folder = _WILD.split(glob)[0].rpartition("/")[0]
        while folder:
            if inside := [path for path in paths if path.startswith(folder + "/")]:
                return inside[:_MAX_NEAREST]
            folder = folder.rpartition("/")[0]
    if all(map(_IS_SUFFIX.match, globs)):
        return []
    tops = list(dict.fromkeys(path.partition("/")[0] + "/" * ("/" in path) for path in paths))
    begins = filter(None, (_WILD.split(glob)[0].partition("/")[0] for glob in globs))
    near = [each for begin in begins for each in nearest(f"{begin}/", tops)]
    return (near or tops)[:_MAX_NEAREST]


def _matcher_of(globs: Sequence[str], known: Collection[str]) -> Matcher:
    positive = [glob for glob in globs if not glob.startswith("!")]
    is_wanted = _any_of(positive, known) if positive else lambda path: True
    if len(positive) == len(globs):
        return is_wanted
    is_unwanted = _any_of([glob[1:] for glob in globs if glob.startswith("!")], known)
    return lambda path: is_wanted(path) and not is_unwanted(path)


def _any_of(globs: Sequence[str], known: Collection[str]) -> Matcher:
    """That of some globs, none of which is a list; files, folders and beginnings are looked up together."""
    literals = {re.sub(r"\\(.)", r"\1", glob.removeprefix("./").strip("/")) for glob in globs}
    if literals & {"", "."}:
        return lambda path: True
    names = {literal for literal in literals if "/" not in literal}
    below = tuple(f"{literal}/" for literal in literals)
    patterns = [_pattern(each) for glob in globs for each in _patterns_of(glob, known)]

    def matches(path: str) -> bool:
        if path in literals or path.startswith(below) or (names and "/" in path and path.rpartition("/")[2] in names):
            return True
        return any(each(path) for each in patterns)

    return matches


def _patterns_of(glob: str, known: Collection[str]) -> Iterator[str]:
    """The patterns without braces that a glob means besides the name that it is."""
    if not _WILD.search(glob):
        return
    plain = glob.removeprefix("./").strip("/")
    if ("[" in glob or "{" in glob) and any(
        f"/{path}/".endswith(f"/{plain}/") or path.startswith(f"{plain}/") for path in known
    ):
        return
    yield from _alternatives(glob)
    if "[" in glob and "\\" not in glob:
        # A folder such as `app/[id]/` may also be meant literally.
        yield from (re.sub(r"[\[\]]", lambda mark: "\\" + mark[0], each) for each in _alternatives(glob))


@lru_cache(maxsize=4096)
def _pattern(glob: str) -> Matcher:
    is_folder = glob.endswith("/")
    if "/" not in glob.rstrip("/") and not is_folder:
        glob = "**/" + glob
    glob = glob.removeprefix("./").removeprefix("/") + "**" * is_folder
    # Several wildcards in a row mean the same as one.
    glob = re.sub(r"(?:\*\*+/)+", "**/", glob)
    parts = ["**" if part.startswith("***") else part for part in _PART.findall(glob)]
    expression = "".join(_MEANINGS.get(part) or _character(part) for part in parts)
    if sum(part.startswith("*") for part in parts) <= _MAX_SIMPLE_WILDCARDS:
        matches: Callable[[str], object] = re.compile(expression, re.DOTALL).fullmatch
    else:
        matches = LinearPattern(expression).fullmatch
    return lambda path: matches(path) is not None


def _character(part: str) -> str:
    """The regular expression for a part that stands for one character."""
    if part.startswith("[") and len(part) > 2:
        is_negated = part[1] in "!^"
        inner = re.sub(r"([\\\[\]^&~|])", r"\\\1", part[1 + is_negated : -1])
        expression = f"[^/{inner}]" if is_negated else f"[{inner}]"
        try:
            if inner and not re.match(expression, "/"):
                return expression
        except re.error:
            pass
    return re.escape(part[1:] if part.startswith("\\") and len(part) == 2 else part)


def _alternatives(glob: str) -> list[str]:
    """`src/{a,b}/*` is `src/a/*` and `src/b/*`."""
    found: list[str] = []
    pending = [glob]
    while pending and len(found) + len(pending) <= _MAX_ALTERNATIVES:
        each = pending.pop()
        match = re.search(r"\{([^{}]*)\}", each)
        if match is None:
            found.append(each)
            continue
        choices = match[1].split(",")
        pending += [each[: match.start()] + choice.strip() + each[match.end() :] for choice in reversed(choices)]
    return found or [glob]


def _with_slashes(glob: str) -> str:
    if "\\" not in glob:
        return glob
    if _IS_WINDOWS_PATH.match(glob):
        return glob.replace("\\", "/")
    return re.sub(r"\\(.)", lambda mark: mark[0] if mark[1] in _ESCAPED else "/" + mark[1], glob)


def _relative(glob: str, root: str) -> str:
    sign, body = ("!", glob[1:]) if glob.startswith("!") else ("", glob)
    if body.rstrip("/") == root:
        return sign + "/**"
    return sign + body[len(root) :] if body.startswith(root + "/") else glob


def _with_folders(glob: str) -> str:
    """A glob that means all below the folders that have its name, too."""
    sign, body = ("!", glob[1:]) if glob.startswith("!") else ("", glob)
    plain = body.strip("/")
    below = f"**/{plain}/**" if "/" not in plain else f"{plain}/**"
    return f"{sign}{{{body},{below}}}" if "{" not in body else glob
