"""References beside whole-word grep, for languages without a compiler at hand: the differences are read by a person.

`python -m tests.benchmarks.references.words LANGUAGE FOLDER...` draws symbols of each checkout as `measure` does and prints
to standard output, tab-separated: `lacks` for a line that holds the name and that no reference names, `resolved` for one that a reference
leads to its symbol, `named` for one of the same name alone. The summary counts them.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from rag_ls.engine.code.references import AskedSymbol, find_references
from rag_ls.engine.code.references.code_files import split_owner
from rag_ls.engine.session import ProjectSession
from rag_ls.languages import detect_language
from rag_ls.storage import StoredSymbol, last_name
from tests.benchmarks.indexed import indexed_by_words
from tests.benchmarks.references.measure import Place, draw

_MAX_LINES = 8
"""A name that stands on hundreds of lines would be all that there is to read."""
_COMMENT = re.compile(r"\s*(?:\*|//|/\*|#(?![\[{])|--|<!--|\{\{--|@\*)")


def main() -> int:
    """Print the lines of each project that differ, and a summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("language")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--symbols", type=int, default=100, help="how many are drawn of each project")
    parser.add_argument("--also", default="", help="suffixes of templates, with commas, that may hold uses")
    arguments = parser.parse_args()
    for folder in arguments.folders:
        root = folder.resolve()
        with indexed_by_words(root) as view:
            counts = Counter(_rows(view, root, arguments))
        print(root.name, dict(counts), file=sys.stderr, flush=True)
    return 0


def _rows(view: ProjectSession, root: Path, arguments: argparse.Namespace) -> Iterator[str]:
    texts = dict(_texts(view, root, arguments))
    # Migrations and the like declare one name in each of their files.
    drawn: dict[str, StoredSymbol] = {}
    for item in draw(view, arguments.language, 1_000_000):
        drawn.setdefault(split_owner(item.symbol)[1], item)
    for name, item in islice(drawn.items(), arguments.symbols):
        answer = find_references(view, AskedSymbol(item.symbol, item.path, item.start_line)).references
        resolved = {(each.path, each.line) for each in answer if each.resolved}
        named = {(each.path, each.line) for each in answer} - resolved
        declared = {(each.path, each.start_line) for each in view.store.outlines.named([last_name(name)], 10_000)}
        lacking = _lines_with(name, texts) - resolved - named - declared
        for mark, places in (
            ("lacks", lacking),
            ("resolved", resolved),
            ("named", named),
        ):
            for path, line in sorted(random.Random(1).sample(sorted(places), min(len(places), _MAX_LINES))):
                text = texts[path][line - 1].strip()[:160] if path in texts else ""
                print(mark, f"{item.path}:{item.start_line}", item.symbol, f"{path}:{line}", text, sep="\t")
                yield mark


def _texts(view: ProjectSession, root: Path, arguments: argparse.Namespace) -> Iterator[tuple[str, list[str]]]:
    also = tuple(f".{each}" for each in filter(None, arguments.also.split(",")))
    for path in view.store.documents():
        if detect_language(path) == arguments.language or path.endswith(also):
            yield path, (root / path).read_text(encoding="utf-8", errors="replace").splitlines()


def _lines_with(name: str, texts: dict[str, list[str]]) -> set[Place]:
    word = re.compile(rf"(?<![\w$]){re.escape(name)}(?!\w)")
    return {
        (path, number)
        for path, lines in texts.items()
        for number, line in enumerate(lines, 1)
        if name in line and word.search(line) and not _COMMENT.match(line)
    }


if __name__ == "__main__":
    sys.exit(main())
