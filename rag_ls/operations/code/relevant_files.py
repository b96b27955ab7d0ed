"""Chooses the unread files that a question about code needs first."""

from __future__ import annotations

from collections.abc import Sequence

from rag_ls.chunking import rule_kind
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import RagLsError
from rag_ls.indexing import files_holding
from rag_ls.languages import detect_language
from rag_ls.search.query import analyse
from rag_ls.util.path_globs import glob_matcher, relative_globs
from rag_ls.util.records import dataclass

# The files that hold a question's words, up to this many bytes, answer it nearly as well as all files do (docs/quality.md).
FIRST_BYTES = 1_000_000
_LOOK_S = 0.2
# A question without words reads at most this many of the files that match its pattern.
_MAX_FIRST_FILES = 100


@dataclass(frozen=True, slots=True)
class QuestionScope:
    """The subject of a question, unchecked."""

    text: str = ""
    path: str = ""
    glob: str = ""
    rules: bool = False
    """Whether the documents of rules are read too."""

    def find_named(self, session: ProjectSession, queued: Sequence[str]) -> list[str]:
        """Return the queued files without which there is no answer: the one that is named, and documents of rules."""
        place = self._find_place(session)
        return [path for path in queued if path == place or (self.rules and rule_kind(path) is not None)]

    def choose_holders(self, session: ProjectSession, queued: Sequence[str]) -> list[str]:
        """Return the queued files that hold the words, the best first, as far as a short look finds them."""
        glob = relative_globs(self.glob, str(session.project.root))
        matches = glob_matcher(glob, set(queued)) if glob else None
        allowed = queued if matches is None else [path for path in queued if matches(path)]
        query, roles = analyse(self.text), session.project.roles
        if not query.terms:
            return [*allowed[: _MAX_FIRST_FILES * (matches is not None)]]
        return files_holding(
            session.project.root,
            allowed,
            query.terms,
            most_bytes=FIRST_BYTES,
            largest=session.settings.index.max_file_bytes,
            longest_s=_LOOK_S,
            weight=lambda path: roles.likelihood(query, path, detect_language(path) or "text"),
        )

    def _find_place(self, session: ProjectSession) -> str:
        try:
            return session.relative(self.path) if self.path else ""
        except RagLsError:
            return ""
