"""The filters that questions about code share."""

from __future__ import annotations

from collections.abc import Sequence

from rag_ls.engine import ProjectSession
from rag_ls.errors import InvalidRequest
from rag_ls.languages import by_alias, holds_language
from rag_ls.search import DOCUMENT_KINDS, Filters
from rag_ls.util.path_globs import relative_globs
from rag_ls.util.text import nearest, nearest_text

_SYNONYMS = {
    "method": "function", "class": "type", "interface": "type", "struct": "type", "enum": "type", "constant": "value",
    "variable": "value", "heading": "section", "docs": "doc", "tests": "test",
}  # fmt: skip
_MAX_LANGUAGES_NAMED = 12


def read_kind(operation: str, name: str, kinds: Sequence[str]) -> str:
    """The kind that `name` or a synonym of it means. Raises `InvalidRequest`."""
    name = name.strip().lower()
    kind = _SYNONYMS.get(name, name)
    if kind and kind not in kinds:
        raise InvalidRequest(f"{operation}: kind = {name!r} is not one of {', '.join(kinds)}")
    return kind


def make_document_filters(
    language: str, path_glob: str, sessions: Sequence[ProjectSession], kind: str = "", *, elsewhere: bool = False
) -> Filters:
    """The filters by document. `elsewhere`: other documents than those of `views` are searched, too.

    Raises `InvalidRequest` for a language that the index does not hold.
    """
    wanted = _find_language(language.strip().lower(), sessions, elsewhere=elsewhere)
    path_glob = path_glob.strip()
    for session in sessions:
        path_glob = relative_globs(path_glob, str(session.project.root))
    return Filters(wanted, path_glob, kind if kind in DOCUMENT_KINDS else "")


def _find_language(wanted: str, sessions: Sequence[ProjectSession], *, elsewhere: bool) -> str:
    if not wanted:
        return ""
    documents = [(row[2], row[1]) for session in sessions for row in session.store.document_paths()]
    indexed = sorted({language for language, _ in documents})
    names = (wanted, by_alias(wanted) or "")
    if found := next((name for name in names if any(holds_language(name, *each) for each in documents)), ""):
        return found
    if (
        elsewhere
        or not indexed
        or not all(session.indexing.scanned and not session.store.queue.has_any() for session in sessions)
    ):
        # Files that are not read yet, or are not here, may be in this language.
        return names[1] or wanted
    meant = nearest_text(nearest(wanted, indexed))
    rest = ", ".join(indexed[:_MAX_LANGUAGES_NAMED]) + (", …" if len(indexed) > _MAX_LANGUAGES_NAMED else "")
    raise InvalidRequest(f"no document in the index is in the language {wanted!r}; {meant}it holds {rest}")
