"""The state of a project's index, as a client's session tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_ls.config.known_projects import off_branch
from rag_ls.engine.answering_model import describe_model, describe_share_problem
from rag_ls.engine.left_out import count_secret_lines
from rag_ls.engine.requests import ProjectStatus
from rag_ls.indexing import describe_unknown_languages
from rag_ls.util.secret_texts import describe_secret_lines

if TYPE_CHECKING:
    from rag_ls.engine.session import ProjectSession


def read_status(session: ProjectSession) -> ProjectStatus:
    """Return what is done, and what is left to do."""
    if not session.indexing.inbox.due_in_s:
        session.project.catch_up()
    # Read the counts in the order of the work. A file that moves on meanwhile is then counted twice, and never missed.
    scanned, unseen = session.indexing.scanned, session.indexing.inbox.paths()
    counts = session.project.counts()
    pending = counts.pending_embeddings
    model = describe_model(session.project)
    off = off_branch(session.settings.index.branch, session.project.root)
    # Show all notes: some are told only once, and must neither hide others nor be lost behind them.
    notes = (
        session.indexing.problem,
        session.project.exclusions.note,
        session.project.index.file.why_remade,
        session.indexing.inbox.unread_note,
        describe_secret_lines(count_secret_lines(session.store)),
        model.note,
        session.memories.damage(),
        session.memories.take_note(),
        off,
        describe_unknown_languages(session.project.settings.languages.map),
    )
    note = "; ".join(filter(None, notes))
    queued = counts.queued_documents + len(unseen)
    return ProjectStatus(
        root=str(session.project.root), documents=counts.documents, chunks=counts.chunks, queued_documents=queued,
        pending_embeddings=pending, coverage=session.coverage_of(counts), buffers=counts.buffers,
        skipped=session.store.skipped_counts(),
        complete=scanned and session.knows_all_files and not queued and not pending,
        scanned=scanned, model=model.id, model_ready=model.is_ready, note=note,
        sync=session.project.sync_state, last_sync=session.project.last_sync,
        progress=session.indexing.activity, memories=session.memories.counts(),
        share_problem=describe_share_problem(session.project),
    )  # fmt: skip
