"""Anchors memories to places in the code, and finds these places again after changes.

An anchor keeps fingerprints of its declaration (see `fingerprints`): it is fresh while every token is as it was, and it follows
a declaration that is moved, or renamed with about the same body, even where its file was renamed too.
"""

from __future__ import annotations

import base64
import threading
import zlib
from collections import OrderedDict
from collections.abc import Collection, Sequence
from operator import itemgetter
from pathlib import PurePosixPath

from rag_ls.memory.fingerprints import CodeFingerprint, fingerprint_code, fingerprint_line, similarity
from rag_ls.model import Anchor, AnchorState, Chunk
from rag_ls.storage import CheckoutIndex, ChunkRow, DocumentRecord, StoredSymbol, is_called, last_name
from rag_ls.util.records import dataclass, replace

# From this similarity on, a declaration with a new name is taken for a renamed one.
_MIN_RENAMED_LIKENESS = 0.6
# Below this similarity, a declaration of the same name elsewhere is another one.
_MIN_NAMESAKE_LIKENESS = 0.3
_MAX_SYMBOLS = 5000
_MAX_NAMESAKES = 50
_MAX_NEIGHBOURS = 200
_MAX_SUCCESSORS = 100
# Shorter bodies are too common to recognise a declaration in another file.
_MIN_TELLING_LINES = 3
_MAX_CACHED = 16


@dataclass(frozen=True, slots=True)
class _Region:
    """A declaration, or a chunk that is part of none, as it is now."""

    path: str
    symbol: str
    start_line: int
    end_line: int
    language: str
    code: _Code

    @property
    def fingerprint(self) -> CodeFingerprint:
        return self.code.fingerprint_of(self)


class _Code:
    """The text of a document with its declarations, and the fingerprints that were made of it."""

    def __init__(self, text: str, declared: Sequence[StoredSymbol] = (), first_line: int = 1) -> None:
        self.declared = declared
        self._lines = text.split("\n")
        self._first_line = first_line
        self._fingerprints: dict[tuple[int, int, str], CodeFingerprint] = {}
        self._line_fingerprints: dict[int, str] = {}

    def line(self, number: int) -> str:
        """A line; empty for one that is not there."""
        at = number - self._first_line
        return self._lines[at] if 0 <= at < len(self._lines) else ""

    def fingerprint_of(self, region: _Region) -> CodeFingerprint:
        """The fingerprint of a part of the text."""
        key = (region.start_line, region.end_line, region.symbol)
        if key not in self._fingerprints:
            at = region.start_line - self._first_line
            text = "\n".join(self._lines[at : at + region.end_line - region.start_line + 1])
            self._fingerprints[key] = fingerprint_code(text, region.language, region.symbol.rsplit(".", 1)[-1])
        return self._fingerprints[key]

    def line_fingerprint_of(self, number: int, language: str) -> str:
        """The fingerprint of a line."""
        if number not in self._line_fingerprints:
            self._line_fingerprints[number] = fingerprint_line(self.line(number), language)
        return self._line_fingerprints[number]


class CodeCache:
    """The code of the documents in which anchors were looked up last. Safe from several threads."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[int, str], _Code] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, document: DocumentRecord, store: CheckoutIndex) -> _Code:
        """A document's code; it is read once for each version of the document."""
        key = (document.id, document.sha256)
        with self._lock:
            if (known := self._known.get(key)) is not None:
                self._known.move_to_end(key)
                return known
        code = _Code(store.chunks.text_of(document.id), store.outlines.of_documents([document.id], _MAX_SYMBOLS))
        with self._lock:
            self._known[key] = code
            while len(self._known) > _MAX_CACHED:
                self._known.popitem(last=False)
        return code


