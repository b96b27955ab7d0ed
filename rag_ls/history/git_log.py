"""Reads commits from git, with the files that each one changed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from rag_ls.storage import Commit, CommitChange
from rag_ls.util.git import GitSilent, Silence, ask_git, list_by_git
from rag_ls.util.paths import is_inner_path
from rag_ls.util.secret_texts import blank_secrets

MAX_COMMITS = 50_000
"""Only this many of the newest commits are read."""
_BATCH_COMMITS = 2_000
_GIT_S = 300.0
_MAX_MESSAGE_BYTES = 2_000_000
_MAX_MESSAGE_CHARACTERS = 20_000
# A commit that changes more files imports or moves a whole tree: its other files are only counted.
_MAX_CHANGES = 300
_BEGIN, _FIELD, _END = b"\x01", b"\x02", b"\x03"
_FORMAT = "--format=%x01%H%x02%P%x02%ct%x02%an%x02%B%x03"
# For a merge, -c lists only the files that differ from every parent.
_DIFF_COMMAND = (
    "diff-tree",
    "--stdin",
    "--root",
    "-r",
    "-c",
    "--always",
    "-z",
    "--raw",
    "--relative",
    "--encoding=UTF-8",
    _FORMAT,
)


def find_head(folder: Path) -> str:
    """The commit that is checked out; empty where there is none yet. Raises `GitSilent`."""
    try:
        return ask_git(folder, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").decode().strip()
    except GitSilent as silent:
        if silent.kind is Silence.FAILED:
            return ""
        raise


def list_commits(folder: Path, head: str) -> list[str]:
    """The newest commits up to `head`, parents before children. Raises `GitSilent`."""
    count = f"--max-count={MAX_COMMITS}"
    return ask_git(folder, "rev-list", "--topo-order", count, head, "--", timeout_s=_GIT_S).decode().split()[::-1]


def read_commits(folder: Path, hashes: Sequence[str]) -> Iterator[Commit]:
    """The commits with these hashes, in this order. Raises `GitSilent`.

    A commit that git cannot read comes without message and changes.
    """
    for first in range(0, len(hashes), _BATCH_COMMITS):
        yield from _read_batch(folder, hashes[first : first + _BATCH_COMMITS])


def _read_batch(folder: Path, hashes: Sequence[str]) -> Iterator[Commit]:
    done = 0
    while done < len(hashes):
        try:
            for commit in _read(folder, hashes[done:], "-M"):
                done = hashes.index(commit.hash, done) + 1
                yield commit
            return
        except GitSilent as silent:
            if silent.kind is not Silence.FAILED or done == len(hashes):
                raise
        # An object is missing or broken: read its commit in the plain way, then the rest.
        yield _read_plainly(folder, hashes[done])
        done += 1


def _read_plainly(folder: Path, commit: str) -> Commit:
    """One commit, read without comparing texts, for which git may lack an object."""
    try:
        return next(_read(folder, [commit], "--no-renames"), Commit(commit))
    except GitSilent:
        return Commit(commit)


def _read(folder: Path, hashes: Sequence[str], *options: str) -> Iterator[Commit]:
    entries = list_by_git(
        folder, *_DIFF_COMMAND, *options, given="".join(f"{each}\n" for each in hashes).encode(), timeout_s=_GIT_S,
        max_entry_bytes=_MAX_MESSAGE_BYTES,
    )  # fmt: skip
    head, changes, more = b"", list[CommitChange](), 0
    for entry in entries:
        if entry.startswith(_BEGIN):
            if head:
                yield _make_commit(head, changes, more)
            head, changes, more = entry, [], 0
            continue
        letter = entry.rsplit(b" ", 1)[-1][:1].decode("ascii", "replace")
        former = os.fsdecode(next(entries, b""))
        path = os.fsdecode(next(entries, b"")) if letter in "RC" and not entry.lstrip().startswith(b"::") else former
        if len(changes) >= _MAX_CHANGES:
            more += 1
        elif is_inner_path(path):
            changes.append(CommitChange(path, former, letter))
    if head:
        yield _make_commit(head, changes, more)


def _make_commit(head: bytes, changes: Sequence[CommitChange], more: int) -> Commit:
    digest, parents, stamp, author, message = head[1:].split(_FIELD, 4)
    text = message.rpartition(_END)[0].decode("utf-8", "replace")[:_MAX_MESSAGE_CHARACTERS]
    subject, _, body = _drop_control_characters(text).partition("\n")
    return Commit(
        hash=digest.decode(),
        parents=tuple(parents.decode().split()),
        time=int(stamp),
        author=_drop_control_characters(author.decode("utf-8", "replace")),
        subject=subject.strip(),
        body=blank_secrets("", body.strip()).text,
        changes=tuple(changes),
        more_changes=more,
    )


def _drop_control_characters(text: str) -> str:
    """The text without control characters, which a terminal would obey."""
    return "".join(letter for letter in text.strip() if letter.isprintable() or letter in "\n\t")
