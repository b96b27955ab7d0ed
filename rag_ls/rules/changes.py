"""Reads what differs from a git revision, uncommitted work included: each file with its text before and after."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from rag_ls.errors import InvalidRequest
from rag_ls.rules.diffs import FileChange
from rag_ls.util.git import GitSilent, ask_git
from rag_ls.util.git_changes import ChangeStatus, Difference, list_differences
from rag_ls.util.paths import text_in
from rag_ls.util.records import dataclass
from rag_ls.util.secret_texts import blank_secrets
from rag_ls.util.text import lines_of

_GIT_S = 120.0
_MAX_BYTES = 2_000_000
_BINARY_HEAD_BYTES = 8000
# Lines before times lines after; it takes a second at most.
_MAX_COMPARED = 1_000_000
_MODULE_MODE = b"160000"
_NO_TEXT = "binary, or larger than 2 MB: not looked into"
_LINK = "a link: not followed"


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
    made = (_make_change(root, each, texts) for each in named)
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


def _make_change(root: Path, difference: Difference, texts: Mapping[str, bytes]) -> ChangedFile:
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
