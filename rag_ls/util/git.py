"""The one place that calls git: with a clean environment, limits, and no program that anybody's settings name."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import IO

from rag_ls.errors import StoreUnavailable
from rag_ls.util.files import NO_HANDLES, describe_no_handles
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.processes import without_git
from rag_ls.util.repositories import (
    DOT_GIT,
    Repository,
    find_repository,
    is_git_folder,
    is_repository_top,
    why_endless,
)

_TIMEOUT_S = 20.0
_MAX_ENTRIES = 3_000_000
# Longer names are no files'.
_MAX_ENTRY_BYTES = 100_000
# git must run no program that a repository's settings name: the user has not agreed to that.
_OPTIONS = (
    "--no-pager",
    "--no-optional-locks",
    "-c", "core.fsmonitor=false",
    "-c", f"core.hooksPath={os.devnull}",
    "-c", "core.askPass=",
    "-c", "credential.helper=",
    "-c", "protocol.allow=never",
    # A folder in the tree that looks like a bare repository brings settings of its own.
    "-c", "safe.bareRepository=explicit",
)  # fmt: skip
_COMMANDS = frozenset(
    "cat-file check-ignore config diff-index diff-tree ls-files ls-tree merge-base rev-list rev-parse".split()
)
"""The commands that pass no file through a filter, which is a program: they compare none of the work tree's files."""
_TRUST = lazy_pattern(rb"(git config --global --add safe\.directory [^\r\n]+)")


class Silence(StrEnum):
    """The kinds of reasons for which git gives no answer."""

    NO_REPOSITORY = "no repository"
    """There is no `.git` at or above the folder."""
    MISSING = "missing"
    """There is a repository, but no program `git`."""
    REFUSED = "refused"
    """git does not read this repository."""
    LATE = "late"
    """git did not answer in time."""
    FAILED = "failed"
    """git reads the repository, but this command failed."""


class GitSilent(Exception):
    """Raised where git gives no answer; its text says why, and what to do."""

    def __init__(self, kind: Silence, reason: str, remedy: str = "") -> None:
        super().__init__(f"{reason}; {remedy}" if remedy else reason)
        self.kind = kind
        self.reason = reason
        self.remedy = remedy


def git_program() -> str | None:
    """The path of the program `git`. It is looked for only in the absolute folders of `PATH`."""
    places = [place for place in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(place)]
    found = shutil.which("git", path=os.pathsep.join(places))
    # On Windows, `which` looks in the current folder first.
    return found if found and os.path.isabs(found) else None


def ask_git(
    folder: Path, *command: str, given: bytes = b"", codes: Sequence[int] = (0,), timeout_s: float = _TIMEOUT_S
) -> bytes:
    """The output of a git command, run in a folder of a work tree. `given` is its standard input.

    Raises `GitSilent` where there is no repository or git does not answer, and for an exit code that is not in `codes`.
    """
    return b"".join(_run(folder, command, given, codes, timeout_s, []))


def list_by_git(
    folder: Path,
    *command: str,
    given: bytes = b"",
    timeout_s: float = _TIMEOUT_S,
    complaints: list[bytes] | None = None,
    max_entry_bytes: int = _MAX_ENTRY_BYTES,
) -> Iterator[bytes]:
    """The entries, with a NUL between them, that a git command lists; each may come before git fails.

    `given` is its standard input. To `complaints`, if there are any, what it says to standard error is added at the end.
    Raises `GitSilent`, as `ask_git` does.
    """
    rest, count = b"", 0
    for piece in _run(folder, command, given, (0,), timeout_s, [] if complaints is None else complaints):
        *entries, rest = (rest + piece).split(b"\0")
        count += len(entries)
        if count > _MAX_ENTRIES or len(rest) > max_entry_bytes:
            most = f"{_MAX_ENTRIES:,} files, or a name of more than {max_entry_bytes:,} bytes"
            raise GitSilent(Silence.FAILED, f"git lists more than {most}")
        yield from filter(None, entries)
    if rest:
        yield rest


