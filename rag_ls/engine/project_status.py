"""The state of a project's index, as a client's session tells it: what is done, what was left out, and the answering model."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rag_ls.config import Settings, load_settings, off_branch
from rag_ls.engine.requests import ProjectStatus
from rag_ls.errors import ModelMissing, StoreUnavailable
from rag_ls.indexing import Patterns, describe_unknown_languages, rule_files, rules_note
from rag_ls.languages import detect_language
from rag_ls.project import Project
from rag_ls.search import BY_PATH, NO_FILTERS, Filters, Roles, accepts
from rag_ls.storage import CheckoutIndex
from rag_ls.util.paths import compose, file_stamp
from rag_ls.util.records import dataclass
from rag_ls.util.secret_texts import describe_secret_lines
from rag_ls.util.text import count_of

if TYPE_CHECKING:
    from rag_ls.engine.open_project import OpenProject
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


# Reasons of files without text of the project: pictures, programs, and links to files that are indexed elsewhere.
_NO_TEXT = frozenset({"binary", "symbolic link", "not a regular file", "outside the project"})
# Reasons of files that seldom hold what is looked for, and are often many: they come after those that may hide code.
_SELDOM_MEANT = frozenset({"secret", "data", "generated", "minified"})
_MAX_REASONS = 4


def count_left_out(store: CheckoutIndex, filters: Filters = NO_FILTERS, roles: Roles = BY_PATH) -> Counter[str]:
    """The files that are not indexed, pass the filters and may hold text, by reason."""
    if filters == NO_FILTERS:
        # Asked at each question that is a name, so this must look at no file.
        return without_textless(Counter(store.skipped_counts()))
    skipped = store.skipped()
    passes = accepts(filters, roles, set(map(compose, skipped)))
    reasons = (each.reason for path, each in skipped.items() if passes(path, detect_language(path) or "text"))
    return without_textless(Counter(reasons))


def count_secret_lines(store: CheckoutIndex, filters: Filters = NO_FILTERS, roles: Roles = BY_PATH) -> Counter[str]:
    """The lines that look like secrets, of the documents that pass the filters, by path."""
    found = store.secret_lines()
    if not found or filters == NO_FILTERS:
        return Counter(found)
    passes = accepts(filters, roles, set(map(compose, found)))
    return Counter({path: count for path, count in found.items() if passes(path, detect_language(path) or "text")})


def without_textless(counts: Mapping[str, int]) -> Counter[str]:
    """The counts, by reason, of the files that may hold text."""
    return Counter({reason: count for reason, count in counts.items() if reason not in _NO_TEXT})


def describe_left_out(counts: Counter[str], store: CheckoutIndex | None = None) -> str:
    """Counts of files that are not indexed, in words, with one of them if their store is given; empty if there are none."""
    if not counts:
        return ""
    named = sorted(counts.items(), key=lambda item: (item[0] in _SELDOM_MEANT, -item[1]))[:_MAX_REASONS]
    total = counts.total()
    others = total - sum(count for _, count in named)
    reasons = ", ".join(
        [*(f"{count:,} {reason}" for reason, count in named), *([f"{others:,} more"] if others else [])]
    )
    example = "; e.g. " + "".join(store.skipped_because(named[0][0], 1)) if store else ""
    files = f"{count_of(total, 'file')} {'was' if total == 1 else 'were'}"
    return f"{files} not looked at ({reasons}{example}): index_status with skipped = true lists them"


_PATTERNS = "patterns"
_EVERYTHING = Patterns(("*",))
_KEPT = "the patterns that it had before still count"
_UNKNOWN = "what it excludes is not known, so nothing is indexed until it is mended"


class Exclusions:
    """Keeps the patterns in force. A settings file that cannot be read never lets more files in."""

    def __init__(self, project: Project, store: CheckoutIndex) -> None:
        self._project = project
        self._store = store
        self.patterns = _EVERYTHING
        self.are_known = True
        """Whether the patterns could ever be read: else nothing is indexed."""
        self._doubt = ""
        self._stamps: dict[Path, tuple[int, int]] = {}

    def update(self, settings: Settings) -> None:
        """Take over the patterns of new settings, and look at the files that they come from."""
        self._stamps = {file: file_stamp(file) for file in rule_files(self._project.root)}
        problems = load_settings(self._project, environment={}).problems
        wanted = Patterns.of(settings.index)
        hiding = next((problem for problem in problems if problem.hides_patterns), None)
        if hiding is None:
            self.patterns, self.are_known, self._doubt = wanted, True, ""
            # On a full disk the former patterns stay written; the new ones count all the same.
            with contextlib.suppress(StoreUnavailable):
                if self._read_former() != wanted:
                    self._store.set_meta(_PATTERNS, json.dumps([wanted.exclude, wanted.include, wanted.submodules]))
            return
        former = self._read_former()
        self.are_known = former is not None
        self._doubt = f"{hiding.source} cannot be used: {_KEPT if self.are_known else _UNKNOWN}"
        if former is None:
            self.patterns = _EVERYTHING
        else:
            exclude = tuple(dict.fromkeys((*former.exclude, *wanted.exclude)))
            self.patterns = Patterns(
                exclude, wanted.include or former.include, submodules=wanted.submodules and former.submodules
            )

    def _read_former(self) -> Patterns | None:
        """The patterns when the settings could last be read."""
        kept = self._store.meta(_PATTERNS)
        if not kept:
            return None
        exclude, include, *rest = json.loads(kept)
        return Patterns(tuple(exclude), tuple(include), submodules=all(rest))

    def are_outdated(self) -> bool:
        """Whether one of git's rule files outside the tree, which nobody watches, changed since the last `update`."""
        return any(file_stamp(file) != stamp for file, stamp in self._stamps.items())

    @property
    def note(self) -> str:
        """The reason why files may be left out that belong in the index, with the remedy; empty where the rules are known."""
        return "; ".join(filter(None, (self._doubt, rules_note(self._store))))


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """The model whose vectors a project's index answers with."""

    id: str
    """Empty where there is none."""
    is_ready: bool
    note: str
    """The reason why it is not the configured one, or does not answer as it should; empty where all is well."""


