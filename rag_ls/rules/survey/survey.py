"""Surveys a repository: gathers what the files of the product have in common, each of which is read once."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from rag_ls.languages import family_of
from rag_ls.rules.checks.graph import Edge
from rag_ls.rules.survey.errors import error_findings
from rag_ls.rules.survey.file_facts import Endpoint, FileFacts, SocketEvent
from rag_ls.rules.survey.findings import MAX_EXAMPLES, MIN_COUNT, SourceLine, SurveyFinding, is_convention
from rag_ls.rules.survey.imports import frontend_prefixes, import_findings
from rag_ls.rules.survey.layers import layer_findings
from rag_ls.rules.survey.layout import is_looked_at, test_findings
from rag_ls.rules.survey.middleware import Middleware
from rag_ls.rules.survey.naming import naming_findings
from rag_ls.rules.survey.packages import package_findings
from rag_ls.rules.survey.reports import FileReport, SurveyJob, report_files
from rag_ls.rules.survey.required import required_findings
from rag_ls.rules.survey.responses import Responses
from rag_ls.rules.survey.route_patterns import route_findings
from rag_ls.rules.survey.sources import is_product, without_copied
from rag_ls.rules.survey.stacks import Stack, backend_of, find_stacks, frontend_of, name_package, with_endpoints
from rag_ls.rules.survey.traces import Traces
from rag_ls.search.roles import BY_PATH, Roles
from rag_ls.util.records import dataclass, field
from rag_ls.util.text import count_of

ReportJobs = Callable[
    [Callable[[Sequence[SurveyJob]], list[FileReport]], Sequence[SurveyJob]], Iterable[FileReport | None]
]
"""Calls a function for some jobs, perhaps in other processes; None for a file that ended its process."""
_MAX_EXCERPT_LINES = 8
_MAX_EXCERPT_WIDTH = 160
_BLOCK_ENDS = frozenset(["}", "};", "})", "});", ")", ");", "end"])


def _report_here(
    report: Callable[[Sequence[SurveyJob]], list[FileReport]], jobs: Sequence[SurveyJob]
) -> Iterable[FileReport | None]:
    return report(jobs)


@dataclass(frozen=True, slots=True)
class SurveyedTree:
    """A repository as a survey sees it."""

    paths: tuple[str, ...]
    """From the root, with `/`."""
    read: Callable[[str], str]
    """The text of a file; "" for one that cannot be read."""
    language: Callable[[str], str]
    imports: tuple[tuple[str, Edge], ...] = ()
    """Each import with the file that has it."""
    report: ReportJobs = _report_here
    roles: Roles = BY_PATH
    unread: frozenset[str] = frozenset()
    """The files that only count by their names, because there are too many to read."""


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
    middleware: tuple[SurveyFinding, ...]
    middleware_names: tuple[str, ...]
    """Every middleware that is registered, the most frequent first."""
    response_formats: tuple[SurveyFinding, ...]
    import_conventions: tuple[SurveyFinding, ...]
    layers: tuple[SurveyFinding, ...]
    naming: tuple[SurveyFinding, ...]
    error_handling: tuple[SurveyFinding, ...]
    tests: tuple[SurveyFinding, ...]
    endpoint_patterns: tuple[SurveyFinding, ...]
    endpoints: tuple[tuple[str, Endpoint], ...]
    """With the path of the file, by path and line."""
    events: tuple[tuple[str, SocketEvent], ...]
    """None where they are too few to be a pattern."""
    excerpts: tuple[CodeExcerpt, ...]
    """For the main findings of each topic, the code at the first example."""
    response_format: str = ""
    """The envelope that the answers share, as a word: "success_data_error"; "" for none."""
    frontend_imports: tuple[str, ...] = ()
    """`@/`, `../hooks`: what the frontend's files import one another by, the most frequent first."""
    broken: tuple[str, ...] = ()
    """The files that were left out, because they do not parse."""
    unread: int = 0
    """The number of the product's files that were not read, because there are too many."""

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


