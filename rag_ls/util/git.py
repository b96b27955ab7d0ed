"""The one place that calls git: with a clean environment, a time limit, and no program that a repository names."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from rag_ls.util.environment import without_git
from rag_ls.util.git_config import why_endless
from rag_ls.util.repositories import Repository, find_repository, is_git_folder

_TIMEOUT_S = 20.0
# Listing a million files takes a tenth of it.
_MEMORY_BYTES = 2_000_000_000
# git must run no program that a repository's settings name: the user has not agreed to that.
_OPTIONS = (
    "--no-pager",
    "--no-optional-locks",
    "-c", "core.fsmonitor=false",
    "-c", f"core.hooksPath={os.devnull}",
    "-c", "core.askPass=",
    "-c", "credential.helper=",
    "-c", "protocol.allow=never",
    # Keeps `diff` from writing the index, after which git runs hooks; since 2.54 also hooks that the settings name.
    "-c", "diff.autoRefreshIndex=false",
    # A folder in the tree that looks like a bare repository brings settings of its own.
    "-c", "safe.bareRepository=explicit",
)  # fmt: skip
_VARIABLES = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM": "1",
    "GIT_PAGER": "cat",
    "GIT_ASKPASS": "",
    # This module reads git's messages, so they must be English.
    "LC_ALL": "C",
}
# For these commands git passes changed files through filters, which are programs: none runs, the user's own included, because
# a repository may choose what they do (git-lfs's extensions). A file with a filter counts as changed once its stamps differ.
# Submodules bring more filters.
_FILTERING_COMMANDS = ("status", "diff")
_NO_SUBMODULES = "--ignore-submodules=all"
_LIST_FILTERS = ("config", "--name-only", "-z", "--get-regexp", r"^filter\.")
_TRUST = re.compile(rb"(git config --global --add safe\.directory [^\r\n]+)")


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
    folder: Path,
    *command: str,
    given: bytes = b"",
    codes: Sequence[int] = (0,),
    timeout_s: float = _TIMEOUT_S,
    complaints: list[bytes] | None = None,
) -> bytes:
    """The output of a git command, run in a folder of a work tree. `given` is its standard input.

    To `complaints`, if there are any, what it says to standard error is added.

    Raises `GitSilent` where there is no repository or git does not answer, and for an exit code that is not in `codes`.
    """
    repository = find_repository(folder)
    if repository is None:
        raise GitSilent(Silence.NO_REPOSITORY, f"{folder} is in no git repository")
    if (program := git_program()) is None:
        raise GitSilent(Silence.MISSING, "git is not installed", "install git")
    if fault := repository.fault or _endless_settings(repository):
        raise _refusal(repository, fault)
    if inner := _git_folder_on_the_way(folder, repository.top):
        # git before 2.38 takes it for a repository, with the settings in it.
        raise _refusal(repository, f"{inner} looks like a bare repository")
    # `core.worktree` may name a folder elsewhere. Only the folder that holds `.git` is meant.
    line = [program, "-C", str(folder), f"--work-tree={repository.top}", *_OPTIONS]
    if command[0] in _FILTERING_COMMANDS:
        filters, _ = _run(repository, [*line, *_LIST_FILTERS], codes=(0, 1), timeout_s=timeout_s)
        line += _without_filters(repository, filters)
        command = (command[0], _NO_SUBMODULES, *command[1:])
    output, complaint = _run(repository, [*line, *command], given=given, codes=codes, timeout_s=timeout_s)
    if complaints is not None:
        complaints.append(complaint)
    return output


def _endless_settings(repository: Repository) -> str:
    """The reason why git might read the settings of a repository for ever; empty where it does not."""
    return why_endless(repository.common / "config") or why_endless(repository.folder / "config.worktree")


def _git_folder_on_the_way(folder: Path, top: Path) -> Path | None:
    """A folder like those that git keeps for itself, at a folder or between it and the top of its work tree."""
    between = [each for each in (folder, *folder.parents) if each != top and each.is_relative_to(top)]
    return next((each for each in between if is_git_folder(each)), None)


def _without_filters(repository: Repository, listed: bytes) -> list[str]:
    """Options that switch off the filters that the settings of any scope name.

    Raises `GitSilent` where one cannot be switched off.
    """
    options: list[str] = []
    for key in filter(None, os.fsdecode(listed).split("\0")):
        if "=" in key:
            # git would take what follows for the value.
            raise _refusal(repository, f"the name of a filter holds =: {key!r}")
        # An empty command switches a filter off.
        options += ["-c", f"{key}={'false' if key.endswith('.required') else ''}"]
    return options


def _run(
    repository: Repository, line: Sequence[str], *, codes: Sequence[int], timeout_s: float, given: bytes = b""
) -> tuple[bytes, bytes]:
    environment = {**without_git(os.environ), **_VARIABLES}
    pipe = subprocess.PIPE
    try:
        with subprocess.Popen(line, env=environment, stdin=pipe, stdout=pipe, stderr=pipe) as git:
            _limit_memory(git.pid)
            try:
                output, complaint = git.communicate(given, timeout_s)
            except subprocess.TimeoutExpired:
                git.kill()
                late = f"git gave no answer for {repository.top} in {timeout_s:.0f} s"
                raise GitSilent(Silence.LATE, late, "try again") from None
    except OSError as error:
        raise GitSilent(Silence.MISSING, f"git cannot be run: {error}", "mend or install git") from error
    if git.returncode in codes:
        return output, complaint
    raise _failure(repository, complaint)


def _limit_memory(process_id: int) -> None:
    """Limit the memory of a process, on Linux: a repository's files may lead git to read without end."""
    if sys.platform == "linux":
        import resource

        with contextlib.suppress(OSError):
            resource.prlimit(process_id, resource.RLIMIT_DATA, (_MEMORY_BYTES, _MEMORY_BYTES))


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
