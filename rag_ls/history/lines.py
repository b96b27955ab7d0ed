"""Follows lines of a file back through history: the commits that changed them, through renames and moves."""

from __future__ import annotations

import difflib
import heapq
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rag_ls.history.patches import MIN_LINE_CHARACTERS, Hunk, Lines, map_back, read_difference, read_patches
from rag_ls.storage import DELETED, RENAMED, CommitIndex, PathChange
from rag_ls.util.git import GitSilent, Silence, ask_git
from rag_ls.util.records import dataclass

_MAX_STEPS = 500
_BATCH_COMMITS = 50
# Lines that were added come from elsewhere if at least this share of them was removed there, in lines of some length.
_MOVED_SHARE, _MIN_MOVED_LINES = 0.5, 2
_MAX_MOVED_LINES = 5_000


@dataclass(frozen=True, slots=True)
class LineChange:
    """A commit that changed the lines."""

    commit_id: int
    path: str
    """The file that held them then."""
    introduces: bool = False
    """Whether they came with this commit, as far as is known."""


class LineHistory:
    """The history of lines of a project's files. Reads git."""

    def __init__(self, folder: Path, commits: CommitIndex) -> None:
        self._folder = folder
        self._commits = commits
        self._parents = commits.parents()
        self._files: dict[str, _FileHistory] = {}
        self._hashes: dict[int, str] = {}

    def follow(
        self, head: int, path: str, lines: Lines, *, enough: int = _MAX_STEPS, moves: bool = True
    ) -> list[LineChange]:
        """The commits, `enough` of them, that changed lines of a file as it is in the commit `head`, the newest first.

        With `moves`, lines that a commit moved are followed to where they were. Raises `GitSilent`.
        """
        found: list[LineChange] = []
        waiting = [(-number, path, lines) for number in self._file(path).last_before((head,))]
        seen = set[tuple[int, str]]()
        while waiting and len(seen) < _MAX_STEPS and len(found) < enough:
            negative, path, lines = heapq.heappop(waiting)
            number = -negative
            if (number, path) in seen:
                continue
            seen.add((number, path))
            change = self._file(path).changes[number]
            if change.status == DELETED:
                continue
            is_touched, before = self._step_back(change, path, lines)
            if moves and is_touched and not before and (moved := self._find_source(number, path, lines)):
                place, former = moved
                parents = self._parents.get(number, ())
                before = [(each, place, former) for each in self._file(place).last_before(parents)]
            if is_touched:
                found.append(LineChange(number, path, introduces=not before))
            for each, place, former in before:
                heapq.heappush(waiting, (-each, place, former))
        return found

    def _step_back(self, change: PathChange, path: str, lines: Lines) -> tuple[bool, list[tuple[int, str, Lines]]]:
        """Whether a commit changed lines, and where they were before: in which commits and files."""
        former_path = change.former_path if change.status == RENAMED else path
        is_touched, before = False, list[tuple[int, str, Lines]]()
        for parent, hunks in self._differences(change, path):
            is_touched, former = map_back(hunks, lines)
            numbers = self._file(former_path).last_before((parent,)) if former else []
            places = [(each, former_path, former) for each in numbers if former]
            if not is_touched:
                # A merge that took them from one parent as they were did not change them.
                return False, places
            before += places
        return is_touched, before

    def _file(self, path: str) -> _FileHistory:
        if path not in self._files:
            self._files[path] = _FileHistory(self._folder, path, self._parents, self._commits)
        return self._files[path]

    def _differences(self, change: PathChange, path: str) -> Iterator[tuple[int, Sequence[Hunk]]]:
        """The hunks against each parent of a commit, with the parent's id, 0 for none."""
        parents = self._parents.get(change.commit_id, ())
        if len(parents) < 2:
            yield (parents or (0,))[0], self._patch(change, path)
            return
        digest, *former = self._find_hashes([change.commit_id, *parents])
        for parent, other in zip(parents, former, strict=True):
            if parent:
                yield parent, read_difference(self._folder, other, digest, [path])

    def _patch(self, change: PathChange, path: str) -> Sequence[Hunk]:
        file = self._file(path)
        if change.commit_id not in file.patches:
            batch = [each for each in file.chain_from(change.commit_id, _BATCH_COMMITS) if each not in file.patches]
            paths = {path, *(file.changes[each].former_path for each in batch)}
            hashes = self._find_hashes(batch)
            read = read_patches(self._folder, hashes, sorted(paths))
            file.patches |= {each: read.get(digest, []) for each, digest in zip(batch, hashes, strict=True)}
        return [each for each in file.patches[change.commit_id] if each.former_path in (change.former_path, "")]

    def _find_hashes(self, numbers: Sequence[int]) -> list[str]:
        if missing := [each for each in numbers if each not in self._hashes]:
            self._hashes |= self._commits.hashes_of(missing)
        return [self._hashes.get(each, "") for each in numbers]

    def _find_source(self, number: int, path: str, lines: Lines) -> tuple[str, Lines] | None:
        """The place from which lines came that a commit added: where it removed most of them; None where they are new."""
        if len(self._parents.get(number, ())) > 1:
            return None
        digest, added = self._find_hashes([number])[0], dict[int, bytes]()
        for hunk in self._file(path).patches.get(number, ()):
            added |= dict(enumerate(hunk.added, hunk.new_start))
        asked = [added.get(each, b"").strip() for each in range(lines[0], lines[1] + 1)]
        removed: dict[str, dict[int, bytes]] = defaultdict(dict)
        for hunk in self._read_whole_patch(digest):
            if hunk.former_path:
                removed[hunk.former_path] |= {at: line.strip() for at, line in enumerate(hunk.removed, hunk.old_start)}
        found = [(*_find_moved(asked, lines), place) for place, lines in removed.items()]
        held, former, place = max(found, default=(0, lines, ""))
        telling = sum(len(line) >= MIN_LINE_CHARACTERS for line in asked)
        return (place, former) if held >= max(_MIN_MOVED_LINES, _MOVED_SHARE * telling) else None

    def _read_whole_patch(self, digest: str) -> Sequence[Hunk]:
        try:
            return read_patches(self._folder, [digest]).get(digest, ())
        except GitSilent as silent:
            if silent.kind is not Silence.FAILED:
                raise
            # git lacks a text of another file.
            return ()