@dataclass(slots=True)
class _Gathered:
    """The facts that the files have shown so far."""

    middleware: Middleware = field(default_factory=Middleware)
    responses: Responses = field(default_factory=Responses)
    traces: Traces = field(default_factory=Traces)
    facts: dict[str, FileFacts] = field(default_factory=dict)
    languages: dict[str, str] = field(default_factory=dict)
    """The language of each file of the product."""
    endpoints: list[tuple[str, Endpoint]] = field(default_factory=list)
    events: list[tuple[str, SocketEvent]] = field(default_factory=list)

    def add(self, job: SurveyJob, report: FileReport) -> None:
        self.traces.add(job.path, report.traces)
        if report.is_code:
            self.facts[job.path], self.languages[job.path] = report.facts, job.language
            self.responses.read(job.path, report.facts)
            self.middleware.read(job.path, report.facts)
            self.endpoints += ((job.path, endpoint) for endpoint in report.facts.endpoints)
            self.events += ((job.path, event) for event in report.facts.events)


def survey(tree: SurveyedTree, frontend: str = "", backend: str = "") -> Survey:
    """The survey of a repository's code. `frontend` and `backend` name folders where detection is not to decide."""
    stacks = find_stacks(tree.paths, tree.read)
    every = (path for path in sorted(tree.paths) if is_product(path, tree.language(path), tree.roles))
    product = without_copied(every, tree.paths)
    own = [path for path in product if path not in tree.unread]
    jobs = [SurveyJob(path, tree.language(path), is_test=False) for path in own]
    jobs += [
        SurveyJob(path, tree.language(path), True)
        for path in tree.paths
        if path not in tree.unread and is_looked_at(path, tree.language(path), tree.roles)
    ]
    report = partial(report_files, tree.read)
    gathered, ended = _Gathered(), list[str]()
    for job, found in zip(jobs, tree.report(report, jobs), strict=True):
        if found is None:
            ended.append(job.path)
        else:
            gathered.add(job, found)
    places = ((path, gathered.languages[path], each.method == "RPC") for path, each in gathered.endpoints)
    stacks = with_endpoints(stacks, places)
    imports = [each for each in tree.imports if each[0] in gathered.languages]
    packages = set(
        filter(None, (name_package(tree.read(path)) for path in tree.paths if path.endswith("package.json")))
    )
    found_of = _find(tree, gathered, stacks, imports, packages)
    shown_of = {topic: tuple(filter(is_convention, each)) for topic, each in found_of.items()}
    return Survey(
        files=len(gathered.languages),
        stacks=tuple(stacks),
        frontend=_folder(frontend)
        if frontend
        else frontend_of(stacks, lambda folder: _files_below(folder, gathered.languages)),
        backend=_folder(backend) if backend else _backend(stacks, gathered),
        middleware=shown_of["middleware"],
        middleware_names=gathered.middleware.all_names(),
        response_formats=shown_of["responses"],
        import_conventions=shown_of["imports"],
        layers=shown_of["layers"],
        naming=shown_of["naming"],
        error_handling=shown_of["errors"],
        tests=shown_of["tests"],
        endpoint_patterns=shown_of["endpoints"],
        endpoints=tuple(gathered.endpoints),
        events=tuple(gathered.events) if len(gathered.events) >= MIN_COUNT else (),
        excerpts=tuple(_excerpts(_shown_places(shown_of, gathered), tree)),
        response_format=gathered.responses.format(),
        frontend_imports=frontend_prefixes(imports, gathered.languages, packages),
        broken=(*(path for path, facts in gathered.facts.items() if facts.is_broken), *ended),
        unread=len(product) - len(own),
    )


