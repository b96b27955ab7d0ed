"""Surveys a repository, and writes the documents of set-up from what the code shows.

`find_stacks` reads the manifests; `survey` reads every file of the product once and hands its `SurveyedFile` to the
detectors (`endpoints`, `events`, `middleware`, `decorators`, `responses`, `imports`, `errors`, `layout`); `layers` and
`naming` need paths and edges alone. `documents` and `patterns` write what they found. No I/O but `SurveyedTree.read`.
"""

from rag_ls.rules.survey.documents import architecture_yaml
from rag_ls.rules.survey.endpoints import Endpoint, endpoints_in
from rag_ls.rules.survey.events import SocketEvent, events_in
from rag_ls.rules.survey.findings import SourceLine, SurveyFinding
from rag_ls.rules.survey.patterns import pattern_documents
from rag_ls.rules.survey.stacks import Stack, find_stacks
from rag_ls.rules.survey.survey import CodeExcerpt, Survey, SurveyedTree, survey

__all__ = [
    "CodeExcerpt",
    "Endpoint",
    "SocketEvent",
    "SourceLine",
    "Stack",
    "Survey",
    "SurveyFinding",
    "SurveyedTree",
    "architecture_yaml",
    "endpoints_in",
    "events_in",
    "find_stacks",
    "pattern_documents",
    "survey",
]
