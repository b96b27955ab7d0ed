"""Surveys a repository, and writes the documents of set-up from what the code shows.

`find_stacks` reads the manifests; `survey` reads every file of the product once. `facts` interprets the files of `frameworks/`,
one YAML for each framework, which `middleware` and `responses` count; `decorators`, `imports`, `errors` and `layout` read what
is of the language alone, `layers` and `naming`
paths and edges alone. `documents` and `patterns` write what they found. No I/O but `SurveyedTree.read`.
"""

from rag_ls.rules.survey.documents import architecture_yaml
from rag_ls.rules.survey.endpoints import endpoints_in, events_in
from rag_ls.rules.survey.file_facts import SocketEvent
from rag_ls.rules.survey.findings import SourceLine, SurveyFinding
from rag_ls.rules.survey.patterns import pattern_documents
from rag_ls.rules.survey.routes import Endpoint
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
