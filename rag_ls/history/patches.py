"""Reads patches without context as git writes them: the lines that commits replaced."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rag_ls.util.git import ask_git
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

Lines = tuple[int, int]
"""The first and the last of some lines, counted from 1."""
_GIT_S = 60.0
_OPTIONS = (
    "-r", "-p", "-U0", "-M", "--relative", "--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/",
    "--dst-prefix=b/",
)  # fmt: skip
_HUNK = lazy_pattern(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_COMMIT = b"\x01"
MIN_LINE_CHARACTERS = 4
"""A shorter line, such as a brace, is like any other."""
_MIN_RATIO, _MAX_COMPARED = 0.6, 200
# Lines that replace so many more are new.
_MAX_GROWTH, _MAX_GROWTH_LINES = 3, 10


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that took the place of others. Without lines, a start is the line before them."""

    former_path: str
    """Empty where git writes it quoted."""
    old_start: int
    old_count: int
    new_start: int
    new_count: int
    removed: tuple[bytes, ...] = ()
    added: tuple[bytes, ...] = ()


def read_patches(folder: Path, commits: Sequence[str], paths: Iterable[str] = ()) -> dict[str, list[Hunk]]:
    """The hunks by which commits, none of them a merge, changed the files with these paths; all files without. Raises `GitSilent`."""
    given = "".join(f"{each}\n" for each in commits).encode()
    command = ("diff-tree", "--stdin", "--root", *_OPTIONS, "--format=%x01%H", "--", *map(_quote_path, paths))
    found: dict[str, list[Hunk]] = {}
    for part in _split_lines(ask_git(folder, *command, given=given, timeout_s=_GIT_S)):
        found[part[0][1:].decode("ascii", "replace")] = list(_read_hunks(part[1:]))
    return found


def read_difference(folder: Path, former: str, commit: str, paths: Iterable[str]) -> list[Hunk]:
    """The hunks between two commits in the files with these paths. Raises `GitSilent`."""
    output = ask_git(folder, "diff-tree", *_OPTIONS, former, commit, "--", *map(_quote_path, paths), timeout_s=_GIT_S)
    return list(_read_hunks(output.split(b"\n")))


def compare_texts(former: str, text: str) -> list[Hunk]:
    """The hunks between two texts, without the lines themselves."""
    matcher = difflib.SequenceMatcher(None, former.splitlines(), text.splitlines(), autojunk=False)
    return [
        Hunk("", first + (last > first), last - first, new_first + (new_last > new_first), new_last - new_first)
        for kind, first, last, new_first, new_last in matcher.get_opcodes()
        if kind != "equal"
    ]


def map_back(hunks: Sequence[Hunk], lines: Lines) -> tuple[bool, Lines | None]:
    """Whether hunks of one file, from its beginning on, touch some of its lines; and the lines that these were before.

    None if all of them were added. As `git log -L` does it.
    """
    first, last = lines
    is_touched, places, shift, kept = False, list[int](), 0, first
    for hunk in hunks:
        # The lines between two others, where lines were removed, are none.
        begin = hunk.new_start + (not hunk.new_count)
        end = begin + hunk.new_count - 1
        if begin > last:
            break
        if kept < begin and kept <= last:
            places += (kept + shift, min(last, begin - 1) + shift)
        is_inside = first < begin <= last if not hunk.new_count else end >= first
        if is_inside:
            is_touched = True
            places += _find_former(hunk, lines)
        shift += hunk.old_count - hunk.new_count
        kept = max(kept, end + 1)
    if kept <= last:
        places += (kept + shift, last + shift)
    return is_touched, (min(places), max(places)) if places else None


def _find_former(hunk: Hunk, lines: Lines) -> tuple[int, ...]:
    """The first and the last of the removed lines that some of the added ones replace; nothing where they are far too many."""
    begin, end = hunk.old_start, hunk.old_start + hunk.old_count - 1
    first = _find_alike(hunk, lines[0], 0, lines[0] - hunk.new_start)
    last = _find_alike(hunk, lines[1], first or 0, (first or 0) + lines[1] - lines[0])
    begin, end = begin + (first or 0), begin + last if last is not None else end
    count = lines[1] - lines[0] + 1
    if end - begin >= _MAX_GROWTH * count + _MAX_GROWTH_LINES:
        if first is None:
            return ()
        end = begin + count - 1
    return (begin, end) if hunk.old_count else ()


def _find_alike(hunk: Hunk, number: int, first: int, expected: int) -> int | None:
    """The place in the removed lines, from `first` on, of the one that an added line replaces; None where none is like it.

    Of equal lines, the one nearest the `expected` place.
    """
    at = number - hunk.new_start
    if not 0 <= at < len(hunk.added):
        return None
    line = hunk.added[at].strip()
    if len(line) < MIN_LINE_CHARACTERS:
        return None
    removed = [each.strip() for each in hunk.removed]
    if same := [place for place in range(first, len(removed)) if removed[place] == line]:
        return min(same, key=lambda place: abs(place - expected))
    matcher = difflib.SequenceMatcher(None, b=line.decode("latin-1"), autojunk=False)
    best: tuple[float, int | None] = (_MIN_RATIO, None)
    for place, each in enumerate(removed[first : first + _MAX_COMPARED], first):
        matcher.set_seq1(each.decode("latin-1"))
        if matcher.real_quick_ratio() > best[0] and (ratio := matcher.ratio()) > best[0]:
            best = (ratio, place)
    return best[1]


def _quote_path(path: str) -> str:
    """The path as git takes it literally."""
    return f":(literal){path}"


def _split_lines(output: bytes) -> Iterator[list[bytes]]:
    """The lines of each commit, whose own comes first. Lines of files have a mark before them."""
    for part in (b"\n" + output).split(b"\n" + _COMMIT)[1:]:
        yield (_COMMIT + part).split(b"\n")


def _read_hunks(lines: Sequence[bytes]) -> Iterator[Hunk]:
    former, at = "", 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith(b"diff --git "):
            former = ""
        elif line.startswith(b"--- a/"):
            former = line[6:].rstrip(b"\t").decode("utf-8", "surrogateescape")
        elif head := _HUNK.match(line):
            old_start, old_count, new_start, new_count = (1 if each is None else int(each) for each in head.groups())
            end = at + old_count + new_count
            end += sum(each.startswith(b"\\") for each in lines[at : end + 2])
            body, at = lines[at:end], end
            removed = tuple(each[1:] for each in body if each.startswith(b"-"))
            added = tuple(each[1:] for each in body if each.startswith(b"+"))
            yield Hunk(
                former_path=former, old_start=old_start, old_count=old_count, new_start=new_start, new_count=new_count,
                removed=removed, added=added,
            )  # fmt: skip
