"""Reports on files, as a process that may die makes them: the facts of frameworks and the traces of conventions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rag_ls.rules.survey.errors import error_traces
from rag_ls.rules.survey.facts import read_facts
from rag_ls.rules.survey.file_facts import FileFacts
from rag_ls.rules.survey.layout import test_traces
from rag_ls.rules.survey.sources import MAX_CHARACTERS, is_generated, without_rust_tests
from rag_ls.rules.survey.traces import Trace
from rag_ls.util.records import dataclass, field

# The first lines of a test file show its framework.
_MAX_TEST_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class SurveyJob:
    """A file to look at."""

    path: str
    language: str
    is_test: bool
    """Whether only its tests count."""


@dataclass(frozen=True, slots=True)
class FileReport:
    """The things that a file shows."""

    traces: tuple[Trace, ...] = ()
    facts: FileFacts = field(default_factory=FileFacts)
    is_code: bool = False
    """Whether it is code that people wrote: neither empty nor generated."""


def report_files(read: Callable[[str], str], jobs: Sequence[SurveyJob]) -> list[FileReport]:
    """A report on each file."""
    return [_report_test(read, job) if job.is_test else _report_file(read, job) for job in jobs]


def _report_test(read: Callable[[str], str], job: SurveyJob) -> FileReport:
    return FileReport(tuple(test_traces(job.path, job.language, read(job.path)[:_MAX_TEST_CHARACTERS])))


def _report_file(read: Callable[[str], str], job: SurveyJob) -> FileReport:
    text = read(job.path)[:MAX_CHARACTERS].removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip() or is_generated(text):
        return FileReport()
    text = without_rust_tests(text) if job.language == "rust" else text
    traces = tuple(error_traces(job.language, text))
    return FileReport(traces, read_facts(job.path, job.language, text), is_code=True)
