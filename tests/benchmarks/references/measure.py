"""Precision and recall of references against a language server or compiler, for checkouts of any projects.

`python -m tests.benchmarks.references.measure FOLDER...`, or `make eval ARGS="references FOLDER..."`. Python is judged by
pyright (PyPI `basedpyright` or `pyright`), TypeScript and JavaScript by tsc (npm `typescript`, in the folder that `--typescript`
names), Go by go/types, Java by javac from its sources alone. A reference is a line of a file. Symbols are drawn by chance,
the same each time,
among the functions and types that are declared outside of tests.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rag_ls.engine.code.references import AskedSymbol, ReferenceKind, find_references
from rag_ls.engine.code.references.code_files import split_owner
from rag_ls.engine.session import ProjectSession
from rag_ls.search.roles import is_test_by_path
from rag_ls.storage import StoredSymbol, last_name
from tests.benchmarks.dependents.pyright_edges import PyrightServer
from tests.benchmarks.indexed import indexed_by_words

HERE = Path(__file__).parent
# Without it, Go's library is looked for with a C compiler.
_ENVIRONMENT = {**os.environ, "CGO_ENABLED": "0"}
_NOT_USES = (ReferenceKind.DEFINITION, ReferenceKind.OVERRIDE, ReferenceKind.DOCS)
_LANGUAGES = ("python", "typescript", "go", "java", "javascript", "tsx")
"""The last one is drawn from where it is asked for alone."""

Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Judged:
    """The references to some symbols as a compiler sees them."""

    places: list[set[Place]]
    looked_at: frozenset[str] | None = None
    """The documents in which it would have seen one; None for all."""


Judge = Callable[[Sequence[StoredSymbol], Sequence[int]], Judged]


@dataclass(slots=True)
class Counts:
    """The places that agree and that do not."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    missed_with_names: int = 0
    by_name: int = 0
    milliseconds: list[float] = field(default_factory=list)

    def summary(self) -> dict[str, float]:
        """Precision and recall of resolved references, and recall with those by name."""
        theirs = max(1, self.right + self.missed)
        return {
            "symbols": len(self.milliseconds),
            "theirs": theirs,
            "precision": round(self.right / max(1, self.right + self.wrong), 3),
            "recall": round(self.right / theirs, 3),
            "recall_with_names": round(1 - self.missed_with_names / theirs, 3),
            "by_name": self.by_name,
            "p50_ms": round(statistics.median(self.milliseconds or [0.0]), 1),
        }


