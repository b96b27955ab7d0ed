"""Surveys a repository: reads every file of the product once, and gathers what the files have in common."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from rag_ls.rules.survey.circles import circle_findings
from rag_ls.rules.survey.decorators import Decorators
from rag_ls.rules.survey.errors import Errors
from rag_ls.rules.survey.facts import read_facts
from rag_ls.rules.survey.file_facts import SocketEvent
from rag_ls.rules.survey.findings import SourceLine, SurveyFinding, qualify
from rag_ls.rules.survey.imports import Imports, gather_imports
from rag_ls.rules.survey.layers import layer_findings
from rag_ls.rules.survey.layout import TestLayout
from rag_ls.rules.survey.middleware import Middleware
from rag_ls.rules.survey.naming import naming_findings
from rag_ls.rules.survey.packages import package_findings
from rag_ls.rules.survey.required import required_findings, ruled
from rag_ls.rules.survey.responses import Responses
from rag_ls.rules.survey.route_patterns import route_findings, unknown_findings
from rag_ls.rules.survey.routes import Endpoint
from rag_ls.rules.survey.sources import MAX_CHARACTERS, SurveyedFile, is_generated, is_product, source_of
from rag_ls.rules.survey.stacks import Stack, backend_of, find_stacks, frontend_of
from rag_ls.rules.survey.worth import mark_own
from rag_ls.search.roles import BY_PATH, Roles

_MAX_EXCERPT_LINES = 8
_MAX_EXCERPTS_PER_TOPIC = 8
"""More than documents show: those of findings that are dropped later are among them."""
_MAX_EXCERPT_WIDTH = 160
_BLOCK_ENDS = frozenset(["}", "};", "})", "});", ")", ");", "end"])


@dataclass(frozen=True, slots=True)
class SurveyedTree:
    """A repository as a survey sees it."""

    paths: tuple[str, ...]
    """From the root, with `/`."""
    read: Callable[[str], str]
    """The text of a file; "" for one that cannot be read."""
    language: Callable[[str], str]
    edges: tuple[tuple[str, str, int], ...]
    """The importing and the imported file, both of the project, and the line of the import."""
    modules: tuple[tuple[str, str, int], ...] = ()
    """The importing file, a module that is none of the project, and the line."""
    roles: Roles = BY_PATH


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
    decorators: tuple[SurveyFinding, ...]
    response_formats: tuple[SurveyFinding, ...]
    import_conventions: tuple[SurveyFinding, ...]
    import_prefixes: tuple[str, ...]
    """`@/`, `~/`: what files import one another by, the most frequent first."""
    layers: tuple[SurveyFinding, ...]
    naming: tuple[SurveyFinding, ...]
    error_handling: tuple[SurveyFinding, ...]
    tests: tuple[SurveyFinding, ...]
    endpoint_patterns: tuple[SurveyFinding, ...]
    endpoints: tuple[tuple[str, Endpoint], ...]
    """With the path of the file, by path and line."""
    events: tuple[tuple[str, SocketEvent], ...]
    excerpts: tuple[CodeExcerpt, ...]
    """For the main findings of each topic, the code at the first example."""
    response_format: str = ""
    """The envelope that the answers share, as a word: "success_data_error"; "" for none."""
    frontend_imports: tuple[str, ...] = ()
    """`@/`, `../hooks`: what the frontend's files import one another by, the most frequent first."""
    unknown_routes: tuple[SourceLine, ...] = ()
    """The routes whose path only shows when the program runs: those made in loops, of variables."""
    broken: tuple[str, ...] = ()
    """The files of frameworks that were left out, because they do not parse."""


@dataclass(slots=True)
class _Gathered:
    """The facts that the files have shown so far."""

    imports: Imports
    middleware: Middleware = field(default_factory=Middleware)
    decorators: Decorators = field(default_factory=Decorators)
    responses: Responses = field(default_factory=Responses)
    errors: Errors = field(default_factory=Errors)
    tests: TestLayout = field(default_factory=TestLayout)
    endpoints: list[tuple[str, Endpoint]] = field(default_factory=list)
    events: list[tuple[str, SocketEvent]] = field(default_factory=list)
    unknown_routes: list[SourceLine] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    languages: dict[str, str] = field(default_factory=dict)

    def read(self, source: SurveyedFile) -> None:
        self.texts[source.path] = source.text
        self.languages[source.path] = source.language
        for part in (self.imports, self.decorators, self.errors):
            part.read(source)
        self.tests.read_product(source)
        facts = read_facts(source.path, source.language, source.text)
        self.middleware.read(source.path, facts)
        self.responses.read(source.path, source.language, facts)
        self.endpoints += ((source.path, endpoint) for endpoint in facts.endpoints)
        self.events += ((source.path, event) for event in facts.events)
        self.unknown_routes += (SourceLine(source.path, line) for line in facts.unknown_routes)
        self.broken += [source.path] if facts.is_broken else []

    def source(self, path: str) -> SurveyedFile | None:
        return source_of(path, self.languages[path], self.texts[path]) if path in self.texts else None


