"""Surveys of a few files that a test writes out."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping

from rag_ls.chunking import outline_of_document
from rag_ls.languages import ImportResolver, SourceTree, detect_language
from rag_ls.rules.checks.contracts import Edge, resolve_imports
from rag_ls.rules.survey.survey import Survey, SurveyedTree, survey


def tree_of(files: Mapping[str, str], imports: Iterable[tuple[str, Edge]] | None = None) -> SurveyedTree:
    """The tree of some files, with the imports that they have, or those that are given."""
    texts = {path: textwrap.dedent(text) for path, text in files.items()}
    read = imports if imports is not None else [(path, edge) for path in texts for edge in _imports_of(path, texts)]
    return SurveyedTree(
        tuple(texts), lambda path: texts.get(path, ""), lambda path: detect_language(path) or "", tuple(read)
    )


def _imports_of(path: str, texts: Mapping[str, str]) -> tuple[Edge, ...]:
    language = detect_language(path) or ""
    outline = outline_of_document(texts[path], path, language, declarations=False)
    return resolve_imports(ImportResolver(SourceTree(texts, texts.__getitem__)), path, language, outline.imports)


def survey_of(files: Mapping[str, str]) -> Survey:
    """The survey of some files."""
    return survey(tree_of(files))


def routes(files: Mapping[str, str]) -> list[str]:
    """Each route with its method."""
    return [f"{each.method} {each.route}" for _, each in survey_of(files).endpoints]