def _run(
    folder: Path,
    command: Sequence[str],
    given: bytes,
    codes: Sequence[int],
    timeout_s: float,
    complaints: list[bytes],
) -> Iterator[bytes]:
    assert command[0] in _COMMANDS, f"git {command[0]} may run programs that a repository's settings name"
    repository = find_repository(folder)
    if repository is None:
        raise GitSilent(Silence.NO_REPOSITORY, f"{folder} is in no git repository")
    if (program := git_program()) is None:
        raise GitSilent(Silence.MISSING, "git is not installed", "install git")
    if fault := repository.fault or _endless_settings(repository):
        raise _refusal(repository, fault)
    if fault := _repository_on_the_way(folder, repository.top):
        raise _refusal(repository, fault)
    if not all(map(_can_be_given, command)):
        raise GitSilent(Silence.FAILED, "git cannot be asked for a NUL character, half a character or so long a text")
    # `core.worktree` may name a folder elsewhere. Only the folder that holds `.git` is meant.
    line = [program, "-C", str(folder), f"--work-tree={repository.top}", *_OPTIONS, *command]
    try:
        git = GitProcess(line, given, timeout_s)
    except OSError as error:
        if error.errno in NO_HANDLES:
            # Without git, tracked files that a rule ignores would drop out of the index.
            raise StoreUnavailable(describe_no_handles(), "index") from error
        raise GitSilent(Silence.MISSING, f"git cannot be run: {error}", "mend or install git") from error
    yield from git.pieces()
    if git.is_late:
        raise GitSilent(Silence.LATE, f"git gave no answer for {repository.top} in {timeout_s:.0f} s", "try again")
    if git.fault:
        raise _refusal(repository, git.fault)
    if git.code not in codes:
        raise _failure(repository, git.complaint)
    complaints.append(git.complaint)


def _can_be_given(argument: str) -> bool:
    try:
        encoded = os.fsencode(argument)
    except UnicodeEncodeError:
        return False
    return b"\0" not in encoded and len(encoded) <= _MAX_ENTRY_BYTES


def _endless_settings(repository: Repository) -> str:
    """The reason why git might read the settings of a repository for ever; empty where it does not."""
    return why_endless(repository.common / "config") or why_endless(repository.folder / "config.worktree")


def _repository_on_the_way(folder: Path, top: Path) -> str:
    """The reason why git might take another repository, at a folder or between it and the top of its work tree; empty where not."""
    for each in (each for each in (folder, *folder.parents) if each != top and each.is_relative_to(top)):
        if is_git_folder(each):
            # git before 2.38 takes it for a repository, with the settings in it.
            return f"{each} looks like a bare repository"
        if is_repository_top(each):
            return f"{each / DOT_GIT} is another user's"
    return ""


def why_git_is_silent(folder: Path) -> GitSilent | None:
    """The reason why git tells nothing about a folder; None where it does."""
    try:
        ask_git(folder, "rev-parse", "--git-dir")
    except GitSilent as silent:
        return silent
    return None


def _failure(repository: Repository, complaint: bytes) -> GitSilent:
    lines = complaint.decode("utf-8", "replace").strip().splitlines()
    message = next(
        (line for line in lines if line.startswith(("fatal: ", "error: "))), lines[0] if lines else "git failed"
    )
    first = message.strip().removeprefix("fatal: ").removeprefix("error: ")
    if trust := _TRUST.search(complaint):
        # The line is git's own, with the path as git compares it.
        remedy = f"if you trust it, `{trust[1].decode('utf-8', 'replace').strip()}`"
        return GitSilent(Silence.REFUSED, f"git refuses to read it ({first})", remedy)
    if first.startswith(("not a git repository", "bad config", "cannot use bare repository", "unknown repository ext")):
        return _refusal(repository, first)
    return GitSilent(Silence.FAILED, first)


def _refusal(repository: Repository, reason: str) -> GitSilent:
    return GitSilent(
        Silence.REFUSED, f"git cannot read it ({reason})", f"`git -C {repository.top} status` shows the fault"
    )