def _find(
    tree: SurveyedTree,
    gathered: _Gathered,
    stacks: Sequence[Stack],
    imports: Sequence[tuple[str, Edge]],
    packages: Collection[str],
) -> Mapping[str, Iterable[SurveyFinding]]:
    """The findings by topic."""
    languages, traces = gathered.languages, gathered.traces
    edges = [(path, edge.target, edge.line) for path, edge in imports if edge.target in languages]
    required = list(required_findings(gathered.facts, languages))
    answers = [each for each in required if each.topic == "responses"]
    routed = {path for path, _ in gathered.endpoints}
    responses = [each for each in answers or gathered.responses.findings() if _is_spread(each, routed)]
    return {
        "endpoints": route_findings(gathered.endpoints, len(languages)),
        "middleware": (*gathered.middleware.findings(required), *(each for each in required if each not in answers)),
        "responses": responses,
        "imports": (
            *import_findings(imports, languages, packages),
            *package_findings(imports, languages, [stack.folder for stack in stacks]),
        ),
        "layers": layer_findings(edges, (stack.folder for stack in stacks)),
        "naming": naming_findings(languages),
        "errors": error_findings(traces, languages),
        "tests": test_findings(traces, tree.paths, tree.language, tree.roles),
    }


def _is_spread(finding: SurveyFinding, routed: Collection[str]) -> bool:
    """Whether a finding about answers is shown by two files, where more than two have routes."""
    return len({place.path for place in finding.examples}) > 1 or len(routed) <= MAX_EXAMPLES


def _folder(path: str) -> str:
    """A folder as stacks name it; "." is the root."""
    normal = posixpath.normpath(path.replace("\\", "/"))
    return "" if normal == "." else normal


def _files_below(folder: str, paths: Iterable[str]) -> int:
    return sum(path.startswith(f"{folder}/") for path in paths)


def _backend(stacks: list[Stack], gathered: _Gathered) -> str | None:
    """The main backend, or the root with endpoints of its own: Go's standard library needs no framework."""
    with_endpoint = [path for path, _ in gathered.endpoints]
    found = backend_of(stacks, lambda folder: _files_below(folder, with_endpoint))
    if found is None:
        languages = {family_of(gathered.languages[path]) for path in with_endpoint}
        roots = [stack for stack in stacks if stack.folder == "" and stack.role == "package"]
        found = "" if any(family_of(stack.language) in languages for stack in roots) else None
    return found


def _shown_places(findings: Mapping[str, Iterable[SurveyFinding]], gathered: _Gathered) -> Iterator[SourceLine]:
    """The first example of each finding, but of names and places of files, which need no code; the first endpoint and event."""
    for topic, of_topic in findings.items():
        firsts = [each.examples[0] for each in of_topic if each.examples]
        yield from (each for each in firsts if topic != "naming" and (topic != "tests" or each.line > 1))
    yield from (SourceLine(path, endpoint.line) for path, endpoint in gathered.endpoints[:1])
    yield from (SourceLine(path, event.line) for path, event in gathered.events[:1])


def _excerpts(places: Iterable[SourceLine], tree: SurveyedTree) -> Iterator[CodeExcerpt]:
    for place in dict.fromkeys(places):
        lines = tree.read(place.path).splitlines()[place.line - 1 :]
        kept = _whole_lines(lines[:_MAX_EXCERPT_LINES])
        if kept and all(len(line) <= _MAX_EXCERPT_WIDTH for line in kept):
            yield CodeExcerpt(place, tree.language(place.path), "\n".join(kept))


def _whole_lines(lines: Sequence[str]) -> list[str]:
    """The lines up to a blank one, to the end of the first's block, or to one that is indented less."""
    indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
    kept = list[str]()
    for line in lines:
        own = len(line) - len(line.lstrip())
        if kept and (not line.strip() or own < indent):
            break
        kept.append(line[indent:])
        if len(kept) > 1 and own == indent and line.strip() in _BLOCK_ENDS:
            break
    return kept