def describe_model(project: OpenProject) -> ModelDescription:
    """The model that answers, which is loaded if it was not; with a note for the user."""
    models, indexing, served = project.engine.models, project.indexing, project.index.served
    if models.is_off:
        return ModelDescription("", False, describe_share_problem(project))
    try:
        configured = models.configured().id
    except ModelMissing as error:
        return ModelDescription("", False, str(error))
    active = project.index.checkout.embeddings.active_model() or configured
    state = models.state(active)
    if not state.ready:
        models.get(active)
    waits = indexing.embeddings.waits_for
    note = state.error or (_describe_change(project, active, configured) if active != configured else "")
    if served and served.questions.problem:
        note = note or f"found by words alone, since the vectors are away: {served.questions.problem}"
    note = note or describe_share_problem(project)
    note = note or (waits and f"embedding waits: {waits}")
    return ModelDescription(active, state.ready, note)


def describe_share_problem(project: OpenProject) -> str:
    """The reason why vectors or memories are not shared with the team; empty if they are, or are not to be."""
    if problem := project.indexing.embeddings.sharing.problem:
        return f"vectors are not shared: {problem}"
    return project.memories.files.problem


def _describe_change(project: OpenProject, active: str, configured: str) -> str:
    """The progress of the change from the answering model to the configured one."""
    if waits := project.indexing.embeddings.waits_for:
        how = f" waits: {waits}"
    elif not project.indexing.is_asked:
        how = " goes on while an editor or agent has the project open, or with `rag-ls index`"
    else:
        how = ""
    return f"re-embedding with {configured}{how}; {active} answers until then"
