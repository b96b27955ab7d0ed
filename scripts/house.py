"""Print how large the house is: lines of code without blanks, comments and docstrings, modules, the longest of them, functions of
one word, imports that reach past a room's `__init__`, and what it costs to import the engine.

    python scripts/house.py             every room
    python scripts/house.py --budgets   fail where a budget of `_BUDGETS` is passed: they only ever fall
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_BUDGETS = {
    "lines of code": 54_600, "modules": 400, "lines of the longest module": 400, "imports past a room's __init__": 0,
}  # fmt: skip
# Each of its modules is a door.
_UTIL = "util"
_NO_CODE = frozenset({
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING
})  # fmt: skip
_IMPORT = "import time; s = time.process_time(); import rag_ls.engine.client, rag_ls.operations; print(time.process_time() - s)"


def count_lines(text: str) -> int:
    """The lines of a module that hold code: no blank ones, comments or docstrings."""
    told = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    held = {
        line for each in tokens if each.type not in _NO_CODE for line in range(each.start[0], each.end[0] + 1)
    }  # fmt: skip
    return len(held - told)


def measure_house() -> tuple[dict[str, int], Counter[str]]:
    """The figures that have budgets, and the lines of code of each room."""
    rooms: Counter[str] = Counter()
    longest = one_word = past = 0
    files = sorted((_ROOT / "rag_ls").rglob("*.py"))
    for file in files:
        text = file.read_text("utf-8")
        parts = file.relative_to(_ROOT / "rag_ls").parts
        rooms[parts[0] if len(parts) > 1 else "."] += count_lines(text)
        longest = max(longest, text.count("\n"))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                one_word += "_" not in node.name.strip("_")
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rag_ls."):
                room = (node.module or "").split(".")[1:]
                past += len(room) > 1 and room[0] not in (parts[0], _UTIL)
    figures = {
        "lines of code": rooms.total(),
        "modules": len(files),
        "lines of the longest module": longest,
        "functions of one word": one_word,
        "imports past a room's __init__": past,
    }
    return figures, rooms


def main() -> int:
    figures, rooms = measure_house()
    if "--budgets" in sys.argv:
        passed = {name: figure for name, figure in figures.items() if figure > _BUDGETS.get(name, figure)}
        for name, figure in passed.items():
            print(f"{name}: {figure:,}, and the budget is {_BUDGETS[name]:,}: take something away")
        return int(bool(passed))
    for name, figure in (*figures.items(), *rooms.most_common()):
        print(f"{figure:>7,}  {name}")
    seconds = sorted(
        float(subprocess.run([sys.executable, "-c", _IMPORT], check=True, capture_output=True, text=True).stdout)
        for _ in range(5)
    )
    print(f"{seconds[2]:>7.2f}  seconds of processor to import engine and operations (median of 5)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
