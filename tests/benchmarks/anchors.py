"""How well anchors follow declarations that were renamed or moved: commits of real repositories, judged by their lines.

What became of a declaration is found independently of the product: by comparing the lines of those that a commit takes away
with the lines of those that it adds. Where that is not clear, the declaration is left out.
"""

from __future__ import annotations

import difflib
import hashlib
import random
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_ls.chunking import Budget, approximate_token_offsets, cut
from rag_ls.memory import Anchoring
from rag_ls.model import AnchorState
from rag_ls.storage import DocumentRecord, FileState, NewChunk
from rag_ls.storage.sqlite.checkout import CheckoutIndex
from rag_ls.storage.sqlite.index_file import IndexFile, open_derived
from rag_ls.storage.sqlite.postings import LexicalIndex
from rag_ls.storage.sqlite.vectors import SqliteVectors

_LANGUAGES = {".py": "python", ".go": "go", ".js": "javascript", ".ts": "typescript", ".java": "java", ".rs": "rust"}
_WANTED = {"followed": 200, "gone": 100}
_PER_COMMIT = 3
# Of each repository, drawn by chance: most change no name, and each costs a third of a second.
_MAX_COMMITS = 300
_MAX_FILES = 40
_BESIDE = 20
_MIN_LINES = 3
_SAME, _OTHER, _MARGIN = 0.75, 0.3, 0.1
_BUDGET = Budget(400, 50, 0)
_STATE = FileState(10, 10**18, 10**18, 10**18 + 10**12)

Files = dict[str, str]


@dataclass(frozen=True, slots=True)
class Declared:
    """A declaration of a version."""

    path: str
    symbol: str
    lines: tuple[str, ...]
    """Without white space at their ends, and without the declaration's own name."""


@dataclass(frozen=True, slots=True)
class Case:
    """A declaration that a commit takes away, and where it is then; None if it is gone."""

    repository: Path
    commit: str
    path: str
    symbol: str
    now: tuple[str, str] | None

    @property
    def kind(self) -> str:
        """What became of it."""
        if self.now is None:
            return "gone"
        moved, renamed = self.now[0] != self.path, self.now[1].split(".")[-1] != self.symbol.split(".")[-1]
        return "moved and renamed" if moved and renamed else "moved" if moved else "renamed"


def anchors(repositories: Sequence[Path]) -> dict[str, Any]:
    """Followed right, followed wrongly and lost, for each kind of change; for what is gone, lost is right."""
    counts: dict[str, Counter[str]] = {}
    wrong: list[str] = []
    for case in _cases(repositories):
        outcome = _outcome(case)
        counts.setdefault(case.kind, Counter())[outcome] += 1
        if outcome == "wrong":
            wrong.append(f"{case.repository.parent.name} {case.commit[:10]} {case.path} {case.symbol} -> {case.now}")
    return {"counts": {kind: dict(count) for kind, count in sorted(counts.items())}, "wrong": wrong[:20]}


