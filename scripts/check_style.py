"""Checks what a linter has no rule for: names that stand once, arguments that are named, docstrings that begin with their noun.

    python scripts/check_style.py

It prints `path:line: what is wrong` for each finding, and fails if there is one.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "rag_ls"
MAX_POSITIONAL = 5
# Names of classes that still stand twice; no new one may come.
KNOWN: frozenset[str] = frozenset()
# A docstring of something begins with what it is: a noun, or the verb of a function.
VAGUE_WORDS = frozenset({"What", "Who", "Whoever", "Whatever", "How", "Why", "Where", "Which", "When"})


def main() -> int:
    modules = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
    findings = [*_repeated_classes(modules)]
    for path, module in modules.items():
        findings += [(path, *finding) for finding in _vague_docstrings(module)]
        findings += [(path, *finding) for finding in _unnamed_arguments(module)]
    for path, line, problem in sorted(findings):
        print(f"{path.relative_to(ROOT).as_posix()}:{line}: {problem}")
    return 1 if findings else 0


def _repeated_classes(modules: dict[Path, ast.Module]) -> Iterator[tuple[Path, int, str]]:
    """Public classes whose name stands in another module too."""
    places: dict[str, list[tuple[Path, int]]] = defaultdict(list)
    for path, module in modules.items():
        for node in module.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append((path, node.lineno))
    for name, found in places.items():
        if name in KNOWN:
            continue
        for path, line in found[1:]:
            first = found[0][0].relative_to(ROOT).as_posix()
            yield path, line, f"{first} has a class {name} too: give one of them a name of its own"


def _vague_docstrings(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Docstrings of modules, classes, functions and fields that begin with a word that names nothing."""
    for node in ast.walk(module):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for statement in node.body:
            if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
                continue
            text = statement.value.value
            if isinstance(text, str) and text.split(maxsplit=1)[:1] and text.split(maxsplit=1)[0] in VAGUE_WORDS:
                yield (
                    statement.lineno,
                    f"the docstring begins with {text.split(maxsplit=1)[0]!r}: begin with its noun or verb",
                )


def _unnamed_arguments(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Calls with more positional arguments than a reader can tell apart."""
    for node in ast.walk(module):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id[:1].isupper()):
            continue
        if len(node.args) > MAX_POSITIONAL:
            yield node.lineno, f"{node.func.id} is made with {len(node.args)} positional arguments: name them"


if __name__ == "__main__":
    sys.exit(main())
