"""Operations that make rules and their index: set-up from the code, and an index that is made anew."""

# ruff: noqa: N815 - the keys are in camel case

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rag_ls.engine import ProjectSession, count_rule_chunks
from rag_ls.errors import InvalidRequest, ProjectUnavailable, VersionConflict
from rag_ls.indexing import FAILED, Depth, Phase, Progress
from rag_ls.memory import utc_now
from rag_ls.operations.fields import argument, optional
from rag_ls.operations.operation import (
    DESTROYS,
    WRITES,
    Caller,
    Opens,
    Report,
    Tool,
    Verb,
    ignore_progress,
    operation,
)
from rag_ls.operations.projects.status import index_and_wait
from rag_ls.project import Project
from rag_ls.rules import Decisions, read_decisions, write_decisions
from rag_ls.search import Roles
from rag_ls.util.files import remedy_for
from rag_ls.util.paths import portable, text_in
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import count_of, utc_stamp

if TYPE_CHECKING:
    from rag_ls.rules import PlannedFile, ProjectSurvey


J = TypeVar("J")
R = TypeVar("R")

SUCCESS = "success"
_INDEX_S = 5.0
_FILES_PER_REPORT = 40
"""As many as are read together."""
_CHANGED_SINCE = (
    "nothing was written: files have changed since this was proposed, and something else would be written now; "
    "`rag-ls rules setup` shows it"
)
_REMEDIES = {
    "force": "; rag_setup with force = true replaces what exists and keeps its text beside",
    "publish": "; the user has it written all the same: `rag-ls rules setup --publish`",
}


@dataclass(frozen=True, slots=True)
class SetUpRules:
    project_root: str = argument(
        "",
        "the project's folder, absolute (default at the shell: this one)",
        agents_required=True,
        is_path=True,
        is_root=True,
    )
    frontend_path: str = argument("", "the folder of the frontend, if it is not found", is_path=True)
    backend_path: str = argument("", "the folder of the backend, if it is not found", is_path=True)
    force: bool = argument(False, "write over existing files; their former text is kept beside", local_alone=True)
    publish: bool = argument(False, "write also where a site generator publishes the files", shell_alone=True)
    dry_run: bool = argument(False, "tell what would be written, and write nothing", flag="-")
    agreed: str = argument("", "the proposal of a dry run that was agreed to: nothing else is written", flag="-")


@dataclass(frozen=True, slots=True)
class DetectedPatterns:
    """The patterns that set-up found in the code."""

    middleware: tuple[str, ...]
    responseFormat: str | None
    frontendImports: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProposedFile:
    """A file that set-up would write, or leaves alone."""

    path: str
    written: bool
    why: str
    text: str
    needs: str = optional("")
    """The argument that would write a file which is left alone: `force` or `publish`; empty where none does."""


@dataclass(frozen=True, slots=True)
class SetUpAnswer:
    """The facts that set-up found, and the files that it wrote."""

    projectRoot: str
    frontendDetected: str | None
    backendDetected: str | None
    chromaDbPath: str
    """The folder of the index, under the name that older tools gave it."""
    filesGenerated: tuple[str, ...]
    patternsDetected: DetectedPatterns
    message: str
    warning: str = optional("")
    filesLeftAlone: tuple[str, ...] = optional(())
    filesKept: tuple[str, ...] = optional(())
    """The folder with the former texts of replaced files."""
    filesProposed: tuple[ProposedFile, ...] = optional(())
    """Of a dry run: each file with its text, and why it is written or left alone."""
    proposal: str = optional("")
    """Of a dry run: a digest of what would be written."""
    status: str = SUCCESS


def prepare_rag_setup(caller: Caller, request: SetUpRules, report: Report) -> None:
    """Survey the code, and report how many files are read; the answer takes what was found."""
    _find_survey(caller.rule_projects.open_root(request.project_root), request, report)


def _find_survey(view: ProjectSession, request: SetUpRules, report: Report) -> ProjectSurvey:
    """The survey of a project: the last one, if no file has changed since: what is shown first is written afterwards."""
    from rag_ls.rules import ListedFiles

    project = view.project
    folders = [_read_folder(project.root, path) for path in (request.frontend_path, request.backend_path)]
    listed = ListedFiles.of(project.root, project.exclusions.patterns)
    key = "\0".join((listed.fingerprint, repr(view.settings.index), *folders))
    last = project.last_survey
    if last is None or last[0] != key:
        project.last_survey = last = key, _survey_project(view, listed.paths, folders, report)
    return last[1]


