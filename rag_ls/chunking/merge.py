"""Merges small pieces with their neighbours into groups; each group becomes a chunk."""

from __future__ import annotations

from rag_ls.chunking.document import Budget, Document
from rag_ls.chunking.split import Enclosing, Piece
from rag_ls.languages import Kind
from rag_ls.util.records import dataclass

_VALUE_FACTOR = 4


@dataclass(frozen=True, slots=True)
class Group:
    """Adjacent pieces that make one chunk."""

    pieces: tuple[Piece, ...]

    @property
    def start(self) -> int:
        return self.pieces[0].start

    @property
    def end(self) -> int:
        return self.pieces[-1].end

    def main_scope(self, min_tokens: int) -> Enclosing:
        """The declaration that this chunk is about.

        It is the one that would stand alone; else the only function or type declared here; else the one
        that holds at least half of the chunk; else the scope of all its pieces, if that has a name; else
        the first one declared here.
        """
        sizes: dict[Enclosing, int] = {}
        for piece in self.pieces:
            if piece.declares is not None and stands_alone(piece, min_tokens):
                return piece.declares
            scope = piece.declares or piece.owner
            sizes[scope] = sizes.get(scope, 0) + piece.size
        named = [p.declares for p in self.pieces if p.declares and p.declares.kind in (Kind.FUNCTION, Kind.TYPE)]
        if len(named) == 1:
            return named[0]
        largest = max(sizes, key=lambda scope: sizes[scope])
        if 2 * sizes[largest] >= sum(sizes.values()):
            return largest
        owner = self.pieces[0].owner
        if owner.symbol and all(piece.owner is owner for piece in self.pieces):
            return owner
        return next((piece.declares for piece in self.pieces if piece.declares is not None), owner)


def merge(pieces: list[Piece], document: Document, budget: Budget) -> list[Group]:
    """Merge small neighbours while they fit together; large enough pieces stay alone.

    Declarations of at least `min_tokens` and heads of classes are not merged with each other, unless
    they declare the same symbol (overloads, clauses of one function).
    """
    merger = _Merger(document, budget)
    return merger.settle(merger.collect(merger.join_lines(pieces)))


@dataclass(frozen=True, slots=True)
class _Merger:
    document: Document
    budget: Budget

    def fits(self, start: int, end: int) -> bool:
        return self.document.size(start, end) <= self.budget.max_tokens

    def join_lines(self, pieces: list[Piece]) -> list[Group]:
        """Groups of pieces that share a line, so that chunks begin at line starts."""
        groups: list[list[Piece]] = []
        for piece in pieces:
            if groups and self._continues_line(groups[-1], piece):
                groups[-1].append(piece)
            else:
                groups.append([piece])
        return [Group(tuple(group)) for group in groups]

    def _continues_line(self, group: list[Piece], piece: Piece) -> bool:
        last = group[-1]
        if piece.declares is not None or last.owner is not piece.owner or (last.declares and last.whole):
            return False
        return not self.document.is_line_start(piece.start) and self.fits(group[0].start, piece.end)

    def collect(self, units: list[Group]) -> list[Group]:
        """Merge each unit into the group before it, if they may be together."""
        groups: list[list[Piece]] = []
        for unit in units:
            if groups and self._accepts(groups[-1], unit):
                groups[-1].extend(unit.pieces)
            else:
                groups.append(list(unit.pieces))
        return [Group(tuple(group)) for group in groups]

    def _accepts(self, group: list[Piece], unit: Group) -> bool:
        last, piece, least = group[-1], unit.pieces[0], self.budget.min_tokens
        if not self.fits(group[0].start, unit.end):
            return False
        if piece.declares and last.declares and piece.declares.symbol == last.declares.symbol:
            return last.owner is piece.owner
        if stands_alone(piece, least) or (last.whole and stands_alone(last, least)):
            return False
        if last.owner is not piece.owner:
            return False
        # Imports and the like are complete by themselves; a small function beside them keeps a chunk of its own.
        begins_declarations = piece.declares is not None and not any(p.declares for p in group)
        return not (begins_declarations and self._large(group[0].start, group[-1].end))

    def _large(self, start: int, end: int) -> bool:
        return self.document.size(start, end) >= self.budget.min_tokens

    def settle(self, groups: list[Group]) -> list[Group]:
        """Join groups that are still small to the neighbour that they belong to, or give them part of it."""
        settled: list[Group] = []
        for group in groups:
            if settled and self._joins(settled[-1], group):
                settled[-1] = Group(settled[-1].pieces + group.pieces)
            else:
                settled.append(group)
        return self._level(settled)

    def _joins(self, former: Group, group: Group) -> bool:
        if self._small(former) and self._may_follow(former, group):
            return True
        return self._small(group) and not looks_ahead(group) and self._may_end(former, group)

    def _small(self, group: Group) -> bool:
        return not self._large(group.start, group.end) and not any(is_head(p) for p in group.pieces)

    def _may_follow(self, small: Group, group: Group) -> bool:
        return self.fits(small.start, group.end) and group.pieces[0].owner.within(small.pieces[-1].owner)

    def _may_end(self, group: Group, small: Group) -> bool:
        return self.fits(group.start, small.end) and group.pieces[-1].owner.within(small.pieces[0].owner)

    def _level(self, groups: list[Group]) -> list[Group]:
        """Join small remnants to the group before; if they do not fit, move pieces over from that group."""
        levelled: list[Group] = []
        for group in groups:
            if not levelled or not self._small(group):
                levelled.append(group)
            elif self._may_end(levelled[-1], group):
                levelled[-1] = Group(levelled[-1].pieces + group.pieces)
            else:
                levelled[-1:] = self._balance(levelled[-1], group)
        return levelled

    def _balance(self, former: Group, small: Group) -> list[Group]:
        given, kept = list(small.pieces), list(former.pieces)
        while len(kept) > 1 and self._may_give(kept, given):
            given.insert(0, kept.pop())
        return [Group(tuple(kept)), Group(tuple(given))]

    def _may_give(self, kept: list[Piece], given: list[Piece]) -> bool:
        piece = kept[-1]
        if piece.declares or given[0].declares or piece.owner is not given[0].owner:
            return False
        if self._large(given[0].start, given[-1].end) or not self._large(kept[0].start, piece.start):
            return False
        return self.fits(piece.start, given[-1].end) and self.document.is_line_start(piece.start)


def stands_alone(piece: Piece, min_tokens: int) -> bool:
    """Whether this declares something that deserves its own chunk: the head of a class, or a large declaration."""
    if piece.declares is None:
        return False
    if not piece.whole:
        return is_head(piece)
    # A constant or field means little by itself, and files are full of them.
    least = _VALUE_FACTOR * min_tokens if piece.declares.kind is Kind.VALUE else min_tokens
    return piece.size >= least


def is_head(piece: Piece) -> bool:
    """Whether this is the head of a class whose members follow as separate chunks."""
    return piece.declares is not None and not piece.whole and piece.declares.kind is Kind.TYPE


def looks_ahead(group: Group) -> bool:
    """Whether a remnant belongs to the next group: a comment, or the first line of an opened scope."""
    last = group.pieces[-1]
    return last.comment or (last.declares is not None and not last.whole)
