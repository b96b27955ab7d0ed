"""Public repositories, each at a commit of its history; the commits since then tell what people changed and where.

`histories.csv` names them, with the commits; the third of them that a hash chooses is never tuned on.
"""

from __future__ import annotations

import csv
import hashlib
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_BLOBS_AT_ONCE = 500
_LIST = Path(__file__).parent / "histories.csv"
_CLONES = Path(tempfile.gettempdir()) / "rag-ls-benchmarks" / "clones"


@dataclass(frozen=True, slots=True)
class History:
    """A clone of a public repository, and two of its commits."""

    clone: Path
    name: str
    """`OWNER+NAME`, as at GitHub."""
    base: str
    """The commit whose files are searched."""
    last: str
    """The last of the commits whose changes are questions."""

    @property
    def is_unseen(self) -> bool:
        """Whether the repository belongs to the third that nothing is tuned on."""
        return int(hashlib.sha256(self.name.encode()).hexdigest(), 16) % 3 == 0


def names() -> set[str]:
    """The repositories of the list, as `OWNER/NAME`."""
    with _LIST.open(encoding="utf-8", newline="") as file:
        return {row["repository"] for row in csv.DictReader(file)}


def histories(mirrors: Path | None) -> Iterator[History]:
    """The repositories of the list: those in a folder of clones (`OWNER+NAME/repo`), or cloned from GitHub.

    Raises `CalledProcessError` where GitHub is out of reach.
    """
    with _LIST.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            name = row["repository"].replace("/", "+")
            if mirrors is None:
                clone = _cloned(row["repository"], _CLONES / name)
            elif not (clone := mirrors / name / "repo").is_dir():
                print(f"{name} is not among the mirrors", file=sys.stderr)
                continue
            yield History(clone, name, row["base"], row["last"])


def _cloned(repository: str, folder: Path) -> Path:
    if not folder.exists():
        url = f"https://github.com/{repository}"
        subprocess.run(["git", "clone", "--quiet", "--bare", url, str(folder)], check=True)
    return folder


def unpack(history: History, folder: Path) -> None:
    """Write the tree of the base commit to a folder, but files that the clone does not hold."""
    paths: dict[str, list[str]] = defaultdict(list)
    for line in git(history, "ls-tree", "-r", history.base).splitlines():
        entry, path = line.split("\t", 1)
        if entry.startswith("100"):
            paths[entry.split()[2]].append(path)
    for blob, content in blobs(history.clone, list(paths)):
        for path in paths[blob]:
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)


def blobs(clone: Path, ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The contents of a clone's blobs, by id; those that it lacks are left out."""
    command = ["git", "-C", str(clone), "cat-file", "--batch"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        # So few at once that neither pipe is full while the other side waits.
        for at in range(0, len(ids), _BLOBS_AT_ONCE):
            part = ids[at : at + _BLOBS_AT_ONCE]
            process.stdin.write("".join(f"{each}\n" for each in part).encode())
            process.stdin.flush()
            for each in part:
                header = process.stdout.readline().split()
                if header[1] != b"missing":
                    yield each, process.stdout.read(int(header[2]) + 1)[:-1]


def git(history: History, *arguments: str) -> str:
    """What git prints about a clone. Raises `CalledProcessError`."""
    command = ["git", "-C", str(history.clone), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