def _survey_project(
    view: ProjectSession, listed: Sequence[str], folders: Sequence[str], report: Report
) -> ProjectSurvey:
    # Imported here: reading code takes many patterns, whose compilation would slow down every start.
    from rag_ls.rules import ProjectSurvey, read_tree, survey_tree, verify_survey

    project, index = view.project, view.settings.index

    def call_many(function: Callable[[Sequence[J]], list[R]], jobs: Sequence[J]) -> Iterator[R | None]:
        results = project.cutters.call_many(function, jobs)
        for done, found in enumerate(results):
            if done % _FILES_PER_REPORT == 0:
                report(project.name, Progress(Phase.READING, done, len(jobs)))
            yield found

    roles = Roles(frozenset(), index.product, index.tests)
    tree = read_tree(listed, partial(text_in, project.root), project.documents.reader, roles, call_many)
    found = verify_survey(survey_tree(tree, *folders), tree)
    suffixes = {posixpath.splitext(path)[1] for path in tree.paths} - {"", "."}
    return ProjectSurvey(found, len(tree.reports), tuple(sorted(suffixes)))


@operation(
    prepare=prepare_rag_setup,
    effects=WRITES,
    manages=True,
    opens=Opens.NEW,
    needs_code=False,
    tool=Tool(
        "rules",
        "Once: survey a project, write ARCHITECTURE.yml and docs/patterns.",
        ("project_root", "frontend_path", "backend_path", "force"),
        ("message",),
    ),
    command="ragLs.rulesSetup",
    verb=Verb("rules setup", "survey the code, and propose ARCHITECTURE.yml and docs/patterns from what it shows"),
)
def rag_setup(caller: Caller, request: SetUpRules) -> SetUpAnswer:
    """Survey the code and write ARCHITECTURE.yml and docs/patterns from what it shows."""
    # Imported here, as for the survey.
    from rag_ls.rules import ARCHITECTURE, Written, digest_documents, plan_documents, ruled_findings, write_documents

    view = caller.rule_projects.open_root(request.project_root)
    root = view.project.root
    surveyed = _find_survey(view, request, ignore_progress)
    found = surveyed.found
    planned = plan_documents(root, found, view.project.name, force=request.force, publish=request.publish)
    proposal = digest_documents(planned)
    if request.agreed and not request.dry_run and request.agreed != proposal:
        raise VersionConflict(_CHANGED_SINCE)
    written = Written((), (), ()) if request.dry_run else write_documents(root, planned, utc_now())
    if not request.dry_run:
        view.project.last_survey = None
        former = read_decisions(root)
        _write_decisions(
            view,
            Decisions(
                project_root=str(root), frontend=found.frontend, backend=found.backend, set_up_at=utc_stamp(utc_now()),
                last_indexed=former.last_indexed if former else "",
                suffixes=surveyed.suffixes,
                excluded=view.settings.index.exclude,
            ),
        )  # fmt: skip
        view.files_changed([*written.written, *written.kept])
        # The caller's next questions are about rules, and need the index. Of a large project, the first files are enough.
        if not view.indexing.scanned:
            view.indexing.index_tree(Depth.WORDS)
        view.indexing.wait_until_idle(_INDEX_S, embeddings=False)
    left_alone = [each for each in planned if not each.is_written and not request.dry_run]
    return SetUpAnswer(
        projectRoot=str(root), frontendDetected=_show_folder(found.frontend),
        backendDetected=_show_folder(found.backend), chromaDbPath=str(view.project.folder.data_folder),
        filesGenerated=written.written,
        patternsDetected=DetectedPatterns(
            found.middleware_names, found.response_format or None, found.frontend_imports,
        ),
        message=_describe_set_up(
            surveyed, written.written, has_rules=ARCHITECTURE in written.written and bool(ruled_findings(found)),
            is_current=not planned,
        ), warning=_warn_of_files_left_alone(left_alone),
        filesLeftAlone=written.left_alone, filesKept=written.kept,
        filesProposed=tuple(ProposedFile(each.path, each.is_written, each.why, each.text, each.needs) for each in planned)
        if request.dry_run else (),
        proposal=proposal if request.dry_run else "",
    )  # fmt: skip


def _read_folder(root: Path, given: str) -> str:
    """A folder that a caller named, relative to the root. Raises `InvalidRequest`."""
    if not given.strip():
        return ""
    path = root / portable(given)
    if not path.is_dir():
        raise InvalidRequest(f"{given!r} is no folder of {root}")
    relative = Project(root).relative(path)
    return "" if relative == "." else relative


def _show_folder(folder: str | None) -> str | None:
    return "." if folder == "" else folder


