"""Commits of a declaration against `git log -L`, and how long reading and telling them takes.

    python -m tests.benchmarks history FOLDER...
    python -m tests.benchmarks history --labels FOLDER-OF-REPOSITORIES questions.jsonl declarations.jsonl

Each folder is a clone with its history. `--labels` reads what people wrote: a line of `questions.jsonl` has `repository`,
`question` and the `commits` that answer it; one of `declarations.jsonl` has `repository`, `path`, `start_line`, `end_line` and
the `commits` that changed the declaration, through renames and moves.
"""

from __future__ import annotations

import json
import random
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rag_ls.chunking import outline_of_document
from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.embedding import Embedding, HostedModel, local_model
from rag_ls.history.lines import LineHistory
from rag_ls.history.patches import Lines
from rag_ls.history.project_history import ProjectHistory
from rag_ls.history.search import find_commits
from rag_ls.languages import detect_language
from rag_ls.storage import CommitIndex
from tests.support import open_checkout, until

_DECLARATIONS, _MIN_LINES, _SHOWN = 20, 3, 3
_READ_S = 600.0


def main(arguments: list[str]) -> None:
    """Print a line for each folder, or for each set of labels."""
    if arguments[:1] == ["--labels"]:
        _judge_questions(Path(arguments[1]), _read_lines(arguments[2]))
        _judge_declarations(Path(arguments[1]), _read_lines(arguments[3]))
        return
    for folder in (Path(each).resolve() for each in arguments):
        with tempfile.TemporaryDirectory() as temporary:
            commits, read_s = _read(folder, Path(temporary, "index.db"))
            print(
                f"{folder.name}: {commits.count():,} commits read in {read_s:.1f} s; {_compare(folder, commits)}",
                flush=True,
            )


def _read(folder: Path, file: Path, model: HostedModel | None = None) -> tuple[CommitIndex, float]:
    started, commits = time.perf_counter(), open_checkout(file).commits
    history = ProjectHistory(folder, commits, lambda: False, find_model=lambda: model)
    history.begin_reading()
    assert history.wait(_READ_S)
    assert not history.problem, history.problem
    took_s = time.perf_counter() - started
    if model is not None:
        assert until(lambda: not commits.list_without_vectors(model.model_id), _READ_S)
    return commits, took_s


def _compare(folder: Path, commits: CommitIndex) -> str:
    """Precision and recall against git for declarations whose file was never renamed, from a seeded draw of files."""
    head, counted, took = commits.id_of(commits.head), Counter[str](), list[float]()
    for path, lines in _draw(folder):
        wanted, is_renamed = _ask_git(folder, path, lines)
        started = time.perf_counter()
        history = LineHistory(folder, commits)
        changes = history.follow(head, path, lines, moves=False)
        took.append(time.perf_counter() - started)
        if is_renamed:
            continue
        known = commits.by_id([each.commit_id for each in changes])
        found = {each.hash for each in known.values()}
        counted.update(shared=len(found & wanted), found=len(found), wanted=len(wanted), whole=found == wanted, drawn=1)
    took.sort()
    return (
        f"{counted['drawn']} declarations: precision {counted['shared'] / (counted['found'] or 1):.3f}, "
        f"recall {counted['shared'] / (counted['wanted'] or 1):.3f}, {counted['whole']} as git has them; "
        f"p50 {1000 * took[len(took) // 2]:.0f}, p95 {1000 * took[int(0.95 * len(took))]:.0f} ms"
    )


def _draw(folder: Path) -> list[tuple[str, Lines]]:
    draw, drawn = random.Random(7), list[tuple[str, Lines]]()
    paths = [each.decode() for each in _git(folder, "ls-tree", "-r", "-z", "--name-only", "HEAD").split(b"\0") if each]
    draw.shuffle(paths)
    for path in paths:
        text = _git(folder, "cat-file", "blob", f"HEAD:{path}").decode("utf-8", "replace")
        symbols = outline_of_document(text, path, detect_language(path) or "text").symbols
        long = [each for each in symbols if each.end_line - each.start_line + 1 >= _MIN_LINES]
        if long and (detect_language(path) or "") not in ("markdown", "json", "yaml", "toml", "html", "css"):
            chosen = draw.choice(long)
            drawn.append((path, (chosen.start_line, chosen.end_line)))
        if len(drawn) == _DECLARATIONS:
            break
    return drawn


def _ask_git(folder: Path, path: str, lines: Lines) -> tuple[set[str], bool]:
    told = _git(folder, "log", "--format=%x01%H", f"-L{lines[0]},{lines[1]}:{path}", "HEAD")
    former = {line[6:].decode("utf-8", "replace") for line in told.split(b"\n") if line.startswith(b"--- a/")}
    return {part.split(b"\n")[0].decode() for part in told.split(b"\x01")[1:]}, bool(former - {path})


def _judge_questions(folder: Path, questions: Sequence[dict[str, Any]]) -> None:
    model = local_model("auto", EmbeddingSettings(backend="onnx"))
    hits, by_words, total = Counter[str](), Counter[str](), Counter[str]()
    for repository, asked in _by_repository(questions).items():
        with tempfile.TemporaryDirectory() as temporary:
            commits, _ = _read(folder / repository.split("/")[1], Path(temporary, "index.db"), model)
            for each in asked:
                embedding = Embedding(model.card, model.embed_query(each["question"]))
                total[repository] += 1
                for counted, meaning in ((hits, embedding), (by_words, None)):
                    found = [hit.commit.hash for hit in find_commits(commits, each["question"], _SHOWN, meaning)]
                    counted[repository] += not set(each["commits"]).isdisjoint(found)
        print(f"{repository}: a right commit among {_SHOWN} for {hits[repository]} of {total[repository]}", flush=True)
    print(f"questions: {hits.total()} of {total.total()}; by words alone {by_words.total()}")
    model.close()


def _judge_declarations(folder: Path, labels: Sequence[dict[str, Any]]) -> None:
    counted = Counter[str]()
    for repository, declared in _by_repository(labels).items():
        root = folder / repository.split("/")[1]
        with tempfile.TemporaryDirectory() as temporary:
            commits, _ = _read(root, Path(temporary, "index.db"))
            for each in declared:
                lines = (each["start_line"], each["end_line"])
                changes = LineHistory(root, commits).follow(commits.id_of(commits.head), each["path"], lines)
                found = {commit.hash for commit in commits.by_id([change.commit_id for change in changes]).values()}
                wanted = set(each["commits"])
                counted.update(shared=len(found & wanted), found=len(found), wanted=len(wanted), drawn=1)
    print(
        f"{counted['drawn']} declarations that were renamed or moved: precision "
        f"{counted['shared'] / (counted['found'] or 1):.3f}, recall {counted['shared'] / (counted['wanted'] or 1):.3f}"
    )


def _by_repository(labels: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for each in labels:
        groups[each["repository"]].append(each)
    return groups


def _read_lines(file: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(file).read_text("utf-8").splitlines() if line.strip()]


def _git(folder: Path, *command: str) -> bytes:
    return subprocess.run(["git", "-C", str(folder), *command], check=False, capture_output=True).stdout
