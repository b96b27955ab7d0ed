"""Reads unified diffs, as git and others write them under any settings: which lines of which files they add."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from rag_ls.errors import InvalidRequest
from rag_ls.util.git import GitSilent, ask_git
from rag_ls.util.git_changes import ChangeStatus, Difference, list_differences
from rag_ls.util.paths import is_inner_path, text_in
from rag_ls.util.records import dataclass, field, replace
from rag_ls.util.secret_texts import blank_secrets
from rag_ls.util.text import lines_of

_NOWHERE = "/dev/null"
_GIT_HEADER = "diff --git "
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_RENAMED = re.compile(r"(?:rename|copy) to (.+)")
_COLOURS = re.compile(r"\x1b\[[\d;]*[mK]")
_COLOURED = re.compile(r"^\x1b\[[\d;]*m(?:diff |\+\+\+ )", re.MULTILINE)
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}
_GIT_S = 120.0
_MAX_BYTES = 2_000_000
_BINARY_HEAD_BYTES = 8000
# Lines before times lines after; it takes a second at most.
_MAX_COMPARED = 1_000_000
_MODULE_MODE = b"160000"
_NO_TEXT = "binary, or larger than 2 MB: not looked into"
_LINK = "a link: not followed"


@dataclass(frozen=True, slots=True)
class FileChange:
    """The lines that a diff adds to a file."""

    path: str
    lines: tuple[tuple[int, str], ...]
    """Line numbers in the new text, with the text."""
    is_deleted: bool = False
    is_new: bool = False
    """Whether the diff needs no file there: it adds or renames it, or has no line of the former text."""

    @property
    def text(self) -> str:
        """The added lines."""
        return "\n".join(line for _, line in self.lines)


@dataclass(slots=True, eq=False)
class _File:
    """A file of a diff, as far as it is read. Its names are as they are written."""

    header: str = ""
    old: str = ""
    new: str = ""
    exact: str = ""
    """The name of a renamed file, which has no prefix."""
    lines: list[tuple[int, str]] = field(default_factory=list)
    is_new: bool = False
    is_deleted: bool = False


def read_diff(diff: str) -> list[FileChange]:
    """The files that a unified diff changes, with the lines that it adds. Raises `InvalidRequest` if it is no diff."""
    if _COLOURED.search(diff):
        diff = _COLOURS.sub("", diff)
    # Only LF ends a line of a diff: a form feed or a CR may stand within one.
    lines = [line.removesuffix("\r") for line in diff.removeprefix("\ufeff").split("\n")]
    files, file, at = list[_File](), _File(), 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("diff ") or (line.startswith(("--- ", "+++ ")) and file.new):
            file = _File(header=line)
            files.append(file)
        if renamed := _RENAMED.fullmatch(line):
            file.exact, file.is_new = renamed[1], True
        elif line.startswith("new file mode "):
            file.is_new = True
        elif line.startswith("deleted file mode "):
            file.is_deleted = True
        elif line.startswith("--- "):
            file.old = _strip_time(line)
        elif line.startswith("+++ "):
            file.new = _strip_time(line)
            if file not in files:
                files.append(file)
        elif file.new and line.startswith("@@"):
            at = _read_hunk(lines, at, file)
            continue
        at += 1
    changes = [change for each in files if (change := _make_change(each))]
    if not changes:
        raise InvalidRequest("diff: no changed file was found in it; give a unified diff, as `git diff` prints it")
    return changes


def find_files(root: Path, changes: Iterable[FileChange]) -> tuple[list[FileChange], list[str]]:
    """The changes with their paths from a project's root, and the paths of those that the project should hold and does not.

    git counts paths from the repository's root, which may lie above the project's.
    """
    found = [replace(each, path=_count_from(root, each.path)) for each in changes]
    missing = [each.path for each in found if not (each.is_new or each.is_deleted) and not _is_there(root, each.path)]
    return found, missing


def _count_from(root: Path, path: str) -> str:
    parts = tuple(path.split("/"))
    for at in range(1, len(parts)):
        if root.parts[-at:] == parts[:at] and not os.path.lexists(root / parts[0]):
            return "/".join(parts[at:])
    return path


def _is_there(root: Path, path: str) -> bool:
    return is_inner_path(path) and os.path.lexists(root / path)


def _strip_time(line: str) -> str:
    """The name in a line that begins with `---` or `+++`; a tab ends it where it has a space, or a time follows."""
    return line[4:].partition("\t")[0].strip()


def _read_hunk(lines: Sequence[str], at: int, file: _File) -> int:
    """Add the lines that a hunk adds to those of its file, and return where the hunk ends.

    The numbers in its head say where that is. Those that a person or an agent wrote may be wrong: lines that can only be of
    a hunk belong to it as well, and a file's head ends it.
    """
    if lines[at].startswith("@@@"):
        raise InvalidRequest(
            f"diff: {file.new} is compared with both sides of a merge; give `git diff` with one of them"
        )
    head = _HUNK.match(lines[at])
    old, number, new = (int(head[1] or 1), int(head[2]), int(head[3] or 1)) if head else (0, 1, 0)
    file.is_new |= head is not None and old == 0
    at, is_empty = at + 1, True
    while at < len(lines):
        line, mark = lines[at], lines[at][:1]
        if mark == "\\":
            at += 1
            continue
        is_due = old > 0 or new > 0
        if mark not in ("", " ", "+", "-") or not (line or is_due) or _begins_file(lines, at, old, new):
            break
        is_empty &= mark in ("", " ")
        old, new = old - (mark != "+"), new - (mark != "-")
        if mark == "+":
            file.lines.append((number, line[1:]))
        number += mark != "-"
        at += 1
    if is_empty:
        raise InvalidRequest(f"diff: a part of {file.new} has no changed line; give `git diff` without --word-diff")
    return at


def _begins_file(lines: Sequence[str], at: int, old: int, new: int) -> bool:
    """Whether a line within a hunk begins another file: two lines `---` and `+++` that the hunk's head does not count."""
    if lines[at].startswith("+++ "):
        return old <= 0 and new <= 0
    after = (*lines[at + 1 : at + 3], "", "")
    if not (lines[at].startswith("--- ") and after[0].startswith("+++ ")):
        return False
    return new <= 0 or (after[1].startswith("@@") and (old, new) != (1, 1))