class Anchoring:
    """Makes anchors to places in the documents of a checkout, and resolves them."""

    def __init__(
        self, store: CheckoutIndex, hidden: Collection[int] = frozenset(), cache: CodeCache | None = None
    ) -> None:
        """`hidden` holds the documents that another version of the same file replaces."""
        self._store = store
        self._hidden = hidden
        self._cache = cache or CodeCache()
        self._listed: list[DocumentRecord] | None = None

    def to_line(self, row: ChunkRow, line: int) -> Anchor:
        """An anchor to a line of a chunk, in the innermost declaration there."""
        declared = self._load_symbols(row.document)
        around = [item for item in declared if item.start_line <= line <= item.end_line]
        found = min(around, key=lambda item: item.end_line - item.start_line) if around else None
        region = self._region(row.document, found) if found else _of_chunk(row)
        anchor = Anchor(
            region.path, region.symbol, row.stored.content_hash, line,
            line_offset=max(0, line - region.start_line),
            line_print=region.code.line_fingerprint_of(line, region.language),
            neighbours=_neighbours(declared),
        )  # fmt: skip
        return _set_fingerprint(anchor, region)

    def to_symbol(self, document: DocumentRecord, symbol: str) -> Anchor | None:
        """An anchor to a declaration by its qualified name or the last part of it; None if there is none."""
        declared = self._load_symbols(document)
        named = [item for item in declared if is_called(item.symbol, symbol)]
        if not named:
            return None
        row = self._store.chunks.at(document.id, named[0].start_line)
        digest = row.stored.content_hash if row else ""
        anchor = Anchor(document.path, named[0].symbol, digest, named[0].start_line, neighbours=_neighbours(declared))
        return _set_fingerprint(anchor, self._region(document, named[0]))

    def resolve(self, anchor: Anchor) -> Anchor:
        """The anchor with its present place and state; it follows code that was moved or renamed."""
        if not anchor.fingerprint:
            return self._resolve_by_text(anchor)
        document = self._document(anchor.path)
        if not anchor.symbol:
            return self._resolve_text_region(anchor, document)
        best = _closest(self._find_regions(document, anchor.symbol), anchor) if document else None
        if best is not None and best.fingerprint.exact == anchor.fingerprint:
            return _at(anchor, best, AnchorState.FRESH)
        likeness = similarity(best.fingerprint.sketch, anchor.sketch) if best else 0.0
        if (best is None or likeness < _MIN_NAMESAKE_LIKENESS) and (elsewhere := self._follow_move(anchor)) is not None:
            return elsewhere
        if best is not None:
            return _at(anchor, best, AnchorState.DRIFTED)
        renamed = self._follow_rename(anchor, document) if document else self._follow_rename_in_moved_file(anchor)
        return renamed or replace(anchor, state=AnchorState.ORPHANED)

    # --- declarations

    def _follow_move(self, anchor: Anchor) -> Anchor | None:
        """The declaration of the same name in another file: the same code, else the only one like it."""
        named = self._store.outlines.named([last_name(anchor.symbol)], _MAX_NAMESAKES)
        found = []
        for item in named:
            if (
                not is_called(item.symbol, anchor.symbol.rsplit(".", 1)[-1])
                or item.document_id in self._hidden
                or item.path == anchor.path
            ):
                continue
            document = self._store.document(item.path)
            if document is not None and document.id == item.document_id:
                found.append(self._region(document, item))
        for region in found:
            if region.fingerprint.exact == anchor.fingerprint:
                return _at(anchor, region, AnchorState.FRESH)
        alike = [
            region for region in found if similarity(region.fingerprint.sketch, anchor.sketch) >= _MIN_NAMESAKE_LIKENESS
        ]
        return _at(anchor, alike[0], AnchorState.DRIFTED) if len(alike) == 1 else None

    def _follow_rename(self, anchor: Anchor, document: DocumentRecord) -> Anchor | None:
        """The declaration of the file that has a new name and about the same body; None if several are as close."""
        regions = self._unknown_regions(anchor, document)
        same = [region for region in regions if region.fingerprint.body == anchor.body]
        if same:
            nearest = min(same, key=lambda region: abs(region.start_line - anchor.start_line))
            return _at(anchor, nearest, AnchorState.FRESH)
        return _most_alike(anchor, regions)

    def _follow_rename_in_moved_file(self, anchor: Anchor) -> Anchor | None:
        """As `_follow_rename`, where the file was renamed in its folder too, or moved with its name.

        The new file is the only one that declares most of the anchored declaration's neighbours. Without such a file, the
        declaration is the only one with the same body.
        """
        successors = self._successors(anchor.path)
        known = _known_names(anchor.neighbours)
        heirs = [document for document in successors if 2 * len(self._names(document) & known) >= max(2, len(known))]
        if len(heirs) == 1 and (found := self._follow_rename(anchor, heirs[0])) is not None:
            return found
        regions = [region for document in successors for region in self._unknown_regions(anchor, document)]
        same = [
            region
            for region in regions
            if region.fingerprint.body == anchor.body and region.end_line - region.start_line >= _MIN_TELLING_LINES
        ]
        return _at(anchor, same[0], AnchorState.FRESH) if len(same) == 1 else None

    def _names(self, document: DocumentRecord) -> set[bytes]:
        return {_name_hash(item.symbol) for item in self._load_symbols(document)}

    def _successors(self, path: str) -> list[DocumentRecord]:
        """The files that a missing file may have become: files of its name, and files of its suffix in its folder."""
        gone = PurePosixPath(path)
        found = [
            item
            for item in self._files()
            if (now := PurePosixPath(item.path)).name == gone.name
            or (now.parent == gone.parent and now.suffix == gone.suffix)
        ]
        return found[:_MAX_SUCCESSORS]

    def _unknown_regions(self, anchor: Anchor, document: DocumentRecord) -> list[_Region]:
        """The declarations of a file that were not neighbours of the anchored one: one of them may be its new name."""
        known = _known_names(anchor.neighbours)
        return [
            self._region(document, item)
            for item in self._load_symbols(document)
            if _name_hash(item.symbol) not in known
        ]

    def _resolve_text_region(self, anchor: Anchor, document: DocumentRecord | None) -> Anchor:
        """Resolve an anchor to text outside declarations: to the same text if it is found, else to the chunk at its line."""
        same = self._keep_visible(self._store.chunks.with_content(anchor.content_hash))
        here = [_of_chunk(row) for row in same if document and row.document_id == document.id]
        if document and not here and (row := self._store.chunks.at(document.id, anchor.start_line)):
            here = [_of_chunk(row)]
        best = _closest(here, anchor)
        if best is not None and best.fingerprint.exact == anchor.fingerprint:
            return _at(anchor, best, AnchorState.FRESH)
        if same:
            return _at(anchor, _of_chunk(same[0]), AnchorState.FRESH)
        if best is not None:
            return _at(anchor, best, AnchorState.DRIFTED)
        return replace(anchor, state=AnchorState.ORPHANED)

    def _document(self, path: str) -> DocumentRecord | None:
        """The version of a document that is not hidden."""
        on_disk = self._store.document(path)
        if on_disk is not None and on_disk.id not in self._hidden:
            return on_disk
        versions = [item for item in self._store.unsaved_documents() if item.path == path]
        return next((item for item in versions if item.id not in self._hidden), None)

    def _load_symbols(self, document: DocumentRecord) -> Sequence[StoredSymbol]:
        return self._cache.of(document, self._store).declared

    def _find_regions(self, document: DocumentRecord, symbol: str) -> list[_Region]:
        return [self._region(document, item) for item in self._load_symbols(document) if item.symbol == symbol]

    def _region(self, document: DocumentRecord, item: StoredSymbol) -> _Region:
        return _make_region(item, self._cache.of(document, self._store))

    def _keep_visible(self, rows: Sequence[ChunkRow]) -> list[ChunkRow]:
        return [row for row in rows if row.document_id not in self._hidden]

    # --- anchors of former versions, and of whole files

    def _resolve_by_text(self, anchor: Anchor) -> Anchor:
        """As `resolve`, for an anchor without a fingerprint: it has the hash of a chunk, or just a path."""
        same_text = self._keep_visible(
            self._store.chunks.with_content(anchor.content_hash) if anchor.content_hash else []
        )
        if same_text:
            here = [row for row in same_text if row.stored.chunk.path == anchor.path]
            found = (here or same_text)[0].stored.chunk
            return replace(anchor, path=found.path, start_line=found.start_line, state=AnchorState.FRESH)
        same_symbol = self._keep_visible(self._store.chunks.of_symbol(anchor.symbol) if anchor.symbol else [])
        here = [row for row in same_symbol if row.stored.chunk.path == anchor.path]
        if here or len(same_symbol) == 1:
            found = (here or same_symbol)[0].stored.chunk
            return replace(anchor, path=found.path, start_line=found.start_line, state=AnchorState.DRIFTED)
        if not anchor.symbol and self._store.document(anchor.path) is not None:
            return replace(anchor, state=AnchorState.DRIFTED if anchor.content_hash else AnchorState.FRESH)
        copies = [item.path for item in self._files() if item.sha256 == anchor.file_hash] if anchor.file_hash else []
        if len(copies) == 1:
            return replace(anchor, path=copies[0], state=AnchorState.FRESH)
        return replace(anchor, state=AnchorState.ORPHANED)

    def _files(self) -> list[DocumentRecord]:
        if self._listed is None:
            self._listed = [item for item in self._store.documents().values() if item.id not in self._hidden]
        return self._listed


