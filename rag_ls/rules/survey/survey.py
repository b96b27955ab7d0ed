"""Surveys a repository: gathers what the files of the product have in common, each of which is read once."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from rag_ls.languages import detect_language, family_of
from rag_ls.rules.survey.conventions import (
    error_findings,
    list_middleware,
    middleware_findings,
    name_response_format,
    naming_findings,
    response_findings,
    test_findings,
)
from rag_ls.rules.survey.findings import (
    MIN_COUNT,
    Endpoint,
    FileFacts,
    SocketEvent,
    SourceLine,
    SurveyFinding,
    Traces,
    is_convention,
)
from rag_ls.rules.survey.imports import frontend_prefixes, import_findings, layer_findings
from rag_ls.rules.survey.project_files import SurveyedTree
from rag_ls.rules.survey.sources import is_product
from rag_ls.rules.survey.stacks import Stack, backend_of, find_stacks, frontend_of, name_package, with_endpoints
from rag_ls.util.records import dataclass
from rag_ls.util.text import count_of

_MAX_EXCERPT_LINES = 8
_MAX_EXCERPT_WIDTH = 160
_MAX_TEST_CHARACTERS = 20_000
"""The first lines of a test file show what it is written with."""


@dataclass(frozen=True, slots=True)
class CodeExcerpt:
    """A few lines of a file, as they stand there."""

    place: SourceLine
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Survey:
    """The conventions that a repository shows."""

    files: int
    """The number of files of the product that were read."""
    stacks: tuple[Stack, ...]
    frontend: str | None
    """The folder; "" for the root, None where there is none."""
    backend: str | None
    findings: tuple[SurveyFinding, ...]
    endpoints: tuple[tuple[str, Endpoint], ...]
    """With the path of the file, by path and line."""
    events: tuple[tuple[str, SocketEvent], ...]
    """None where they are too few to be a pattern."""
    excerpts: tuple[CodeExcerpt, ...]
    """For the main findings of each topic, the code at the first example."""
    middleware_names: tuple[str, ...]
    """Every middleware that is registered, the most frequent first."""
    response_format: str = ""
    """The envelope that the answers share, as a word: "success_data_error"; "" for none."""
    frontend_imports: tuple[str, ...] = ()
    """`@/`, `../hooks`: what the frontend's files import one another by, the most frequent first."""
    broken: tuple[str, ...] = ()
    """The files that were left out, because they do not parse."""
    unread: int = 0
    """The number of the product's files that were not read, because there are too many."""

    def about(self, topic: str) -> tuple[SurveyFinding, ...]:
        """The findings of a topic."""
        return tuple(each for each in self.findings if each.topic == topic)

    def describe_files(self, noun: str = "file") -> str:
        """The number of files that were read, and of how many."""
        if self.unread:
            return f"a sample of {self.files:,} of {count_of(self.files + self.unread, noun)}"
        return count_of(self.files, noun)


@dataclass(frozen=True, slots=True)
class ProjectSurvey:
    """The survey of a project, and the suffixes of its files."""

    found: Survey
    read: int
    """The number of source files that were read, tests and others' code included."""
    suffixes: tuple[str, ...]


def survey_tree(tree: SurveyedTree, frontend: str = "", backend: str = "") -> Survey:
    """The survey of a repository's code. `frontend` and `backend` name folders where detection is not to decide."""
    facts, languages, traces = dict[str, FileFacts](), dict[str, str](), Traces()
    for path, report in tree.reports.items():
        if report is None:
            continue
        traces.add(path, report.traces)
        if report.is_code:
            facts[path], languages[path] = report.facts, detect_language(path) or ""
    ended = [path for path, report in tree.reports.items() if report is None]
    endpoints = [(path, each) for path, of_file in facts.items() for each in of_file.endpoints]
    events = [(path, each) for path, of_file in facts.items() for each in of_file.events]
    stacks = with_endpoints(find_stacks(tree.paths, tree.read), ((path, languages[path]) for path, _ in endpoints))
    imports = [(path, edge) for path in languages for edge in tree.graph.edges(path)]
    packages = set(
        filter(None, (name_package(tree.read(path)) for path in tree.paths if path.endswith("package.json")))
    )
    every = (
        *layer_findings(imports, languages, (stack.folder for stack in stacks)), *middleware_findings(facts),
        *response_findings(facts, endpoints), *import_findings(imports, languages, packages), *naming_findings(languages),
        *error_findings(traces, languages), *test_findings(traces),
    )  # fmt: skip
    findings = tuple(filter(is_convention, every))
    served = [path for path, _ in endpoints]
    return Survey(
        files=len(languages),
        stacks=tuple(stacks),
        frontend=_normalise(frontend) if frontend else frontend_of(stacks),
        backend=_normalise(backend) if backend else _find_backend(stacks, served, languages),
        findings=findings,
        endpoints=tuple(endpoints),
        events=tuple(events) if len(events) >= MIN_COUNT else (),
        excerpts=tuple(_cut_excerpts(tree, findings)),
        middleware_names=list_middleware(facts),
        response_format=name_response_format(facts),
        frontend_imports=frontend_prefixes(imports, languages, packages),
        broken=(*(path for path, each in facts.items() if each.is_broken), *ended),
        unread=sum(is_product(path, detect_language(path) or "", tree.roles) for path in tree.unread),
    )


def _normalise(path: str) -> str:
    """A folder as stacks name it; "." is the root."""
    normal = posixpath.normpath(path.replace("\\", "/"))
    return "" if normal == "." else normal


def _find_backend(stacks: Sequence[Stack], served: Sequence[str], languages: dict[str, str]) -> str | None:
    """The main backend, or a root without other parts that has endpoints: Go's standard library needs no framework."""
    families = {family_of(languages[path]) for path in served}
    is_root = not any(each.folder for each in stacks) and any(family_of(each.language) in families for each in stacks)
    found = backend_of(stacks)
    return "" if found is None and is_root else found


def _cut_excerpts(tree: SurveyedTree, findings: Sequence[SurveyFinding]) -> Iterator[CodeExcerpt]:
    """The code at the first example of each finding, but of names and places of files."""
    shown = [each.examples[0] for each in findings if each.examples and each.topic != "naming"]
    places = [place for place in shown if place.line > 1]
    for place in dict.fromkeys(places):
        lines = tree.read(place.path).splitlines()[place.line - 1 :][:_MAX_EXCERPT_LINES]
        indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
        # Up to an empty line, or to one that is indented less.
        ends = (at for at, line in enumerate(lines) if at and (not line.strip() or line[:indent].strip()))
        kept = [line[indent:] for line in lines[: next(ends, None)]]
        if kept and all(len(line) <= _MAX_EXCERPT_WIDTH for line in kept):
            yield CodeExcerpt(place, detect_language(place.path) or "", "\n".join(kept))