def _find_moved(asked: Sequence[bytes], removed: Mapping[int, bytes]) -> tuple[int, Lines]:
    """The number of telling lines that stand among removed ones in their order, and the place of these and what is between."""
    numbers, texts = list(removed), list(removed.values())
    telling = {line for line in asked if len(line) >= MIN_LINE_CHARACTERS}
    if len(telling.intersection(texts)) < _MIN_MOVED_LINES or len(texts) > _MAX_MOVED_LINES:
        return 0, (0, 0)
    blocks = difflib.SequenceMatcher(None, texts, asked, autojunk=False).get_matching_blocks()[:-1]
    # The largest block is in its place; others count where they are about as far from it as in the added lines.
    anchor = max(blocks, key=lambda block: block.size)
    near = [
        block for block in blocks if abs(numbers[block.a] - numbers[anchor.a] - (block.b - anchor.b)) <= len(asked) // 2
    ]
    held = sum(len(line) >= MIN_LINE_CHARACTERS for block in near for line in asked[block.b : block.b + block.size])
    first, last = near[0], near[-1]
    begin = numbers[first.a] - first.b
    end = numbers[last.a + last.size - 1] + len(asked) - last.b - last.size
    return held, (max(1, begin), max(1, begin, end))


class _FileHistory:
    """The commits that changed one file, and which of them comes before which."""

    def __init__(self, folder: Path, path: str, parents: Mapping[int, tuple[int, ...]], commits: CommitIndex) -> None:
        self._folder = folder
        self._path = path
        self._parents = parents
        self._commits = commits
        self.changes = {each.commit_id: each for each in commits.changes_of(path)}
        self.patches: dict[int, Sequence[Hunk]] = {}
        self._last: dict[int, int] = {}
        chosen: dict[int, int] = {}
        while doubtful := self._find_last(chosen):
            chosen |= self._compare_with_parents(doubtful)

    def last_before(self, numbers: Sequence[int]) -> list[int]:
        """The last commits up to some others, these included, that changed the file."""
        return sorted({self._last[each] for each in numbers if self._last.get(each)})

    def chain_from(self, number: int, count: int) -> Iterator[int]:
        """A commit that changed the file and those before it, along first parents, without merges."""
        while number and count:
            parents = self._parents.get(number, ())
            if len(parents) < 2:
                yield number
                count -= 1
            number = self._last.get(parents[0], 0) if parents else 0

    def _find_last(self, chosen: Mapping[int, int]) -> list[int]:
        """Find the last commit up to each one that changed the file; returns the merges of which git must tell whose file they took.

        A merge that did not change the file has that of one of its parents: of the one that has all changes of the others,
        else of the parent in `chosen`, or of the first.
        """
        bits = {number: 1 << place for place, number in enumerate(self.changes)}
        doubtful, known = list[int](), {0: 0}
        for number, parents in self._parents.items():
            reached = 0
            for each in parents:
                reached |= known.get(each, 0)
            known[number] = reached | bits.get(number, 0)
            lasts = [self._last.get(each, 0) for each in parents] or [0]
            self._last[number] = lasts[0]
            if number in bits:
                self._last[number] = number
            elif len(set(lasts)) > 1:
                whole = [last for each, last in zip(parents, lasts, strict=True) if known.get(each, 0) == reached]
                if number in chosen:
                    self._last[number] = self._last.get(chosen[number], 0)
                elif whole:
                    self._last[number] = whole[0]
                else:
                    doubtful.append(number)
        return doubtful

    def _compare_with_parents(self, merges: Sequence[int]) -> dict[int, int]:
        """The first parent of each merge that has the same file."""
        asked = [(merge, each) for merge in merges for each in (merge, *self._parents[merge])]
        hashes = self._commits.hashes_of({each for _, each in asked})
        names = "".join(f"{hashes.get(each, 'none')}:./{self._path}\n" for _, each in asked)
        output = ask_git(self._folder, "cat-file", "--batch-check=%(objectname)", given=os.fsencode(names))
        blobs = dict(zip(asked, output.splitlines(), strict=False))
        same = {
            merge: [each for each in self._parents[merge] if blobs.get((merge, each)) == blobs.get((merge, merge))]
            for merge in merges
        }
        return {merge: (found or self._parents[merge])[0] for merge, found in same.items()}
