"""Anchors of memories: made for a place in the code as a client sees it, and resolved against the present code."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import replace

from rag_ls import memory
from rag_ls.engine.code import places
from rag_ls.engine.code.places import describe_other_checkout
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import InvalidRequest, StoreError
from rag_ls.indexing import NOT_CHECKED_OUT, is_not_checked_out, visibility_of
from rag_ls.model import Anchor, AnchorState, Memory
from rag_ls.project import is_guest
from rag_ls.storage import is_called
from rag_ls.util.files import is_readable_file
from rag_ls.util.text import nearest, nearest_paths, nearest_text

_log = logging.getLogger(__name__)

_MAX_LOGGED = 200
_MAX_DECLARED = 1000
_MAX_FILES_SHOWN = 5


def anchor_to_place(session: ProjectSession, source_file: str | None, line: int, symbol: str) -> Anchor | None:
    """An anchor for a place of a source file, or for the only declaration of a name; None without either.

    A file that does not exist yet gets an anchor for the whole of it, which is orphaned until then. Raises
    `InvalidRequest`, which names the nearest places, or the other checkout that the file is in.
    """
    if not source_file and not symbol:
        if line:
            raise InvalidRequest(f"line = {line} says nothing without source_file: give the path of its file")
        return None
    session.catch_up()
    if source_file:
        path, line, *_ = session.place(source_file, line)
    else:
        path = places.find_declaring(session, symbol, "source_file")
    if not is_guest(path, session.project.root):
        path = _complete_name(session, path)
        session.project.take_in(path)
        if session.document(path) is None and (other := describe_other_checkout(session, path)):
            raise InvalidRequest(other)
        if session.document(path) is None and not os.path.exists(session.project.root / path):
            if ":" in path:
                raise InvalidRequest(f"{source_file} is no place: give a file, or FILE:LINE")
            return Anchor(path, state=AnchorState.ORPHANED)
    elif session.document(path) is None:
        raise InvalidRequest(f"{path} is no file of the project, and no open text: give a path from the project's root")
    return _make_anchor(session, path, line, symbol)


def renew_anchor(session: ProjectSession, item: Memory) -> Anchor | None:
    """The anchor of a confirmed memory, renewed for the present code if that still exists."""
    if item.anchor is None or is_elsewhere(session, item.anchor):
        return item.anchor
    session.catch_up()
    found = resolve_anchor(session, item).anchor
    if found is None or found.state in (AnchorState.ORPHANED, AnchorState.UNKNOWN):
        return item.anchor
    line = found.start_line if found.line_print else 0
    now = _make_anchor(session, found.path, line, "" if line else found.symbol)
    return replace(now, project=item.anchor.project)


def resolve_anchor(session: ProjectSession, item: Memory) -> Memory:
    """The memory with its anchor resolved against the present code."""
    if item.anchor is None or is_elsewhere(session, item.anchor):
        return item
    anchor = item.anchor

    def look() -> Anchor:
        session.project.take_in(anchor.path)
        if fault := visibility_of(session.project.root, session.store).fault_of(anchor.path):
            # The index keeps the former text of such a file.
            raise OSError(fault)
        return _resolve_now(session, anchor, make_anchoring(session))

    return replace(item, anchor=_or_unknown(anchor, look))


def resolve_by_index(session: ProjectSession, item: Memory, anchoring: memory.Anchoring) -> Memory:
    """The memory with its anchor resolved against the index as it stands: hovers and lenses must not index a file."""
    if item.anchor is None or is_elsewhere(session, item.anchor):
        return item
    anchor = item.anchor
    found = _or_unknown(anchor, lambda: _resolve_now(session, anchor, anchoring))
    if found.state is AnchorState.ORPHANED and not _was_read(session, anchor.path):
        return item
    return replace(item, anchor=found)


def make_anchoring(session: ProjectSession) -> memory.Anchoring:
    """Anchors in the documents as the client sees them."""
    hidden = session.hidden_documents()
    return memory.Anchoring(session.store, hidden, session.code_cache)


def is_elsewhere(session: ProjectSession, anchor: Anchor) -> bool:
    """Whether an anchor is in the code of another project."""
    return anchor.project not in ("", str(session.project.root))


def _resolve_now(session: ProjectSession, anchor: Anchor, anchoring: memory.Anchoring) -> Anchor:
    """The anchor with its present place and state; a file that is not for the index is there or not as a whole.

    Raises `OSError` for a file of which nothing is found, but which cannot be read just now.
    """
    found = anchoring.resolve(anchor)
    if found.state is not AnchorState.ORPHANED or is_guest(anchor.path, session.project.root):
        return found
    is_whole_file = not (anchor.symbol or anchor.content_hash)
    is_there = is_readable_file(session.project.root / anchor.path)
    if not is_there and is_not_checked_out(session.project.root, anchor.path):
        raise OSError(NOT_CHECKED_OUT)
    if not (is_whole_file and is_there):
        return found
    # The index of this project never holds files of another checkout.
    is_known = not describe_other_checkout(session, anchor.path)
    return replace(found, state=AnchorState.FRESH if is_known else AnchorState.UNKNOWN)


def _was_read(session: ProjectSession, path: str) -> bool:
    """Whether the file was read, so that its absence from the index means something."""
    checkout = session.store
    return checkout.document(path) is not None or not (session.project.never_indexed or checkout.queue.holds(path))


def _or_unknown(anchor: Anchor, look: Callable[[], Anchor]) -> Anchor:
    """The anchor as its place shows it now. Where the place cannot be read, its state is unknown, and other memories are still told."""
    try:
        return look()
    except StoreError:
        # The index itself is damaged, and is rebuilt.
        raise
    except Exception as error:
        _log.info("the place of a memory, %s, cannot be told: %r", anchor.path[:_MAX_LOGGED], error)
        return replace(anchor, state=AnchorState.UNKNOWN)


def _make_anchor(session: ProjectSession, path: str, line: int, symbol: str) -> Anchor:
    """An anchor for a place in a document; for the whole document, if it is not indexed or no place is given.

    Raises `InvalidRequest` for a symbol or line that the document does not have.
    """
    document = session.document(path)
    if document is None or not (symbol or line):
        return Anchor(path, file_hash=document.sha256 if document else "")
    anchoring = make_anchoring(session)
    if not symbol:
        return anchoring.to_line(places.chunk_at(session, path, line), line)
    declared = [item.symbol for item in session.store.outlines.of_documents([document.id], _MAX_DECLARED)]
    meant = list(dict.fromkeys(name for name in declared if is_called(name, symbol)))
    if symbol not in meant and len(meant) > 1:
        raise InvalidRequest(f"{path} declares several {symbol!r}: give one of {', '.join(meant[:_MAX_FILES_SHOWN])}")
    found = anchoring.to_symbol(document, symbol)
    if found is None:
        raise InvalidRequest(
            f"{path} declares no {symbol!r}; {nearest_text(nearest(symbol, declared))}give another symbol, or a line instead"
        )
    return found


def describe_missing(session: ProjectSession, anchor: Anchor | None) -> str:
    """A note on an anchor's file that does not exist yet; empty where it does."""
    if anchor is None or anchor.state is not AnchorState.ORPHANED:
        return ""
    near = nearest_text(nearest_paths(anchor.path, _known_files(session)))
    return f"{anchor.path} does not exist yet: {near}the memory is about the whole file once it does"


def _known_files(session: ProjectSession) -> list[str]:
    return [*session.store.documents(), *session.store.skipped()]


def _complete_name(session: ProjectSession, path: str) -> str:
    """The project path that a bare name of a file means: that of the only file that is called so. Other paths stay.

    Raises `InvalidRequest`, which names the files that may be meant.
    """
    if "/" in path or session.document(path) is not None or os.path.exists(session.project.root / path):
        return path
    same_name = sorted(file for file in _known_files(session) if file.rpartition("/")[2] == path)
    if len(same_name) > 1:
        listed = ", ".join(same_name[:_MAX_FILES_SHOWN])
        raise InvalidRequest(f"{path} does not exist; {len(same_name)} files are called {path}: {listed}")
    return same_name[0] if same_name else path
