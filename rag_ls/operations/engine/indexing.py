"""Operations that index the client's projects."""

from __future__ import annotations

from rag_ls.operations.caller import Caller
from rag_ls.operations.engine.progress import Report, index_and_wait
from rag_ls.operations.engine.status import ProjectStatusRecord, describe_project
from rag_ls.operations.fields import argument
from rag_ls.operations.operation import WRITES, Opens, Verb, operation
from rag_ls.util.records import dataclass


@dataclass(frozen=True, slots=True)
class IndexProject:
    words_only: bool = argument(False, "leave the embeddings to the editor or agent")
    force: bool = argument(False, "index even your home folder, / or a folder of more than 100,000 files")


def prepare_index(caller: Caller, request: IndexProject, report: Report) -> None:
    """Index the client's projects, and wait for it."""
    for view in caller.projects.all():
        index_and_wait(view, report, words_only=request.words_only)


@operation(
    prepare=prepare_index,
    effects=WRITES,
    manages=True,
    opens=Opens.ON_PURPOSE,
    verb=Verb("index", "index a project, with a progress bar; the next time only what has changed is read"),
)
def index(caller: Caller, request: IndexProject) -> ProjectStatusRecord:
    """Index the project, and wait for it.

    `prepare_index` does that; the answer is how the project stands then.
    """
    return describe_project(caller.projects.first())


@dataclass(frozen=True, slots=True)
class OfProjects:
    project: tuple[str, ...] = argument((), "names or roots of projects, or all")


@dataclass(frozen=True, slots=True)
class ReindexAnswer:
    """The projects whose files are being compared."""

    started: tuple[str, ...]


@operation(effects=WRITES, command="ragLs.reindex")
def reindex(caller: Caller, request: OfProjects) -> ReindexAnswer:
    """Compare the files with the index again, in the background."""
    views = caller.projects.find(request.project)
    for view in views:
        view.indexing.index_tree()
    return ReindexAnswer(tuple(str(view.project.root) for view in views))
