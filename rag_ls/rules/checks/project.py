"""Checks the files of a project without an engine: reads them, their imports, and the rules."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rag_ls.chunking import outline_of_document, recognise
from rag_ls.errors import InvalidRequest
from rag_ls.indexing import Patterns, list_files
from rag_ls.model import Outline
from rag_ls.rules.checks.checker import applies, needs_chains, needs_imports, needs_symbols, violations
from rag_ls.rules.checks.graph import Edge, ImportGraph, resolved
from rag_ls.rules.checks.records import CheckedDocument, RuleSet, Violation
from rag_ls.rules.checks.rule_files import RuleFiles
from rag_ls.rules.resolution import ImportResolver, SourceTree
from rag_ls.util.paths import is_among, text_in

_MAX_BYTES = 2_000_000
# Starting processes takes as long as reading so many files.
_FEW_FILES = 150
_BATCH = 50


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of a check."""

    rules: RuleSet
    violations: tuple[Violation, ...]
    files: int
    """How many files were checked."""


def check_project(root: Path, wanted: Sequence[str] = (), *, patterns: Patterns, processes: int) -> CheckReport:
    """Check the files of a project, or those at or below some project paths."""
    paths = sorted(list_files(root, patterns))
    tree = SourceTree(paths, partial(_read, root))
    rules = RuleFiles().read(tree)
    chosen = [path for path in paths if is_among(path, wanted) and any(applies(rule, path) for rule in rules.rules)]
    if not rules.rules:
        return CheckReport(rules, (), 0)
    outlined = paths if needs_chains(rules) else chosen
    outlines = _outlines(root, outlined, processes) if needs_imports(rules) or needs_symbols(rules) else {}
    resolver = ImportResolver(tree)
    graph = ImportGraph(
        {path: resolved(resolver, path, language, outline.imports) for path, (language, outline) in outlines.items()}
        if needs_imports(rules)
        else dict[str, tuple[Edge, ...]]()
    )
    found: list[Violation] = []
    for path in chosen:
        text = _read(root, path)
        known = outlines.get(path)
        language = known[0] if known else recognise(path, text[:4096]) or "text"
        outline = known[1] if known else Outline()
        document = CheckedDocument(path, language, text, outline.imports, outline.symbols)
        found += violations(document, rules, graph)
    return CheckReport(rules, tuple(found), len(chosen))


def changed_files(root: Path, revision: str) -> list[str]:
    """The project paths that differ from a git revision, those that git does not know yet among them.

    Raises `InvalidRequest` without git, or for an unknown revision.
    """
    if revision.startswith("-"):
        raise InvalidRequest(f"--changed {revision!r} is no revision")
    found: list[str] = []
    for command in (
        ["diff", "--name-only", "-z", "--relative", revision, "--"],
        ["ls-files", "-o", "--exclude-standard", "-z"],
    ):
        done = subprocess.run(["git", *command], cwd=root, capture_output=True, check=False)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise InvalidRequest(f"--changed {revision}: {said[0] if said else 'git failed'}")
        found += [name.decode("utf-8", "surrogateescape") for name in done.stdout.split(b"\0") if name]
    return list(dict.fromkeys(found))


def _outlines(root: Path, paths: Sequence[str], processes: int) -> dict[str, tuple[str, Outline]]:
    """The language and outline of each file, read in several processes if they are many."""
    batches = [paths[at : at + _BATCH] for at in range(0, len(paths), _BATCH)]
    read = partial(_outline_batch, root)
    if len(paths) <= _FEW_FILES or processes < 2:
        found: Iterable[list[tuple[str, str, Outline]]] = map(read, batches)
        return {path: (language, outline) for batch in found for path, language, outline in batch}
    with ProcessPoolExecutor(processes) as pool:
        return {path: (language, outline) for batch in pool.map(read, batches) for path, language, outline in batch}


def _outline_batch(root: Path, paths: Sequence[str]) -> list[tuple[str, str, Outline]]:
    found = []
    for path in paths:
        text = _read(root, path)
        language = recognise(path, text) or "text"
        found.append((path, language, outline_of_document(text, path, language)))
    return found


def _read(root: Path, path: str) -> str:
    file = root / path
    try:
        is_wanted = not file.is_symlink() and file.stat().st_size <= _MAX_BYTES
    except OSError:
        return ""
    return text_in(root, path) if is_wanted else ""
