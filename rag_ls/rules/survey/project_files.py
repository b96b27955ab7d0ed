"""The files of a project as set-up reads them, each once: from the files alone, so that it waits for no index."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from rag_ls.chunking import outline_of_document, recognise
from rag_ls.indexing import Patterns, Rejected, Source, list_files, reason_by_name
from rag_ls.languages import ImportResolver, SourceTree, detect_language
from rag_ls.model import Import
from rag_ls.rules.checks.contracts import ImportGraph, resolve_imports
from rag_ls.rules.survey.conventions import find_error_traces, find_test_traces, is_looked_at
from rag_ls.rules.survey.facts import read_facts
from rag_ls.rules.survey.findings import FileFacts, Trace
from rag_ls.rules.survey.sources import (
    MAX_CHARACTERS,
    is_generated,
    is_product,
    is_surveyed,
    is_vendored,
    without_rust_tests,
)
from rag_ls.search import BY_PATH, Roles
from rag_ls.util.records import dataclass, field

MAX_READ = 5_000
"""The most source files that are read; of more, every so-manieth is."""
_MAX_TEST_CHARACTERS = 20_000
"""The first lines of a test file show what it is written with."""


@dataclass(frozen=True, slots=True)
class SurveyJob:
    """A file to look at, and whether it is the product's, and may hold tests."""

    path: str
    is_product: bool
    is_test: bool


@dataclass(frozen=True, slots=True)
class FileReport:
    """The things that a file shows."""

    language: str
    """As its text tells."""
    imports: tuple[Import, ...]
    traces: tuple[Trace, ...] = ()
    facts: FileFacts = field(default_factory=FileFacts)
    is_code: bool = False
    """Whether it is the product's, and code that people wrote: neither empty nor generated."""


ReadSource = Callable[[str], Source | Rejected]
"""Reads a file as the index does."""
CallMany = Callable[
    [Callable[[Sequence[SurveyJob]], list[FileReport | str]], Sequence[SurveyJob]], Iterable[FileReport | str | None]
]
"""Calls a function for some jobs, perhaps in other processes; None for a file that ended its process."""


def _call_here(
    report: Callable[[Sequence[SurveyJob]], list[FileReport | str]], jobs: Sequence[SurveyJob]
) -> Iterable[FileReport | str | None]:
    return report(jobs)


@dataclass(frozen=True, slots=True)
class SurveyedTree:
    """A repository as a survey sees it."""

    paths: tuple[str, ...]
    """From the root, with `/`, without secrets and what the index refuses."""
    read: Callable[[str], str]
    """The text of a file; "" for one that cannot be read."""
    reports: Mapping[str, FileReport | None]
    """Of the files that were read; None for one that ended its process."""
    graph: ImportGraph
    roles: Roles = BY_PATH
    unread: frozenset[str] = frozenset()
    """The files that only count by their names, because there are too many to read."""
    refused: tuple[str, ...] = ()
    """The files that the index refuses: rules that are checked look at them, too."""


def read_tree(
    listed: Iterable[str],
    read: Callable[[str], str],
    read_source: ReadSource,
    roles: Roles = BY_PATH,
    call_many: CallMany = _call_here,
    most: int = MAX_READ,
) -> SurveyedTree:
    """Read the files at some paths, those of the project before others' code."""
    there = sorted(path for path in listed if not reason_by_name(path))
    languages = {path: detect_language(path) or "" for path in there}
    code = [path for path in there if is_surveyed(languages[path])]
    chosen = _take_sample([path for path in code if not is_vendored(path)], most)
    chosen += _take_sample([path for path in code if is_vendored(path)], most - len(chosen))
    jobs = [
        SurveyJob(path, is_product(path, languages[path], roles), is_looked_at(path, languages[path], roles))
        for path in chosen
    ]
    found = dict(zip(chosen, call_many(partial(report_files, read_source), jobs), strict=True))
    reports = {path: each for path, each in found.items() if not isinstance(each, str)}
    # Generated files are imported all the same.
    resolver = ImportResolver(SourceTree(there, read))
    edges = {
        path: resolve_imports(resolver, path, each.language, each.imports)
        for path, each in reports.items()
        if each and each.imports
    }
    refused = tuple(path for path in there if path in found and path not in reports)
    paths = tuple(path for path in there if path not in refused)
    unread = frozenset(code).difference(chosen)
    return SurveyedTree(paths, read, reports, ImportGraph(edges), roles=roles, unread=unread, refused=refused)


def report_files(read_source: ReadSource, jobs: Sequence[SurveyJob]) -> list[FileReport | str]:
    """A report on each file; for one that the index refuses, the reason."""
    return [_report_file(job, read_source(job.path)) for job in jobs]


def _report_file(job: SurveyJob, source: Source | Rejected) -> FileReport | str:
    if isinstance(source, Rejected):
        return source.reason
    language = recognise(job.path, source.text) or "text"
    imports = outline_of_document(source.text, job.path, language, declarations=False).imports
    language_by_name, traces = detect_language(job.path) or "", list[Trace]()
    if job.is_test:
        traces += find_test_traces(job.path, language_by_name, source.text[:_MAX_TEST_CHARACTERS])
    text = source.text[:MAX_CHARACTERS].removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not job.is_product or not text.strip() or is_generated(text):
        return FileReport(language, imports, tuple(traces))
    text = without_rust_tests(text) if language_by_name == "rust" else text
    traces += find_error_traces(language_by_name, text)
    facts = read_facts(job.path, language_by_name, text)
    return FileReport(language, imports, tuple(traces), facts, is_code=True)


@dataclass(frozen=True, slots=True)
class ListedFiles:
    """The files of a project as they are listed, before any is read."""

    paths: tuple[str, ...]
    """Those of regular files."""
    fingerprint: str
    """A digest of the names, sizes and times of all."""

    @classmethod
    def of(cls, root: Path, patterns: Patterns) -> ListedFiles:
        """The files of a folder that the ignore rules and the settings leave."""
        digest, regular, start = hashlib.sha256(), [], os.path.join(root, "")
        for path in sorted(list_files(root, patterns)):
            status = _look_at(start + path)
            stamp = status and (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            digest.update(repr((path, stamp)).encode("utf-8", "surrogateescape"))
            if status is not None and stat.S_ISREG(status.st_mode):
                regular.append(path)
        return cls(tuple(regular), digest.hexdigest())


def _take_sample(paths: Sequence[str], most: int) -> list[str]:
    """At most so many of the paths, from all folders alike."""
    return [paths[at * len(paths) // most] for at in range(most)] if len(paths) > most else list(paths)


def _look_at(file: str) -> os.stat_result | None:
    """The state of a file, or of a link; None where it cannot be told."""
    try:
        return os.lstat(file)
    except OSError:
        return None
