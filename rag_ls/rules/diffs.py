"""Reads unified diffs: which lines of which files they add."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_ls.errors import InvalidRequest

_FILE = re.compile(r"^\+\+\+ (?:b/)?([^\t\n]+)")
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_NOWHERE = "/dev/null"


@dataclass(frozen=True, slots=True)
class FileChange:
    """The lines that a diff adds to a file."""

    path: str
    lines: tuple[tuple[int, str], ...]
    """Line numbers in the new text, with the text."""

    @property
    def text(self) -> str:
        """The added lines."""
        return "\n".join(line for _, line in self.lines)


def read_diff(diff: str) -> list[FileChange]:
    """The files that a unified diff changes, with the lines that it adds. Raises `InvalidRequest` if it is no diff."""
    changes: list[FileChange] = []
    path, number, lines = "", 0, list[tuple[int, str]]()

    def end() -> None:
        if path and path != _NOWHERE:
            changes.append(FileChange(path, tuple(lines)))

    for line in diff.splitlines():
        if found := _FILE.match(line):
            end()
            path, lines = found[1].strip().strip('"').replace("\\", "/"), []
        elif hunk := _HUNK.match(line):
            number = int(hunk[1])
        elif path and line.startswith("+"):
            lines.append((number, line[1:]))
            number += 1
        elif path and not line.startswith(("-", "\\", "diff ", "index ", "---")):
            number += 1
    end()
    if not changes:
        raise InvalidRequest("diff: no changed file was found in it; give a unified diff, as `git diff` prints it")
    return changes