def _make_change(file: _File) -> FileChange | None:
    old, new = _names(file)
    is_deleted = file.is_deleted or file.new == _NOWHERE
    path = _unquote(file.exact) or (_strip_prefix(new, old) if is_deleted else _strip_prefix(old, new))
    if not path or path == _NOWHERE:
        return None
    is_new = file.is_new or file.old == _NOWHERE
    return FileChange(path.replace("\\", "/"), tuple(file.lines), is_deleted, is_new)


def _names(file: _File) -> tuple[str, str]:
    """Both names of a file, with their prefixes. git's own head has them also where one is /dev/null or none follows."""
    if file.header.startswith(_GIT_HEADER):
        named = file.header.removeprefix(_GIT_HEADER)
        if file.new not in ("", _NOWHERE) and named.endswith(f" {file.new}"):
            return _unquote(named[: -len(file.new) - 1]), _unquote(file.new)
        if file.old not in ("", _NOWHERE) and named.startswith(f"{file.old} "):
            return _unquote(file.old), _unquote(named[len(file.old) + 1 :])
        # Nothing else is said of a file without lines, such as one whose mode changed: both names are as long.
        half = len(named) // 2
        if named[half : half + 1] == " ":
            return _unquote(named[:half]), _unquote(named[half + 1 :])
    return _unquote(file.old), _unquote(file.new)


def _strip_prefix(other: str, name: str) -> str:
    """A name without what git puts before it: the first folder, where the other name differs from it in that alone."""
    if other == name:
        return name
    first, _, rest = name.partition("/")
    if rest and other.partition("/")[2] == rest:
        return rest
    return rest if other in ("", _NOWHERE) and first in ("a", "b") and rest else name


def _unquote(name: str) -> str:
    """A name that git wrote in quotation marks with escapes of C, as it is."""
    if len(name) < 2 or not (name.startswith('"') and name.endswith('"')):
        return name

    def read(found: re.Match[bytes]) -> bytes:
        code = found[1]
        return bytes([int(code, 8) & 255]) if len(code) == 3 else _ESCAPED.get(code, code)

    return _ESCAPE.sub(read, name[1:-1].encode()).decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that differs, with both texts; they are empty where there is none."""

    path: str
    """Relative to the project's root; of a deleted file, the former one."""
    status: ChangeStatus
    former_path: str
    """The path before; the same unless it was renamed, and empty for a new file."""
    before: str = ""
    after: str = ""
    note: str = ""
    """The reason why it was not looked into."""

    @property
    def added_lines(self) -> FileChange:
        """The lines of the new text that the former one does not have, with their numbers."""
        before, after = lines_of(self.before), lines_of(self.after)
        if before and len(before) * len(after) <= _MAX_COMPARED:
            blocks = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
            added = [at for tag, _, _, start, end in blocks if tag != "equal" for at in range(start, end)]
        else:
            # Comparing places would take minutes. Of such a file, the lines count that it held nowhere before.
            known = frozenset(before)
            added = [at for at, line in enumerate(after) if line not in known]
        return FileChange(self.path, tuple((at + 1, after[at]) for at in added))


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """All that differs from a revision."""

    base: str
    """The commit that it was compared with, shortened."""
    files: tuple[ChangedFile, ...]
    notes: tuple[str, ...] = ()
    """The things that the comparison does not show."""


