"""Code hits as agents read them, and the filters that questions about code share."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from rag_ls.chunking.languages import by_alias
from rag_ls.engine.project_view import ProjectView
from rag_ls.engine.requests import DECLARED_KINDS
from rag_ls.errors import InvalidRequest
from rag_ls.model import Hit, StoredChunk
from rag_ls.operations.answers import Json, hit_json
from rag_ls.operations.arguments import Arguments
from rag_ls.project import is_guest
from rag_ls.search import DOCUMENT_KINDS, Filters

KINDS = (*DECLARED_KINDS, *DOCUMENT_KINDS)
_SYNONYMS = {
    "method": "function", "class": "type", "interface": "type", "struct": "type", "enum": "type", "constant": "value",
    "variable": "value", "heading": "section", "docs": "doc", "tests": "test",
}  # fmt: skip
_NAMED_LANGUAGES = 12


def code_json(view: ProjectView, hit: Hit) -> Json:
    """A chunk with its score; with the file to read, and the declaration that it is a part of where its text does not say."""
    record = hit_json(hit)
    text = record.pop("text")
    record["file"] = file_of(view, record["path"])
    if scope := _scope(hit):
        record["scope"] = scope
    return {**record, "text": text}


def file_of(view: ProjectView, path: str) -> str:
    """Where an agent's own tools find a document: absolute, or the URI of one that is no file."""
    return path if is_guest(path) else str(view.project.root / path)


def _scope(hit: Hit) -> str:
    chunk = hit.item.chunk if isinstance(hit.item, StoredChunk) else None
    if chunk is None or chunk.is_declaration or not chunk.symbol:
        return ""
    return "" if chunk.signature in " ".join(chunk.text.split()) else chunk.signature


def kind_of(args: Arguments, kinds: Sequence[str]) -> str:
    """The `kind` that is asked for, by one of its names. Raises `InvalidRequest`."""
    given = args.text("kind").strip().lower()
    kind = _SYNONYMS.get(given, given)
    if kind and kind not in kinds:
        raise InvalidRequest(f"kind = {given!r} is not one of {', '.join(kinds)}")
    return kind


def filters_of(args: Arguments, projects: Sequence[ProjectView], kind: str = "") -> Filters:
    """The filters by document. Raises `InvalidRequest` for a language that the index does not hold."""
    language = _indexed_language(args.text("language").strip().lower(), projects)
    return Filters(language, args.text("path_glob").strip(), kind if kind in DOCUMENT_KINDS else "")


def _indexed_language(wanted: str, projects: Sequence[ProjectView]) -> str:
    if not wanted:
        return ""
    indexed = sorted({item[2] for view in projects for item in view.store.document_paths()})
    names = (wanted, by_alias(wanted) or "")
    if found := next((name for name in names if name in indexed), ""):
        return found
    if not indexed or not all(view.indexing.scanned and not view.store.queue.has_any() for view in projects):
        # It may yet come.
        return names[1] or wanted
    near = difflib.get_close_matches(wanted, indexed, 3, 0.5) or [name for name in indexed if wanted in name][:3]
    meant = f"the nearest are {', '.join(near)}; " if near else ""
    rest = ", ".join(indexed[:_NAMED_LANGUAGES]) + (", …" if len(indexed) > _NAMED_LANGUAGES else "")
    raise InvalidRequest(f"no document in the index is in the language {wanted!r}; {meant}it holds {rest}")