def _warn_of_files_left_alone(files: Sequence[PlannedFile]) -> str:
    """A warning that names the files that were left alone, by reason, with the option that writes them."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for each in files:
        by_reason.setdefault((each.why, each.needs), []).append(each.path)
    parts = []
    for (reason, needs), paths in by_reason.items():
        parts.append(f"{', '.join(paths)}: left alone, because {reason}{_REMEDIES.get(needs, '')}")
    return ". ".join(parts)


def _describe_set_up(surveyed: ProjectSurvey, written: Sequence[str], *, has_rules: bool, is_current: bool) -> str:
    from rag_ls.rules import list_names

    found = surveyed.found
    stacks = ", ".join(dict.fromkeys(f"{stack.language} {stack.role}" for stack in found.stacks)) or "no manifest"
    wrote = f"wrote {', '.join(written)}" if written else "wrote nothing"
    wrote += ", since each file is as it would be written" if is_current else ""
    # The progress counts all that are read.
    read = f"read {count_of(surveyed.read, 'source file')}, and counted in {found.describe_files()} of the product ({stacks}); {wrote}"
    if found.broken:
        read += f"; left out, because they do not parse: {list_names(found.broken, 3)}"
    if not written:
        return f"{read}."
    return f"{read}. Read what it says and correct it" + ("; `rag-ls check` checks its rules." if has_rules else ".")


@dataclass(frozen=True, slots=True)
class IndexRules:
    project_root: str = argument(
        "", "the project's folder, absolute (default: this project)", flag="-", is_path=True, is_root=True
    )


@dataclass(frozen=True, slots=True)
class CollectionStats:
    """Chunks by what they hold."""

    codebase: int
    constraints: int
    patterns: int


@dataclass(frozen=True, slots=True)
class FileError:
    """A file that could not be indexed."""

    file: str
    error: str


@dataclass(frozen=True, slots=True)
class RulesIndexedAnswer:
    """An index that was made anew."""

    projectRoot: str
    filesIndexed: int
    chunksCreated: int
    collectionStats: CollectionStats
    errors: tuple[FileError, ...]
    duration: float
    """In seconds."""
    message: str
    warning: str = optional("")
    status: str = SUCCESS


def prepare_rag_index(caller: Caller, request: IndexRules, report: Report) -> None:
    """Read and cut every file anew, and embed what has no vector yet."""
    view = caller.rule_projects.find_set_up(request.project_root)
    view.store.forget_digests()
    caller.rule_projects.note_index_began(view)
    index_and_wait(view, report, words_only=view.project.model() is None)


@operation(
    prepare=prepare_rag_index,
    effects=DESTROYS,
    manages=True,
    needs_code=False,
    tool=Tool(
        "rules", "Read a project's files and rules anew, if rag_health_check says so.", ("project_root",), ("message",)
    ),
    command="ragLs.rulesIndex",
    verb=Verb("rules index", "index the project anew, its rules among the rest"),
)
def rag_index(caller: Caller, request: IndexRules) -> RulesIndexedAnswer:
    """Read, cut and embed all of a project's files anew; vectors of unchanged texts are kept.

    `prepare_rag_index` does the work; this handler tells the state of the index after it.
    """
    view = caller.rule_projects.find_set_up(request.project_root)
    status, counts = view.status(), count_rule_chunks(view)
    failed = tuple(
        FileError(item.path, item.reason) for item in view.store.skipped().values() if item.reason.startswith(FAILED)
    )
    if not status.documents:
        raise ProjectUnavailable(f"nothing could be indexed in {status.root}: no file is text that rag-ls reads")
    former = read_decisions(view.project.root) or Decisions(status.root)
    _write_decisions(view, replace(former, last_indexed=utc_stamp(utc_now())))
    warning = ""
    if len(failed) * 10 > status.documents:
        warning = f"{len(failed):,} of {status.documents + len(failed):,} files failed: errors names them"
    elif status.pending_embeddings:
        waiting = count_of(
            status.pending_embeddings, "chunk still waits for its vector", "chunks still wait for their vectors"
        )
        warning = f"{waiting}; words find them already"
    return RulesIndexedAnswer(
        projectRoot=status.root, filesIndexed=status.documents, chunksCreated=status.chunks,
        collectionStats=CollectionStats(**counts), errors=failed,
        duration=round(caller.rule_projects.seconds_of_index(view), 2),
        message=f"{count_of(status.documents, 'file is', 'files are')} indexed in {count_of(status.chunks, 'chunk')}: "
        f"{counts['constraints']:,} of constraints, {counts['patterns']:,} of patterns",
        warning=warning,
    )  # fmt: skip


def _write_decisions(view: ProjectSession, decisions: Decisions) -> None:
    try:
        write_decisions(view.project.root, decisions)
    except OSError as error:
        folder = view.project.folder.data_folder
        remedy = remedy_for(error, "make it writable for you")
        raise ProjectUnavailable(f"cannot write {folder} ({error.strerror}); {remedy}") from error
