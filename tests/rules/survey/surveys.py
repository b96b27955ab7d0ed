"""Surveys of a few files that a test writes out."""

from __future__ import annotations

import textwrap

from rag_ls.languages import detect_language
from rag_ls.rules.survey.survey import Survey, SurveyedTree, survey


def survey_of(files: dict[str, str]) -> Survey:
    """The survey of some files that import none of one another."""
    texts = {path: textwrap.dedent(text) for path, text in files.items()}
    return survey(SurveyedTree(tuple(texts), texts.__getitem__, lambda path: detect_language(path) or "", ()))


def routes(files: dict[str, str]) -> list[str]:
    """Each route with its method."""
    return [f"{each.method} {each.route}" for _, each in survey_of(files).endpoints]