def _at(anchor: Anchor, region: _Region, state: AnchorState) -> Anchor:
    """The anchor at the place of a region, on the line that is remembered."""
    former = anchor.symbol if region.symbol != anchor.symbol else ""
    line = _present_line(anchor, region)
    return replace(anchor, path=region.path, symbol=region.symbol, start_line=line, state=state, former_symbol=former)


def _most_alike(anchor: Anchor, regions: Sequence[_Region]) -> Anchor | None:
    """The anchor at the region that is most like its declaration; None if none is alike, or if two are equally alike."""
    scored = sorted(
        ((similarity(region.fingerprint.sketch, anchor.sketch), region) for region in regions), key=itemgetter(0)
    )
    if not scored or scored[-1][0] < _MIN_RENAMED_LIKENESS or (len(scored) > 1 and scored[-2][0] == scored[-1][0]):
        return None
    return _at(anchor, scored[-1][1], AnchorState.DRIFTED)


def _present_line(anchor: Anchor, region: _Region) -> int:
    """The present number of the anchored line: the nearest line with the same code, else the line at the same offset."""
    if not anchor.line_print:
        return region.start_line
    expected = min(region.start_line + anchor.line_offset, max(region.start_line, region.end_line))
    numbers = range(region.start_line, region.end_line + 1)
    same = [
        number for number in numbers if region.code.line_fingerprint_of(number, region.language) == anchor.line_print
    ]
    return min(same, key=lambda number: abs(number - expected)) if same else expected


