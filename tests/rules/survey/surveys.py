"""Surveys of a few files that a test writes out."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping

from rag_ls.indexing.files import Source
from rag_ls.rules.checks.contracts import Edge, ImportGraph
from rag_ls.rules.survey.project_files import SurveyedTree, read_tree
from rag_ls.rules.survey.survey import Survey, survey_tree
from rag_ls.storage import FileState
from rag_ls.util.records import replace


def tree_of(
    files: Mapping[str, str],
    imports: Iterable[tuple[str, Edge]] | None = None,
    read: Callable[[str], str] | None = None,
) -> SurveyedTree:
    """The tree of some files, with the imports that they have, or those that are given."""
    texts = {path: textwrap.dedent(text) for path, text in files.items()}
    read_text = read or (lambda path: texts.get(path, ""))
    tree = read_tree(texts, read_text, lambda path: Source(read_text(path), "", FileState(0, 0, 0, 0)))
    if imports is None:
        return tree
    edges: dict[str, tuple[Edge, ...]] = {}
    for path, edge in imports:
        edges[path] = (*edges.get(path, ()), edge)
    return replace(tree, graph=ImportGraph(edges))


def survey_of(files: Mapping[str, str]) -> Survey:
    """The survey of some files."""
    return survey_tree(tree_of(files))


def routes(files: Mapping[str, str]) -> list[str]:
    """Each route with its method."""
    return [f"{each.method} {each.route}" for _, each in survey_of(files).endpoints]
