"""Checks what a linter has no rule for: names that stand once, functions named by a verb, arguments that are named, docstrings
that begin with their noun, sentences whose subject is a noun, numbers whose name says the quantity.

    python scripts/check_style.py

It prints `path:line: what is wrong` for each finding, and fails if there is one.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "rag_ls"
MAX_POSITIONAL = 5
# A function is named by a verb and its noun, never by a participle alone: `find_symbols`, not `found`.
PARTICIPLE = re.compile(
    "[a-z]{3,}[^e]ed|asked|begun|bound|chosen|done|drawn|found|given|gone|held|hidden|kept|known|left|made|meant|said|seen|"
    "sent|shown|taken|told|understood|written"
)
# Functions that still have such a name; no new one may come.
KNOWN_PARTICIPLES = frozenset(
    "called chained compiled configured declared deleted described done failed framed imported initialized loaded locked merged named "
    "offered parsed pushed related settled skipped tagged typed unanswered unnoticed wanted admitted bound known "
    "taken".split()
)
# A docstring of something begins with what it is: a noun, or the verb of a function.
VAGUE_WORDS = frozenset({"What", "Who", "Whoever", "Whatever", "How", "Why", "Where", "Which", "When"})
# The subject of a sentence is a noun: "A part that cannot be embedded", not "What cannot be embedded".
VAGUE_SUBJECT = re.compile(r"(?:^|[.:;] )(What|Who|Whoever|Whatever)\b|\b(whoever|whomever)\b")
# A constant that is a number says its quantity: a limit, a unit, a ratio, or the things that it counts.
QUANTITY = re.compile(
    "MAX|MIN|DEFAULT|LIMIT|LEVEL|SIZE|VERSION|PORT|CODE|TYPE|KIND|STATUS|MODE|ID|PRIORITY|BYTE|S|MS|NS|PER|BITS|"
    "FACTOR|RATIO|SHARE|WEIGHT|SCORE|DIFFERENCE|LOSS|TOLERANCE|COSINE|SIMILARITY|RELEVANCE|[A-Z]{2,}S"
)
NAMED_NUMBERS = frozenset(
    "DONE FAILED WRONG_USAGE PARSE_ERROR INVALID_REQUEST REQUEST_FAILED WAITING EMBEDDED REFUSED".split()
)
"""Exit codes, JSON-RPC's codes, and values of a column: each name is that of its number."""


def main() -> int:
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    modules = {path: ast.parse(text) for path, text in texts.items()}
    findings = [*_repeated_classes(modules)]
    for path, text in texts.items():
        findings += [(path, *finding) for finding in _vague_sentences(text)]
    for path, module in modules.items():
        findings += [(path, *finding) for finding in _vague_docstrings(module)]
        findings += [(path, *finding) for finding in _unnamed_arguments(module)]
        findings += [(path, *finding) for finding in _participles(module)]
        findings += [(path, *finding) for finding in _unnamed_quantities(module)]
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


def _vague_sentences(text: str) -> Iterator[tuple[int, str]]:
    """Sentences of comments and docstrings whose subject is no noun."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_docstring = token.type == tokenize.STRING and token.string.startswith('"""')
        if token.type == tokenize.COMMENT or is_docstring:
            prose = " ".join(token.string.strip('#" \n').split())
            if found := VAGUE_SUBJECT.search(prose):
                word = found[1] or found[2]
                yield token.start[0], f"the subject of a sentence is {word!r}: name the thing or the person"


def _unnamed_arguments(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Calls with more positional arguments than a reader can tell apart."""
    for node in ast.walk(module):
        if not isinstance(node, ast.Call) or len(node.args) <= MAX_POSITIONAL:
            continue
        name = ast.unparse(node.func).rpartition(".")[2]
        if name == "cls" or name.lstrip("_")[:1].isupper():
            yield node.lineno, f"{name} is made with {len(node.args)} positional arguments: name them"


def _participles(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Functions and methods, but no properties, whose name is a participle alone."""
    for owner in (module, *(node for node in ast.walk(module) if isinstance(node, ast.ClassDef))):
        for node in owner.body:
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            name = node.name.strip("_")
            is_property = any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
            if not is_property and name not in KNOWN_PARTICIPLES and PARTICIPLE.fullmatch(name):
                yield node.lineno, f"{node.name} is a participle: name the function by its verb and noun"


def _unnamed_quantities(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Constants of a module that are numbers, whose name does not say of what: `_WAIT = 0.2`, not `_WAIT_S`."""
    for node in module.body:
        if not isinstance(node, ast.Assign):
            continue
        (target, *_), value = node.targets, node.value
        is_row = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
        pairs = zip(target.elts, value.elts, strict=False) if is_row else [(target, value)]
        for name in (ast.unparse(each) for each, number in pairs if _is_number(number)):
            if name not in NAMED_NUMBERS and not any(map(QUANTITY.fullmatch, name.split("_"))):
                yield node.lineno, f"{name} is a number: its name says the unit, the limit or the things counted"


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) and _is_number(node.right)
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


if __name__ == "__main__":
    sys.exit(main())