def read_changes(root: Path, revision: str) -> ChangeSet:
    """The files of a project that differ from where its branch left a revision. Raises `InvalidRequest` and says why."""
    try:
        return _read_changes(root, revision)
    except GitSilent as silent:
        raise InvalidRequest(f"changes since {revision!r} cannot be told: {silent}") from silent


def _read_changes(root: Path, revision: str) -> ChangeSet:
    notes = []
    commit = _ask(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", codes=(0, 1))
    if revision.startswith("-") or not commit:
        raise InvalidRequest(
            f"{revision!r} is no revision of this repository; give a branch, tag or commit that it has: a shallow clone "
            "lacks most (`git fetch origin BRANCH`)"
        )
    base = _ask(root, "merge-base", commit, "HEAD", codes=(0, 1))
    if not base:
        notes.append(
            f"no commit is known that {revision} and this branch have in common: compared with {revision} itself"
        )
        base = commit
    named = list(list_differences(root, base))
    texts = _read_texts(root, base, [each.former_path for each in named if each.former_path])
    made = (_make_changed_file(root, each, texts) for each in named)
    # A file that a filter changes differs from git's text in any case, and one may differ in its line ends alone.
    files = tuple(
        each for each in made if each.status is not ChangeStatus.CHANGED or each.note or each.before != each.after
    )
    return ChangeSet(base[:12], files, (*notes, *_note_submodules(root, base)))


def _ask(root: Path, *command: str, codes: Sequence[int] = (0,)) -> str:
    return os.fsdecode(ask_git(root, *command, codes=codes, timeout_s=_GIT_S)).strip("\n")


def _read_texts(root: Path, base: str, paths: Sequence[str]) -> Mapping[str, bytes]:
    """The contents of files at a commit; those that are too large, or that git does not give, are left out."""
    asked = [path for path in paths if "\n" not in path]
    lines = b"".join(os.fsencode(f"{base}:./{path}\n") for path in asked)
    heads = ask_git(root, "cat-file", "--batch-check", given=lines, timeout_s=_GIT_S).splitlines() if asked else []
    sizes = [head.rsplit(b" ", 2) for head in heads]
    small = [
        (path, int(size[2]))
        for path, size in zip(asked, sizes, strict=False)
        if len(size) == 3 and size[1] == b"blob" and int(size[2]) <= _MAX_BYTES
    ]
    found: dict[str, bytes] = {}
    if small:
        given = b"".join(os.fsencode(f"{base}:./{path}\n") for path, _ in small)
        told, at = ask_git(root, "cat-file", "--batch", given=given, timeout_s=_GIT_S), 0
        for path, size in small:
            start = told.index(b"\n", at) + 1
            found[path] = told[start : start + size]
            at = start + size + 1
    return found


def _make_changed_file(root: Path, difference: Difference, texts: Mapping[str, bytes]) -> ChangedFile:
    path, former, status = difference.path, difference.former_path, difference.status
    if os.path.islink(root / path):
        return ChangedFile(path, status, former, note=_LINK)
    before = texts.get(former)
    is_gone = status is ChangeStatus.DELETED
    try:
        is_large = not is_gone and (root / path).stat().st_size > _MAX_BYTES
    except OSError:
        is_large = False
    after = "" if is_gone or is_large else text_in(root, path)
    if (
        is_large
        or (former and before is None)
        or "\0" in after[:_BINARY_HEAD_BYTES]
        or b"\0" in (before or b"")[:_BINARY_HEAD_BYTES]
    ):
        return ChangedFile(path, status, former, note=_NO_TEXT)
    former_text = (before or b"").decode("utf-8", "replace").replace("\r\n", "\n")
    return ChangedFile(path, status, former, blank_secrets(former, former_text).text, after)


def _note_submodules(root: Path, base: str) -> Iterator[str]:
    """The submodules whose recorded commit differs; what differs within them is not read."""
    before = _modules(ask_git(root, "ls-tree", "-r", "-z", base, timeout_s=_GIT_S), place=2)
    after = _modules(ask_git(root, "ls-files", "-s", "-z", timeout_s=_GIT_S), place=1)
    for path in sorted({path for path, _ in before.items() ^ after.items()}):
        yield f"{path} is a submodule, and another commit of it is recorded: ask in its own folder what that changes"


def _modules(listed: bytes, *, place: int) -> dict[str, bytes]:
    """The recorded commit of each submodule, by path; `place` is the commit's among the fields before the path."""
    entries = (entry.partition(b"\t") for entry in listed.split(b"\0") if entry.startswith(_MODULE_MODE))
    return {os.fsdecode(path): head.split()[place] for head, _, path in entries}