def survey(tree: SurveyedTree, frontend: str = "", backend: str = "") -> Survey:
    """The survey of a repository's code. `frontend` and `backend` name folders where detection is not to decide."""
    stacks = find_stacks(tree.paths, tree.read)
    own = [path for path in sorted(tree.paths) if is_product(path, tree.language(path), tree.roles)]
    gathered = _Gathered(gather_imports(tree.paths, tree.read, own))
    for path in own:
        text = tree.read(path)[:MAX_CHARACTERS]
        if text.strip() and not is_generated(text):
            gathered.read(source_of(path, tree.language(path), text))
    gathered.tests.read_tests(tree.paths, tree.language, tree.read, tree.roles)
    edges = [edge for edge in tree.edges if edge[0] in gathered.texts and edge[1] in gathered.texts]
    modules = [each for each in tree.modules if each[0] in gathered.texts]
    findings: dict[str, Iterable[SurveyFinding]] = {
        "endpoints": tuple(route_findings(gathered.endpoints)),
        "middleware": (
            *gathered.middleware.findings(),
            *required_findings(gathered.texts, gathered.languages),
        ),
        "decorators": mark_own(gathered.decorators.findings(), gathered.texts.values),
        "responses": tuple(gathered.responses.findings()),
        "imports": (*gathered.imports.findings(), *package_findings(modules, gathered.languages)),
        "layers": (
            *layer_findings(edges, (stack.folder for stack in stacks)),
            *circle_findings(edges, gathered.languages),
        ),
        "naming": tuple(naming_findings(gathered.languages)),
        "errors": tuple(gathered.errors.findings()),
        "tests": tuple(gathered.tests.findings()),
    }
    shown_of = {topic: tuple(_ruled(of_topic, gathered.languages)) for topic, of_topic in findings.items()}
    shown_of["endpoints"] += tuple(unknown_findings(gathered.unknown_routes, len(gathered.endpoints)))
    shown = [*_main_examples(shown_of), *_first_places(gathered)]
    return Survey(
        files=len(gathered.texts),
        stacks=tuple(stacks),
        frontend=_folder(frontend)
        if frontend
        else frontend_of(stacks, lambda folder: _files_below(folder, gathered.texts)),
        backend=_folder(backend) if backend else _backend(stacks, gathered),
        middleware=shown_of["middleware"],
        middleware_names=gathered.middleware.all_names(),
        decorators=shown_of["decorators"],
        response_formats=shown_of["responses"],
        import_conventions=shown_of["imports"],
        import_prefixes=gathered.imports.used_prefixes(),
        layers=shown_of["layers"],
        naming=shown_of["naming"],
        error_handling=shown_of["errors"],
        tests=shown_of["tests"],
        endpoint_patterns=shown_of["endpoints"],
        endpoints=tuple(gathered.endpoints),
        events=tuple(gathered.events),
        excerpts=tuple(_excerpts(shown, gathered, tree)),
        response_format=gathered.responses.format(),
        frontend_imports=gathered.imports.frontend_prefixes(),
        unknown_routes=tuple(gathered.unknown_routes),
        broken=tuple(gathered.broken),
    )


def _ruled(findings: Iterable[SurveyFinding], languages: dict[str, str]) -> Iterator[SurveyFinding]:
    """The findings, with a rule where one can check them."""
    for finding in findings:
        yield qualify(finding if finding.rule else replace(finding, rule=ruled(finding, languages)))


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
        languages = {gathered.languages[path] for path in with_endpoint}
        roots = [stack for stack in stacks if stack.folder == "" and stack.role == "library"]
        found = "" if any(stack.language in languages for stack in roots) else None
    return found


def _main_examples(findings: dict[str, tuple[SurveyFinding, ...]]) -> Iterator[SourceLine]:
    """The first example of the main findings; the name of a file needs no code to show it."""
    for topic, of_topic in findings.items():
        if topic != "naming":
            with_example = [finding for finding in of_topic if finding.examples and _is_code(finding)]
            yield from (finding.examples[0] for finding in with_example[:_MAX_EXCERPTS_PER_TOPIC])


def _is_code(finding: SurveyFinding) -> bool:
    """Whether the example is a place in the code, not the file as such: what says where tests lie names line 1."""
    return finding.topic != "tests" or finding.examples[0].line > 1


def _first_places(gathered: _Gathered) -> Iterator[SourceLine]:
    yield from (SourceLine(path, endpoint.line) for path, endpoint in gathered.endpoints[:1])
    yield from (SourceLine(path, event.line) for path, event in gathered.events[:1])


def _excerpts(places: Iterable[SourceLine], gathered: _Gathered, tree: SurveyedTree) -> Iterator[CodeExcerpt]:
    for place in dict.fromkeys(places):
        text = gathered.texts.get(place.path)
        lines = (tree.read(place.path) if text is None else text).splitlines()[place.line - 1 :]
        kept = _whole_lines(lines[:_MAX_EXCERPT_LINES])
        if kept and all(len(line) <= _MAX_EXCERPT_WIDTH for line in kept):
            yield CodeExcerpt(place, tree.language(place.path), "\n".join(kept))


def _whole_lines(lines: list[str]) -> list[str]:
    """The lines up to a blank one, to the end of the first's block, or to one that is indented less."""
    indents = [len(line) - len(line.lstrip()) for line in lines]
    end = len(lines)
    for index, line in enumerate(lines):
        if index and (not line.strip() or indents[index] < indents[0]):
            end = index
            break
        if index and indents[index] == indents[0] and line.strip() in _BLOCK_ENDS:
            end = index + 1
            break
    return [line[indents[0] :] if line.strip() else "" for line in lines[:end]]