def _cases(repositories: Sequence[Path]) -> list[Case]:
    found: list[Case] = []
    for repository in repositories:
        shares = {kind: wanted // len(repositories) for kind, wanted in _WANTED.items()}
        commits = _git(
            repository, "log", "--no-merges", "--format=%H", "--", *(f"*{end}" for end in _LANGUAGES)
        ).split()
        random.Random(5).shuffle(commits)
        for commit in commits[:_MAX_COMMITS]:
            for case in _of_commit(repository, commit):
                kind = "gone" if case.now is None else "followed"
                if shares[kind] > 0:
                    shares[kind] -= 1
                    found.append(case)
            if not any(shares.values()):
                break
    return found


def _of_commit(repository: Path, commit: str) -> list[Case]:
    before, after = _changed(repository, commit)
    if not before or len(before) > _MAX_FILES:
        return []
    old, new = _declared(before), _declared(after)
    added = [new[key] for key in new.keys() - old.keys()]
    cases = []
    for key in sorted(old.keys() - new.keys()):
        if len(old[key].lines) < _MIN_LINES:
            continue
        ratios = sorted(((_ratio(old[key], each), each.path, each.symbol) for each in added), reverse=True)
        best = ratios[0][0] if ratios else 0.0
        second = ratios[1][0] if len(ratios) > 1 else 0.0
        if best >= _SAME and best - second >= _MARGIN:
            cases.append(Case(repository, commit, *key, ratios[0][1:]))
        elif best < _OTHER:
            cases.append(Case(repository, commit, *key, None))
    random.Random(commit).shuffle(cases)
    return cases[:_PER_COMMIT]


def _ratio(one: Declared, other: Declared) -> float:
    return difflib.SequenceMatcher(None, one.lines, other.lines, autojunk=False).ratio()


def _outcome(case: Case) -> str:
    before, after = _changed(case.repository, case.commit)
    database = open_derived(IndexFile(None))
    lexical, vectors = LexicalIndex(database), SqliteVectors(database, None)
    store = CheckoutIndex(database, None, vectors, lexical)
    try:
        for path, text in {**_beside(case, before.keys() | after.keys()), **before}.items():
            _save(store, path, text)
        document = store.document(case.path)
        assert document is not None
        anchor = Anchoring(store).to_symbol(document, case.symbol)
        assert anchor is not None
        store.remove_documents(before.keys() - after.keys())
        for path, text in after.items():
            _save(store, path, text)
        found = Anchoring(store).resolve(anchor)
    finally:
        store.close()
    if found.state is AnchorState.ORPHANED:
        return "right" if case.now is None else "lost"
    return "right" if (found.path, found.symbol) == case.now else "wrong"


def _save(store: CheckoutIndex, path: str, text: str) -> None:
    language = _LANGUAGES[Path(path).suffix]
    found = cut(text, path, language=language, budget=_BUDGET, token_offsets=approximate_token_offsets)
    chunks = [NewChunk(chunk, hashlib.sha256(chunk.text.encode()).digest()) for chunk in found.chunks]
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    store.replace_document(DocumentRecord(path, language, sha256, _STATE), chunks, outline=found.outline)


def _declared(files: Files) -> dict[tuple[str, str], Declared]:
    found: dict[tuple[str, str], Declared] = {}
    for path, text in files.items():
        language = _LANGUAGES[Path(path).suffix]
        outline = cut(text, path, language=language, budget=_BUDGET, token_offsets=approximate_token_offsets).outline
        lines = text.split("\n")
        for symbol in outline.symbols:
            if symbol.kind in ("function", "type"):
                name = re.escape(symbol.name.rsplit(".", 1)[-1])
                body = (
                    re.sub(rf"\b{name}\b", "_", line.strip()) for line in lines[symbol.start_line - 1 : symbol.end_line]
                )
                found[path, symbol.name] = Declared(path, symbol.name, tuple(body))
    return found


def _changed(repository: Path, commit: str) -> tuple[Files, Files]:
    """The source files that a commit changed, before and after it."""
    listed = _git(repository, "diff-tree", "-r", "--no-commit-id", "--name-only", "--no-renames", commit).splitlines()
    paths = [path for path in listed if Path(path).suffix in _LANGUAGES]
    if len(paths) > _MAX_FILES:
        return {}, {}
    versions = ({path: _shown(repository, f"{rev}:{path}") for path in paths} for rev in (f"{commit}^", commit))
    before, after = ({path: text for path, text in files.items() if text is not None} for files in versions)
    return before, after


def _beside(case: Case, without: set[str]) -> Files:
    """Some other files of the same version."""
    listed = _git(case.repository, "ls-tree", "-r", "--name-only", f"{case.commit}^").splitlines()
    paths = [path for path in listed if Path(path).suffix in _LANGUAGES and path not in without]
    random.Random(case.commit).shuffle(paths)
    return dict(_texts(case.repository, f"{case.commit}^", paths[:_BESIDE]))


def _texts(repository: Path, revision: str, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        if (text := _shown(repository, f"{revision}:{path}")) is not None:
            yield path, text


def _shown(repository: Path, name: str) -> str | None:
    done = subprocess.run(["git", "-C", str(repository), "show", name], capture_output=True, check=False)
    if done.returncode:
        return None
    return done.stdout.decode("utf-8", "replace").replace("\r\n", "\n")


def _git(repository: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")
