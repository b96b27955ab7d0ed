"""The lines that hold a question's texts as they stand, beside the hits that are like it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from rag_ls.engine.code.exact_places import PlacesRequest
from rag_ls.engine.requests import SearchRequest
from rag_ls.operations.code.asked_texts import find_literal_queries, find_literals, find_verbatim, is_name, is_part_of
from rag_ls.operations.code.exact_places import (
    MatchMode,
    describe_none,
    find_exact,
)
from rag_ls.operations.code.hits import CodeRecord, ExactPlaces, LineRecord, Source
from rag_ls.operations.fields import join_notes
from rag_ls.search.text_patterns import TextQuery
from rag_ls.search.view import NO_FILTERS
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass, replace

# Where no line holds a name, so many hits may be meant.
_MAX_NEAR = 5
# Beside lines that hold a text, so many hits have text whether they hold it or not, and agents get so many others.
_MAX_WHOLE, _MAX_OTHERS = 2, 3
# Of those that hold a name that was asked for, or a message, so many have text.
_MAX_HOLDERS = 3
# A part of a message that more lines hold than this is a phrase of the project.
_MAX_LINES_OF_MESSAGE = 20
_LAST_WORD = lazy_pattern(r"\w+(?=\W*$)")


@dataclass(frozen=True, slots=True)
class Beside:
    """The lines that hold what a question names."""

    exact: ExactPlaces | None = None
    texts: tuple[str, ...] = ()
    """The texts that they hold; none of a regular expression."""
    is_named: bool = False
    """Whether these are headers, constants, options or a quotation of a longer question."""
    absent: tuple[ExactPlaces, ...] = ()
    """Of headers, constants and options, those that no line holds."""
    is_filtered: bool = False
    """Whether lines of files that do not pass the filters may hold them."""

    @property
    def has_lines(self) -> bool:
        return self.exact is not None and self.exact.total > 0


def find_beside(
    sources: Sequence[Source], asked: SearchRequest, question: PlacesRequest, hits: Sequence[CodeRecord]
) -> Beside:
    """The lines that hold what a question names: a name, a quotation or code, a message of the `hits`, or its headers and the like.

    `question` has the filters.
    """
    query, is_message = asked.query, asked.asked.is_message
    exact = find_exact(sources, replace(question, queries=find_literal_queries(query)))
    if exact and exact.total:
        held = (exact.pattern,) if exact.match == MatchMode.EXACT else ()
        return Beside(exact, held, is_named=is_part_of(exact.pattern, query))
    told = (text for hit in hits for text in (hit.text or "", *(place.text for place in hit.places)))
    if message := find_verbatim(query, told, is_message=is_message):
        found = find_exact(sources, replace(question, queries=(TextQuery(message),)))
        if found and 0 < found.total <= _MAX_LINES_OF_MESSAGE:
            is_question = is_part_of(message, query) and not is_message
            return Beside(found, (message,), is_named=is_question)
    literals = [find_exact(sources, replace(question, queries=forms)) for forms in find_literals(query)]
    present = [each for each in literals if each and each.total]
    absent = tuple(each for each in literals if each and not each.total)
    if present:
        texts = tuple(each.pattern for each in present)
        return Beside(
            present[0] if len(present) == 1 else _join_places(sources, question, present), texts, True, absent
        )
    texts = (exact.pattern,) if exact is not None and exact.match == MatchMode.EXACT else ()
    return Beside(exact, texts, absent=absent, is_filtered=question.filters != NO_FILTERS)


def _join_places(sources: Sequence[Source], question: PlacesRequest, found: Sequence[ExactPlaces]) -> ExactPlaces:
    """The lines of several texts as those of one regular expression, the first of each."""
    pattern = "|".join(each.pattern for each in found)
    joined = find_exact(sources, replace(question, queries=(TextQuery(pattern, is_regex=True),)))
    assert joined is not None
    places: dict[tuple[str, str, int], LineRecord] = {}
    for place in itertools.chain(*(each.places[: question.count // len(found)] for each in found)):
        places.setdefault((place.project, place.path, place.line), place)
    ordered = sorted(places.values(), key=lambda place: (place.project, place.path, place.line))
    return replace(joined, places=tuple(ordered), next_offset=0 if len(ordered) < joined.total else None)


def set_beside(
    results: tuple[CodeRecord, ...], beside: Beside, query: str, *, is_close: bool
) -> tuple[tuple[CodeRecord, ...], str]:
    """The hits beside an exact answer, and a note where that has no line though hits seem close.

    Hits that do not hold the text need no more than a line each: all but the best where other lines hold it, and all where none
    holds a text in quotes or a name.
    """
    notes = join_notes(*map(describe_none, beside.absent))
    exact = beside.exact
    if exact is None or not beside.texts:
        return results, notes
    if exact.total:
        return _put_holders_first(results, beside), notes
    none = describe_none(exact, is_filtered=beside.is_filtered)
    if is_part_of(exact.pattern, query):
        return results, none
    is_quoted = exact.pattern != query.strip()
    last = _LAST_WORD.search(exact.pattern)
    if not (is_quoted or (last is not None and is_name(exact.pattern))):
        return results, ""
    if not is_close:
        return results, join_notes(none, exact.left_out)
    # A qualified name stands nowhere as it is written where its parts do.
    if not results or (not is_quoted and last and any(_holds_any(each, (last.group(),)) for each in results)):
        return results, ""
    return tuple(replace(each, far=True) for each in results[:_MAX_NEAR]), f"{none}: these are only near"


def _put_holders_first(results: Sequence[CodeRecord], beside: Beside) -> tuple[CodeRecord, ...]:
    """The hits, of which those that do not hold the text need no more than a line."""
    if beside.is_named:
        # The best hit may answer the rest of the question.
        others = (replace(each, far=each.far or not _holds_any(each, beside.texts)) for each in results[_MAX_WHOLE:])
        return (*results[:_MAX_WHOLE], *others)
    holders = [each for each in results if _holds_any(each, beside.texts)]
    rest = [*holders[_MAX_HOLDERS:], *(each for each in results if each not in holders)]
    return (*holders[:_MAX_HOLDERS], *(replace(each, far=True) for each in rest))


def leave_out_others(results: Sequence[CodeRecord], beside: Beside, query: str) -> tuple[CodeRecord, ...]:
    """The hits that an agent needs beside lines that hold all of a question: of those that hold none and have no text, a few."""
    if not (beside.has_lines and beside.texts) or any(is_part_of(text, query) for text in beside.texts):
        return tuple(results)
    others = itertools.count()
    return tuple(
        each for each in results if not each.far or _holds_any(each, beside.texts) or next(others) < _MAX_OTHERS
    )


def _holds_any(record: CodeRecord, texts: Sequence[str]) -> bool:
    held = f"{record.path}\n{record.symbol}\n{record.text or ''}"
    return any(text in held for text in texts)
