"""Operations that make rules and their index: set-up from the code, and an index that is made anew."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rag_ls.engine.project_view import ProjectView
from rag_ls.errors import InvalidRequest, ProjectUnavailable
from rag_ls.indexing import FAILED, Depth
from rag_ls.languages import detect_language
from rag_ls.operations import rule_records as records
from rag_ls.operations.indexing import Report, follow, index_and_wait
from rag_ls.operations.rule_projects import RuleProjects
from rag_ls.operations.rule_requests import IndexRules, SetUpRules
from rag_ls.project import Project
from rag_ls.rules.decisions import Decisions, read_decisions, write_decisions
from rag_ls.util import handles
from rag_ls.util.paths import portable, text_in
from rag_ls.util.text import utc_stamp

if TYPE_CHECKING:
    from rag_ls.rules.survey.survey import Survey


class RuleSetup:
    """Sets up the rules of a client's projects."""

    def __init__(self, projects: RuleProjects, *, now: Callable[[], datetime]) -> None:
        self._projects = projects
        self._now = now
        self._index_began: dict[Path, float] = {}

    def prepare_set_up(self, asked: SetUpRules, report: Report) -> None:
        """Read the project's files, for the graph of its imports."""
        view = self._projects.of_root(asked.project_root)
        if not view.indexing.scanned or view.store.queue.has_any():
            view.indexing.index_tree(Depth.WORDS)
            follow(view, report, embeddings=False)

    def set_up(self, asked: SetUpRules) -> records.SetUpAnswer:
        """Survey the code, and write ARCHITECTURE.yml and docs/patterns from what was found."""
        # Imported here: reading code takes many patterns, whose compilation would slow down every start.
        from rag_ls.rules.setup import write_documents
        from rag_ls.rules.survey.survey import Tree, survey

        view = self._projects.of_root(asked.project_root)
        root = view.project.root
        frontend, backend = (_folder(root, path) for path in (asked.frontend_path, asked.backend_path))
        paths = {path for _, path, _, session in view.store.document_paths() if not session}
        tree = Tree(
            tuple(sorted(paths)), partial(text_in, root), lambda path: detect_language(path) or "", view.rules.edges()
        )
        found = survey(tree, frontend, backend)
        written = write_documents(root, found, view.project.name, self._now(), force=asked.force)
        former = read_decisions(root)
        _decide(
            view,
            Decisions(
                str(root), found.frontend, found.backend, utc_stamp(self._now()),
                former.last_indexed if former else "",
                tuple(sorted({Path(path).suffix for path in paths if Path(path).suffix})), view.settings.index.exclude,
            ),
        )  # fmt: skip
        view.files_changed([*written.written, *written.kept])
        return records.SetUpAnswer(
            str(root), _shown(found.frontend), _shown(found.backend), str(view.project.data_folder), written.written,
            records.DetectedPatterns(
                found.middleware_names, found.response_formats[0].claim if found.response_formats else None,
                found.import_prefixes,
            ),
            _set_up_message(found, written.written), _left_alone(written.left_alone), written.left_alone, written.kept,
        )  # fmt: skip

    def prepare_index(self, asked: IndexRules, report: Report) -> None:
        """Read and cut every file anew, and embed what has no vector yet."""
        view = self._projects.set_up(asked.project_root)
        view.store.forget_digests()
        self._index_began[view.project.root] = time.monotonic()
        index_and_wait(view, report, words_only=view.model(0.0) is None)

    def index(self, asked: IndexRules) -> records.RulesIndexedAnswer:
        """How the index stands after `prepare_index`."""
        view = self._projects.set_up(asked.project_root)
        status, counts = view.status(), view.rules.chunk_counts()
        failed = tuple(
            records.FileError(item.path, item.reason)
            for item in view.store.skipped().values()
            if item.reason.startswith(FAILED)
        )
        if not status.documents:
            raise ProjectUnavailable(f"nothing could be indexed in {status.root}: no file is text that rag-ls reads")
        former = read_decisions(view.project.root) or Decisions(status.root)
        _decide(view, replace(former, last_indexed=utc_stamp(self._now())))
        warning = ""
        if len(failed) * 10 > status.documents:
            warning = f"{len(failed):,} of {status.documents + len(failed):,} files failed: errors names them"
        elif status.pending_embeddings:
            warning = f"{status.pending_embeddings:,} chunks still wait for their vectors; words find them already"
        return records.RulesIndexedAnswer(
            status.root, status.documents, status.chunks, records.CollectionStats(**counts), failed,
            round(time.monotonic() - self._index_began[view.project.root], 2),
            f"{status.documents:,} files are indexed in {status.chunks:,} chunks: {counts['constraints']:,} of constraints, "
            f"{counts['patterns']:,} of patterns", warning,
        )  # fmt: skip


def _decide(view: ProjectView, decisions: Decisions) -> None:
    try:
        write_decisions(view.project.root, decisions)
    except OSError as error:
        folder = view.project.data_folder
        remedy = handles.remedy(error, "make it writable for you")
        raise ProjectUnavailable(f"cannot write {folder} ({error.strerror}); {remedy}") from error


def _folder(root: Path, given: str) -> str:
    """A folder that a caller named, relative to the root. Raises `InvalidRequest`."""
    if not given.strip():
        return ""
    path = root / portable(given)
    if not path.is_dir():
        raise InvalidRequest(f"{given!r} is no folder of {root}")
    relative = Project(root).relative(path)
    return "" if relative == "." else relative


def _shown(folder: str | None) -> str | None:
    return "." if folder == "" else folder


def _left_alone(paths: Sequence[str]) -> str:
    return (
        f"{', '.join(paths)} exist and were left alone; `rag-ls rules setup --force` replaces them and keeps their text beside"
        if paths
        else ""
    )


def _set_up_message(found: Survey, written: Sequence[str]) -> str:
    stacks = ", ".join(dict.fromkeys(f"{stack.language} {stack.role}" for stack in found.stacks)) or "no manifest"
    wrote = f"wrote {', '.join(written)}" if written else "wrote nothing"
    return (
        f"read {found.files:,} files ({stacks}); {wrote}. Read what it says and correct it; rag_index makes the index."
    )
