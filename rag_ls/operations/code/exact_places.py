"""The exact part of an answer of code: all places of a text or regular expression, alone or beside the hits that are like it."""

from __future__ import annotations

import itertools
import time
from bisect import bisect_right
from collections.abc import Sequence
from enum import StrEnum
from itertools import accumulate

from rag_ls.engine import (
    PlacesFound,
    PlacesRequest,
    ProjectSession,
    PublishedCode,
    SearchRequest,
    describe_gaps,
    find_places,
    find_published_places,
)
from rag_ls.errors import InvalidRequest, StoreUnavailable
from rag_ls.model import Occurrence
from rag_ls.operations.code.asked_texts import find_literal_queries, find_literals, find_verbatim, is_name, is_part_of
from rag_ls.operations.code.budget import count_tokens
from rag_ls.operations.code.hits import (
    CodeAnswer,
    CodeRecord,
    ExactPlaces,
    LineRecord,
    Source,
    ask_each,
    locate_file,
    name_source,
)
from rag_ls.operations.fields import join_notes, make_record
from rag_ls.operations.stats import Stats
from rag_ls.search import NO_FILTERS, TextQuery
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass, replace

EXACT_LONGEST_S = 10.0
"""Files are looked into for so long where nothing but lines was asked for."""
EXACT_PLACES, MAX_PLACES = 50, 10_000
"""The numbers of places in an answer where nothing else was asked for: the usual one, and the most."""


class MatchMode(StrEnum):
    """The ways to take a query."""

    AUTO = "auto"
    EXACT = "exact"
    REGEX = "regex"


def read_mode(match: str) -> MatchMode:
    """The mode of this name. Raises `InvalidRequest`."""
    try:
        return MatchMode(match.strip().lower() or MatchMode.AUTO)
    except ValueError:
        raise InvalidRequest(f"match = {match!r} is not one of {', '.join(MatchMode)}") from None


def read_count(k: int | None) -> int:
    """The number of places to give. Raises `InvalidRequest` below 1."""
    if k is not None and k < 1:
        raise InvalidRequest(f"k = {k} is below 1; ask for 1 to {MAX_PLACES:,} lines")
    return min(k or EXACT_PLACES, MAX_PLACES)


def find_exact(sources: Sequence[Source], request: PlacesRequest) -> ExactPlaces | None:
    """The places of the first query that stands anywhere; those of the first query if none does. None without queries."""
    first: ExactPlaces | None = None
    for query in request.queries:
        found = _find_query(sources, replace(request, queries=(query,)))
        if found.total:
            return found
        first = first or found
    return first


def describe_none(exact: ExactPlaces, *, is_filtered: bool = False) -> str:
    """That no line holds a text; files that were not looked at may, and those that do not pass the filters."""
    which = (
        "that passes the filters "
        if is_filtered
        else "that was looked at "
        if exact.left_out or exact.is_partial
        else ""
    )
    return f"no line {which}holds {exact.pattern}"


def _find_query(sources: Sequence[Source], request: PlacesRequest) -> ExactPlaces:
    def ask_source(source: Source) -> PlacesFound:
        if isinstance(source, ProjectSession):
            return find_places(source, request)
        return find_published_places(source, request)

    problems: list[str] = []
    asked, answers = ask_each(sources, ask_source, problems)
    several, query = len(sources) > 1, request.query
    places = [(source, place) for source, answer in zip(asked, answers, strict=True) for place in answer.places]
    if several:
        places.sort(key=lambda item: (not item[1].is_whole, item[1].role))
    shown = places[request.offset : request.first]
    total, files = sum(answer.total for answer in answers), sum(answer.files for answer in answers)
    end = request.offset + len(shown)
    gaps = [(source, gap) for source, answer in zip(asked, answers, strict=True) if (gap := describe_gaps(answer))]
    return ExactPlaces(
        match=MatchMode.REGEX if query.is_regex else MatchMode.EXACT, pattern=query.pattern, total=total,
        files=files,
        places=tuple(_make_record(source, place, several=several) for source, place in shown),
        inside_words=0 if query.is_regex else total - sum(answer.whole for answer in answers),
        next_offset=end if shown and end < (files if request.files_only else total) else None,
        left_out=join_notes(*problems, *(f"{name_source(source)}: {gap}" if several else gap for source, gap in gaps)),
        is_partial=bool(problems) or not all(answer.is_whole for answer in answers),
    )  # fmt: skip


def _make_record(source: Source, place: Occurrence, *, several: bool) -> LineRecord:
    return make_record(
        LineRecord,
        place,
        byte_column=place.byte_column if place.byte_column != place.column else None,
        file="" if isinstance(source, PublishedCode) else locate_file(source, place.path),
        project=name_source(source) if several or isinstance(source, PublishedCode) else "",
    )


def answer_exactly(sources: Sequence[Source], request: PlacesRequest, budget_tokens: int, problems: str) -> CodeAnswer:
    """The answer that consists of the places alone, as many as fit `budget_tokens` (0: all).

    Raises `StoreUnavailable` where nothing could be asked; `problems` are of what could not.
    """
    if not sources:
        raise StoreUnavailable(problems, "published code")
    started = time.perf_counter()
    exact = find_exact(sources, request)
    assert exact is not None
    if not exact.total and request.filters != NO_FILTERS:
        exact = replace(exact, left_out=join_notes(describe_none(exact, is_filtered=True), exact.left_out))
    took_ms = round((time.perf_counter() - started) * 1000, 1)
    stats = Stats(took_ms, True, exact.total, complete=not (exact.is_partial or problems), note=problems)
    return CodeAnswer(exact.pattern, (), stats, fit_places(exact, budget_tokens, request.offset)[0])


def fit_places(exact: ExactPlaces, budget_tokens: int, offset: int = 0) -> tuple[ExactPlaces, int]:
    """The places that fit a budget, at least one, and about how many tokens they take; 0 for no limit."""
    spent = list(accumulate(_count_tokens(place) for place in exact.places))
    kept = max(1, bisect_right(spent, budget_tokens)) if budget_tokens else len(spent)
    if kept < len(spent):
        exact = replace(exact, places=exact.places[:kept], next_offset=offset + kept)
    return exact, spent[kept - 1] if spent else 0


def _count_tokens(place: LineRecord) -> int:
    """The tokens of a place as agents read it."""
    return count_tokens(f"{place.path}:{place.line}:{place.column}: {place.text.strip()}  [{place.symbol}]")


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
        any_of = TextQuery("|".join(texts), is_regex=True)
        joined = find_exact(sources, replace(question, queries=(any_of,))) if len(texts) > 1 else present[0]
        return Beside(joined, texts, is_named=True, absent=absent)
    texts = (exact.pattern,) if exact is not None and exact.match == MatchMode.EXACT else ()
    return Beside(exact, texts, absent=absent, is_filtered=question.filters != NO_FILTERS)


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
