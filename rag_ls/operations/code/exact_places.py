"""The exact part of an answer of code: all places of a literal text or regular expression, counted."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Sequence
from enum import StrEnum
from itertools import accumulate

from rag_ls.engine.code.exact_places import (
    PlacesFound,
    PlacesRequest,
    describe_gaps,
    find_places,
    find_published_places,
)
from rag_ls.engine.published import PublishedCode
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import InvalidRequest, StoreUnavailable
from rag_ls.model import Occurrence
from rag_ls.operations.code.budget import count_tokens
from rag_ls.operations.code.hits import CodeAnswer, ExactPlaces, LineRecord, Source, ask_each, locate_file, name_source
from rag_ls.operations.fields import join_notes, make_record
from rag_ls.operations.stats import Stats
from rag_ls.search.view import NO_FILTERS
from rag_ls.util.records import replace

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
