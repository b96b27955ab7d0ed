"""The public repositories that pairs are made of: each at a commit, under a permissive licence, and judged by nowhere."""

from __future__ import annotations

import csv
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.code.histories import names as judged_histories
from tests.benchmarks.code.repositories import REPOSITORIES as JUDGED_PACKAGES

_LIST = Path(__file__).parent / "repositories.csv"
_LICENCE_FILE = re.compile(r"^(unlicense|(licen[cs]e|copying)([-_.]?(mit|apache|bsd))?(\.(txt|md|rst))?)$", re.I)
_PERMISSIVE = re.compile(
    r"permission is hereby granted, free of charge|mit license|apache license|redistribution and use in source and binary forms|"
    r"permission to use, copy, modify,? and/?(or)? distribute|unencumbered software released into the public domain",
    re.I,
)
_COPYLEFT = re.compile(r"gnu (lesser |affero )?general public|mozilla public|eclipse public|business source", re.I)


@dataclass(frozen=True, slots=True)
class TrainingRepository:
    """A clone of a public repository, and the commit whose files and history are learned from."""

    clone: Path
    name: str
    """`OWNER/NAME`, as at GitHub."""
    commit: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A repository of the list that is not learned from."""

    name: str
    reason: str


def repositories(mirrors: Path) -> Iterator[TrainingRepository | LeftOut]:
    """The repositories of the list, from a folder of clones (`OWNER+NAME/repo`)."""
    with _LIST.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            name, commit = row["repository"], row["commit"]
            folder = mirrors / name.replace("/", "+") / "repo"
            clone = folder / ".git" if (folder / ".git").is_dir() else folder
            reason = _reason_against(name, clone, commit)
            yield LeftOut(name, reason) if reason else TrainingRepository(clone, name, commit)


def _reason_against(name: str, clone: Path, commit: str) -> str:
    if is_judged_by(name):
        return "it is judged by"
    if not clone.is_dir():
        return "it is not among the mirrors"
    try:
        if not is_permissive(clone, commit):
            return "its licence is not known to be permissive"
    except subprocess.CalledProcessError:
        return f"its mirror lacks the commit {commit[:10]}"
    return ""


def is_judged_by(name: str) -> bool:
    """Whether an evaluation asks about a repository, under this name or as a package."""
    short = name.rpartition("/")[2].lower()
    packages = {re.sub(r"^(ruby|php|rust)-", "", each.name) for each in JUDGED_PACKAGES}
    return name in judged_histories() or short in packages


def is_permissive(clone: Path, commit: str) -> bool:
    """Whether a licence at the top of the tree is a permissive one. Raises `CalledProcessError` without the commit."""
    names = git(clone, "ls-tree", "--name-only", commit).splitlines()
    texts = [git(clone, "show", f"{commit}:{name}")[:5000] for name in names if _LICENCE_FILE.match(name)]
    return any(_PERMISSIVE.search(text) and not _COPYLEFT.search(text) for text in texts)


def git(clone: Path, *arguments: str) -> str:
    """What git prints about a clone. Raises `CalledProcessError`."""
    command = ["git", "-C", str(clone), *arguments]
    done = subprocess.run(command, capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")