def _set_fingerprint(anchor: Anchor, region: _Region) -> Anchor:
    found = region.fingerprint
    return replace(anchor, fingerprint=found.exact, body=found.body, sketch=found.sketch)


def _closest(regions: Sequence[_Region], anchor: Anchor) -> _Region | None:
    """Of several declarations of one name (overloads), the same one, else the one that is most like it."""
    if len(regions) < 2:
        return regions[0] if regions else None
    same = [region for region in regions if region.fingerprint.exact == anchor.fingerprint]
    return max(same or regions, key=lambda region: similarity(region.fingerprint.sketch, anchor.sketch))


def _of_chunk(row: ChunkRow) -> _Region:
    # The symbol of a chunk is that of a declaration in it: the text around that has none.
    chunk = replace(row.stored.chunk, symbol="")
    return _make_region(chunk, _Code(chunk.text, first_line=chunk.start_line))


def _make_region(place: StoredSymbol | Chunk, code: _Code) -> _Region:
    return _Region(
        path=place.path,
        symbol=place.symbol,
        start_line=place.start_line,
        end_line=place.end_line,
        language=place.language,
        code=code,
    )


# --- hashes of the names of the declarations beside an anchored one: a name that is not among them may be its new name


def _neighbours(declared: Sequence[StoredSymbol]) -> str:
    hashes = {_name_hash(item.symbol) for item in declared[:_MAX_NEIGHBOURS]}
    return base64.b85encode(b"".join(sorted(hashes))).decode()


def _known_names(neighbours: str) -> set[bytes]:
    data = base64.b85decode(neighbours)
    return {data[at : at + 2] for at in range(0, len(data), 2)}


def _name_hash(symbol: str) -> bytes:
    return (zlib.crc32(symbol.encode("utf-8", "surrogatepass")) & 0xFFFF).to_bytes(2, "little")
