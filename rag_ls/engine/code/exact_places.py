"""Finds all places of a literal text or regular expression, as a client sees the project: unsaved and unread files included."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence

from rag_ls.chunking import recognise
from rag_ls.engine.project_status import (
    count_left_out,
    count_secret_lines,
    describe_left_out,
    without_textless,
)
from rag_ls.engine.published import PublishedCode
from rag_ls.engine.session import ProjectSession
from rag_ls.indexing import Rejected
from rag_ls.model import Freshness, Occurrence
from rag_ls.search import (
    NO_FILTERS,
    Filters,
    MatchingLines,
    Occurrences,
    OrderedDocument,
    PlaceInDocument,
    TextPattern,
    TextQuery,
    View,
    accepts,
    find_occurrences,
    part_keys,
    show_places,
)
from rag_ls.storage import DISK, SearchedDocuments
from rag_ls.util.paths import compose
from rag_ls.util.records import dataclass, field, replace
from rag_ls.util.secret_texts import Blanked, describe_secret_lines
from rag_ls.util.text import count_of, end_lines_in_lf

_MAX_SYMBOLS = 200_000
_MAX_DECLARED = 1000
# If files change while they are searched, they are searched again up to this many times.
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class PlacesRequest:
    """Literal texts or regular expressions, of which the first that stands anywhere is meant, and the part of its places to give.

    The usual limits are those beside hits, where exact places must not take longer than these.
    """

    queries: tuple[TextQuery, ...]
    filters: Filters = NO_FILTERS
    count: int = 10
    """The number of places to give, the best first."""
    offset: int = 0
    """The number of places to pass over."""
    files_only: bool = False
    """Give only the first place of each file."""
    counted: int = 2000
    """Look into no more documents once there are so many places."""
    longest_s: float = 1.0
    """Look into no more documents after so many seconds."""

    @property
    def query(self) -> TextQuery:
        """The first text or expression."""
        return self.queries[0]

    @property
    def first(self) -> int:
        """The number of places to find."""
        return self.offset + self.count


@dataclass(frozen=True, slots=True)
class PlacesFound:
    """The first places, and how many there are in all."""

    places: tuple[Occurrence, ...]
    total: int
    whole: int
    """Those that are whole words."""
    files: int
    unread: int = 0
    """The number of files that were not looked into, for want of time or because there are more places than are counted."""
    waiting: int = 0
    """Those of them that wait to be read into the index."""
    is_cut: bool = False
    """Whether that is because there are more places."""
    skipped: Counter[str] = field(default_factory=Counter)
    """The files that the index leaves out, by reason."""
    secret_lines: Counter[str] = field(default_factory=Counter)
    """The lines that look like secrets, by path."""
    is_listed: bool = True
    """Whether all files are known that the last comparison could find."""
    is_seen: bool = True
    """Whether no file can have changed since that comparison without notice."""
    note: str = ""
    """The reason why no file passes the filters, or why the pattern may find less than was meant."""

    @property
    def is_whole(self) -> bool:
        """Whether all files of the index and its queue were looked into."""
        return self.is_listed and self.is_seen and not self.unread


def find_places(session: ProjectSession, request: PlacesRequest) -> PlacesFound:
    """All places in a project. Raises `InvalidRequest` for a pattern that is none."""
    pattern, deadline = TextPattern(request.query), time.monotonic() + request.longest_s
    unseen = session.catch_up()
    looked = _Look(session, pattern, request, deadline)
    files = looked.choose_files([*session.store.queue.paths(), *_keep_admitted(session, unseen)])
    # The index first, since it takes little of the time: reading thousands of files would leave it none.
    looked.look_into_index()
    looked.look_into_files(files)
    first = looked.first_places()
    notes = (
        looked.explain_filters() or pattern.note,
        session.project.exclusions.note,
        session.project.unread_note,
    )
    return replace(
        _count_places(looked.found, request.counted, looked.waiting),
        places=tuple(show_places(session.store, first, _MAX_SYMBOLS)),
        skipped=count_left_out(session.store, request.filters, session.project.roles) + without_textless(looked.skipped),
        secret_lines=count_secret_lines(session.store, request.filters, session.project.roles) | looked.secret_lines,
        is_listed=session.indexing.scanned and not session.indexing.comparison.is_awaited,
        is_seen=not session.project.is_unseen,
        note="; ".join(filter(None, notes)),
    )  # fmt: skip


def find_published_places(code: PublishedCode, request: PlacesRequest) -> PlacesFound:
    """All places in code that a team published. Raises `InvalidRequest`, `NotFound`, `StoreUnavailable`."""
    pattern = TextPattern(request.query)

    def look(documents: SearchedDocuments, view: View) -> PlacesFound:
        deadline = time.monotonic() + request.longest_s
        found = find_occurrences(documents, pattern, view, deadline, at_most=request.counted)
        first = found.choose_first({}, request.first, files_only=request.files_only)
        places = tuple(show_places(documents, first, _MAX_SYMBOLS))
        return replace(_count_places(found, request.counted), places=places, note=pattern.note)

    return code.look(request.filters, look)


def _count_places(found: Occurrences, counted: int, waiting: int = 0) -> PlacesFound:
    total, unread = found.lines, found.unread + waiting
    return PlacesFound(
        places=(),
        total=total,
        whole=found.whole,
        files=found.file_count,
        unread=unread,
        waiting=waiting,
        is_cut=bool(unread) and total >= counted,
    )


class _Look:
    """One look at a project: its index, and the files that differ from it."""

    def __init__(self, session: ProjectSession, pattern: TextPattern, request: PlacesRequest, deadline: float) -> None:
        self._session = session
        self._pattern = pattern
        self._request = request
        self._filters = request.filters
        self._deadline = deadline
        self._view = session.project.searcher.view(session.editing_session, request.filters)
        self._as_they_are: set[str] = set()
        self.found = Occurrences()
        """The places of the index and those of files."""
        self.waiting = 0
        self.skipped: Counter[str] = Counter()
        self.secret_lines: Counter[str] = Counter()

    def choose_files(self, paths: Iterable[str]) -> list[tuple[str, Blanked | None]]:
        """The files to look into as they are now, in place of what the index has of them, with unsaved text."""
        in_index = {doc.path for doc in self._session.store.unsaved_documents() if doc.id not in self._view.hidden}
        texts = {path: self._session.unsaved_text(path) for path in paths if path not in self._as_they_are}
        # An unsaved text of another client, which the index holds, counts in place of the file.
        chosen = [(path, text) for path, text in texts.items() if text is not None or path not in in_index]
        self._as_they_are.update(path for path, _ in chosen)
        return chosen

    def look_into_files(self, files: Sequence[tuple[str, Blanked | None]]) -> None:
        """Look into chosen files."""
        if not files:
            return
        rows = self._session.store.document_paths() if self._filters.path_glob else ()
        known = {*(compose(row[1]) for row in rows), *(compose(path) for path, _ in files)}
        matches = accepts(Filters(path_glob=self._filters.path_glob), self._view.roles, known)
        passes = accepts(self._filters, self._view.roles, known)
        found = (self._look_into_file(path, own, passes) for path, own in files if matches(path, ""))
        self.found = replace(self.found, parts=(*self.found.parts, *filter(None, found)))

    def _look_into_file(
        self, path: str, own: Blanked | None, passes: Callable[[str, str], bool]
    ) -> MatchingLines | None:
        if time.monotonic() > self._deadline:
            self.waiting += 1
            return None
        if own is None:
            source = self._session.project.documents.read(path)
            if isinstance(source, Rejected):
                self.skipped[source.reason] += not source.gone
                return None
            own = Blanked(source.text, source.secret_lines)
        language = recognise(path, own.text) or "text"
        if not passes(path, language):
            return None
        if own.lines:
            self.secret_lines[path] = own.lines
        document = OrderedDocument(self._view.roles.place_in_order(path, language), path, DISK, 0)
        found = MatchingLines.of_file(
            self._pattern, document, end_lines_in_lf(own.text.encode("utf-8", "surrogatepass"))
        )
        return found if len(found.ranks) else None

    def look_into_index(self) -> None:
        """Look into the documents of the index."""
        self.found = find_occurrences(
            self._session.store, self._pattern, self._view, self._deadline, frozenset(self._as_they_are),
            self._request.counted,
        )  # fmt: skip

    def explain_filters(self) -> str:
        """The reason why no file passes the filters; empty where one does."""
        if self.found.file_count or self._view.allowed is None or self._view.allowed:
            return ""
        return "; ".join(self._session.explain_filters(self._request.filters))

    def first_places(self) -> list[PlaceInDocument]:
        """The first places in order, each in a text that is as its file is now."""
        request = self._request
        declared = self._find_declared(request.query)
        for _ in range(_ROUNDS):
            first = self.found.choose_first(declared, request.first, files_only=request.files_only)
            if not (stale := self._find_changed(place.document for place in first)):
                break
            self.found = self.found.without(stale)
            self.look_into_files(self.choose_files(stale))
        return first

    def _find_changed(self, shown: Iterable[OrderedDocument]) -> list[str]:
        """The files whose text in the index is not theirs any more."""
        store, project = self._session.store, self._session.project
        paths = {each.path for each in shown if each.document_id and each.session == DISK}
        documents = [document for path in sorted(paths) if (document := store.document(path))]
        return [each.path for each in documents if project.freshness(each) is not Freshness.DISK]

    def _find_declared(self, query: TextQuery) -> dict[str, frozenset[int]]:
        """The lines that declare the name that is looked for, by path."""
        if query.is_regex or not query.pattern.strip().isidentifier():
            return {}
        symbols = self._session.store.outlines.named([query.pattern.strip().lower()], _MAX_DECLARED)
        symbols, _ = part_keys(symbols, lambda symbol: symbol.language)
        found: dict[str, set[int]] = {}
        for symbol in symbols:
            found.setdefault(symbol.path, set()).add(symbol.start_line)
        return {path: frozenset(lines) for path, lines in found.items()}


def _keep_admitted(session: ProjectSession, paths: Collection[str]) -> list[str]:
    """The documents among `paths` that are in the index, or may be."""
    store = session.store
    known = {path for path in paths if store.document(path) or store.document(path, session.editing_session)}
    unknown = [path for path in paths if path not in known]
    return sorted(known | (session.project.admissions.files(unknown) if unknown else set()))


def describe_gaps(found: PlacesFound) -> str:
    """The files that were not looked into, in words; empty if all were."""
    parts = [found.note] if found.note else []
    if not found.is_listed:
        parts.append("files are still being listed: ask again in a moment")
    if found.is_cut:
        parts.append(f"{count_of(found.unread, 'more file')} may hold it: match = exact counts all lines")
    elif found.waiting:
        late = count_of(found.waiting, "file is not read yet and was", "files are not read yet and were")
        parts.append(f"{late} not looked into in time: index_status with wait_s waits until they are read")
    if found.unread > found.waiting and not found.is_cut:
        late = count_of(found.unread - found.waiting, "file")
        parts.append(f"{late} could not be looked into in time: narrow the search by path")
    if found.skipped:
        so_far = "" if found.is_listed else "so far "
        parts.append(so_far + describe_left_out(found.skipped))
    if found.secret_lines:
        parts.append(describe_secret_lines(found.secret_lines))
    return "; ".join(parts)