def main() -> int:
    """Print one JSON object with the numbers of each project."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--symbols", type=int, default=100, help="how many are drawn of each project")
    parser.add_argument(
        "--language", choices=_LANGUAGES, help="whose symbols are drawn; that of the most files by default"
    )
    parser.add_argument("--properties", action="store_true", help="draw properties of types, not functions and types")
    parser.add_argument("--pyright", default="basedpyright-langserver", help="command of pyright's language server")
    parser.add_argument("--node", default="node", help="command of Node")
    parser.add_argument("--go", default="go", help="command of Go")
    parser.add_argument("--java", default="java", help="command of Java, with its compiler")
    parser.add_argument("--typescript", type=Path, help="folder whose node_modules hold typescript")
    parser.add_argument("--show", action="store_true", help="print the places that differ")
    arguments = parser.parse_args()
    found = {}
    for folder in arguments.folders:
        root = folder.resolve()
        found[root.name] = _measured(root, arguments)
        print(root.name, found[root.name], file=sys.stderr, flush=True)
    print(json.dumps(found, indent=2))
    return 0


def _measured(root: Path, arguments: argparse.Namespace) -> dict[str, float]:
    with indexed_by_words(root) as view:
        languages = view.store.language_counts()
        language = arguments.language or max(_LANGUAGES[:-1], key=lambda name: languages.get(name, (0, 0))[0])
        drawn = draw(view, language, arguments.symbols, properties=arguments.properties)
        judge = _judge(root, language, arguments)
        columns = [_column(root, item) for item in drawn]
        return _compared(view, drawn, judge(drawn, columns), show=arguments.show)


def draw(view: ProjectSession, language: str, count: int, *, properties: bool = False) -> list[StoredSymbol]:
    """Functions and types of a language, or properties of types, by chance, the same each time, that are declared outside of tests."""
    numbers = [
        number
        for number, path, named, _ in view.store.document_paths()
        if named == language and not is_test_by_path(path)
    ]
    declared = view.store.outlines.of_documents(numbers, 1_000_000)
    types = {(item.path, item.symbol) for item in declared if item.kind == "type"}
    chosen = [
        item
        for item in declared
        if "__" not in item.symbol
        and (
            (item.kind == "value" and (item.path, split_owner(item.symbol)[0]) in types)
            if properties
            else item.kind in ("function", "type")
        )
    ]
    random.Random(1).shuffle(chosen)
    return chosen[:count]


def _column(root: Path, item: StoredSymbol) -> int:
    line = (root / item.path).read_text(encoding="utf-8").splitlines()[item.start_line - 1]
    name = item.symbol.rpartition(".")[2]
    # A receiver stands before the name of a method.
    match = re.search(rf"(?<![\w(]){re.escape(name)}(?!\w)", line)
    return match.start() if match else max(0, line.find(name))


def _judge(root: Path, language: str, arguments: argparse.Namespace) -> Judge:
    if language == "python":
        return _pyright(root, arguments.pyright)
    if language == "go":
        return _go_types(root, arguments.go)
    if language == "java":
        return _javac(root, arguments.java)
    if arguments.typescript is None:
        raise SystemExit(f"{root} is TypeScript: give --typescript, a folder where it is installed")
    return _tsc(root, arguments.node, arguments.typescript)


def _pyright(root: Path, command: str) -> Judge:
    def ask(symbols: Sequence[StoredSymbol], columns: Sequence[int]) -> Judged:
        server = PyrightServer([command], root)
        try:
            asked = [(item.path, item.start_line - 1, column) for item, column in zip(symbols, columns, strict=True)]
            server.discover()
            return Judged([server.references(*each) for each in asked])
        finally:
            server.close()

    return ask


def _tsc(root: Path, node: str, typescript: Path) -> Judge:
    def ask(symbols: Sequence[StoredSymbol], columns: Sequence[int]) -> Judged:
        # Node looks for typescript from the folder of the script.
        script = typescript / "references.js"
        script.write_text((HERE / "references.js").read_text(encoding="utf-8"), encoding="utf-8")
        answer = _answer_of([node, str(script), str(root)], symbols, columns)
        return Judged(_places_in(answer["answers"]), frozenset(answer["looked"]))

    return ask


def _go_types(root: Path, command: str) -> Judge:
    def ask(symbols: Sequence[StoredSymbol], columns: Sequence[int]) -> Judged:
        answer = _answer_of([command, "run", str(HERE / "references.go"), str(root)], symbols, columns)
        return Judged(_places_in(answer["answers"]), frozenset(answer["looked"]))

    return ask


def _javac(root: Path, command: str) -> Judge:
    def ask(symbols: Sequence[StoredSymbol], _columns: Sequence[int]) -> Judged:
        asked = "".join(f"{item.path} {item.start_line} {split_owner(item.symbol)[1]}\n" for item in symbols)
        done = subprocess.run(
            [command, str(HERE / "References.java"), str(root)], input=asked, check=True, capture_output=True, text=True
        )
        rows = [[] if row == "-" else row.split("\t") for row in done.stdout.splitlines()]
        places = ([each.rpartition(":") for each in row if each] for row in rows)
        return Judged([{(path, int(line)) for path, _, line in each} for each in places])

    return ask


def _answer_of(command: Sequence[str], symbols: Sequence[StoredSymbol], columns: Sequence[int]) -> Any:
    places = [[item.path, item.start_line - 1, column] for item, column in zip(symbols, columns, strict=True)]
    done = subprocess.run(
        command, input=json.dumps(places), check=True, capture_output=True, text=True, cwd=HERE, env=_ENVIRONMENT
    )
    return json.loads(done.stdout)


def _places_in(answers: Sequence[Sequence[tuple[str, int]]]) -> list[set[Place]]:
    return [{(path, line) for path, line in each} for each in answers]


def _compared(view: ProjectSession, drawn: Sequence[StoredSymbol], judged: Judged, *, show: bool) -> dict[str, float]:
    counts, looked_at = Counts(), set(view.store.documents())
    if judged.looked_at is not None:
        looked_at &= judged.looked_at
    for item, all_theirs in zip(drawn, judged.places, strict=True):
        started = time.perf_counter()
        asked = AskedSymbol(item.symbol, item.path, item.start_line)
        answer = find_references(view, asked).references
        counts.milliseconds.append((time.perf_counter() - started) * 1000)
        uses = [each for each in answer if each.kind not in _NOT_USES and each.path in looked_at]
        resolved = {(each.path, each.line) for each in uses if each.resolved}
        named = {(each.path, each.line) for each in uses} - resolved
        theirs = {place for place in all_theirs if place[0] in looked_at and place != (item.path, item.start_line)}
        namesakes = _namesakes(view, item)
        theirs = {place for place in theirs if not _is_comment(view, place)} - namesakes
        resolved, named = resolved - namesakes, named - namesakes
        counts.right += len(resolved & theirs)
        counts.wrong += len(resolved - theirs)
        counts.missed += len(theirs - resolved)
        counts.missed_with_names += len(theirs - resolved - named)
        counts.by_name += len(named)
        if show:
            for mark, places in (
                ("wrong", resolved - theirs),
                ("named", named & theirs),
                ("missed", theirs - resolved - named),
            ):
                for path, line in sorted(places):
                    print(mark, item.path, item.symbol, f"{path}:{line}", sep="\t", file=sys.stderr)
    return counts.summary()


def _namesakes(view: ProjectSession, item: StoredSymbol) -> set[Place]:
    """The declarations with the same name: tsc counts those of overridden and overriding members among the uses."""
    return {
        (each.path, each.start_line)
        for each in view.store.outlines.named([last_name(item.symbol)], 10_000)
        if split_owner(each.symbol)[1] == split_owner(item.symbol)[1]
    }


def _is_comment(view: ProjectSession, place: Place) -> bool:
    """Whether a line is a comment: tsc reads types in those."""
    lines = (view.project.root / place[0]).read_text(encoding="utf-8").splitlines()
    return lines[place[1] - 1].lstrip().startswith(("*", "//"))


if __name__ == "__main__":
    sys.exit(main())
