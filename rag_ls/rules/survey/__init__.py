"""Surveys a repository, and writes the documents of set-up from what the code shows.

`find_stacks` reads the manifests. `reports` looks at each file once, in a process that may die: `facts` interprets the files of
`frameworks/`, one YAML for each framework; `decorators`, `imports`, `errors` and `layout` find traces of what is of the language
alone. `survey` sums them up; `middleware`, `responses` and `required` count the facts, `layers` and `naming` paths and edges alone.
`documents` and `patterns` write what was found. No I/O but `SurveyedTree.read`.
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