# Listing a million files with their stamps takes half of it.
_MAX_OUTPUT_BYTES = 500_000_000
_MAX_COMPLAINT_BYTES = 10_000_000
# Listing a million files takes a tenth of it.
_MAX_MEMORY_BYTES = 2_000_000_000
_PIECE_BYTES = 1_000_000
_VARIABLES = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM": "1",
    "GIT_PAGER": "cat",
    "GIT_ASKPASS": "",
    # git's messages are read, so they must be English.
    "LC_ALL": "C",
}


class GitProcess:
    """A git that runs. Its `pieces` are read once; then `code`, `complaint` and `fault` are known."""

    def __init__(self, line: Sequence[str], given: bytes, timeout_s: float) -> None:
        """Start it, with `given` as its standard input. Raises `OSError`."""
        self.complaint = b""
        """Its standard error."""
        self.fault = ""
        """The reason why it was ended; empty where it ended by itself."""
        self.is_late = False
        """Whether it was ended because it took too long."""
        self._timeout_s = timeout_s
        pipe = subprocess.PIPE
        self._popen = subprocess.Popen(
            line,
            env={**without_git(os.environ), **_VARIABLES},
            stdin=pipe if given else subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            # `git` may be a script, which is ended together with the git that it runs.
            process_group=0 if _HAS_GROUPS else None,
        )
        _limit_memory(self._popen.pid)
        self._timer = threading.Timer(timeout_s, self._end_late)
        readers = [threading.Thread(target=self._read_complaint, name="git")]
        readers += [threading.Thread(target=self._feed, args=(given,), name="git")] if given else []
        self._threads = [self._timer, *readers]
        for thread in self._threads:
            thread.daemon = True
            thread.start()

    @property
    def code(self) -> int:
        """Its exit code."""
        return self._popen.wait()

    def pieces(self) -> Iterator[bytes]:
        """Its output, piece by piece. A reader that stops ends it."""
        assert self._popen.stdout is not None
        read_bytes = 0
        try:
            while piece := self._popen.stdout.read1(_PIECE_BYTES):  # type: ignore[attr-defined]
                read_bytes += len(piece)
                if read_bytes > _MAX_OUTPUT_BYTES:
                    self._end(f"it tells more than {_MAX_OUTPUT_BYTES // 1_000_000} MB")
                    return
                yield piece
            # It may close its output first.
            self._popen.wait()
        finally:
            self._close()

    def _close(self) -> None:
        self._kill()
        self._timer.cancel()
        for thread in self._threads:
            thread.join()
        self._popen.wait()
        for stream in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _end(self, fault: str) -> None:
        self.fault = self.fault or fault
        self._kill()

    def _end_late(self) -> None:
        self.is_late = True
        self._end(f"it gave no answer in {self._timeout_s:.0f} s")

    def _kill(self) -> None:
        # Once it was waited for, its number may be another's.
        if _HAS_GROUPS and self._popen.returncode is None:
            with contextlib.suppress(OSError):
                os.killpg(self._popen.pid, signal.SIGKILL)
        self._popen.kill()

    def _read_complaint(self) -> None:
        assert self._popen.stderr is not None
        self.complaint = self._popen.stderr.read(_MAX_COMPLAINT_BYTES)
        if self._popen.stderr.read(1):
            self._end(f"it complains in more than {_MAX_COMPLAINT_BYTES // 1_000_000} MB")

    def _feed(self, given: bytes) -> None:
        stream: IO[bytes] | None = self._popen.stdin
        assert stream is not None
        # It may end before it has read all.
        with contextlib.suppress(OSError):
            stream.write(given)
        with contextlib.suppress(OSError):
            stream.close()


_HAS_GROUPS = os.name == "posix"


def _limit_memory(process_id: int) -> None:
    """Limit a process's memory; on Linux alone."""
    if sys.platform == "linux":
        import resource

        with contextlib.suppress(OSError):
            resource.prlimit(process_id, resource.RLIMIT_DATA, (_MAX_MEMORY_BYTES, _MAX_MEMORY_BYTES))
