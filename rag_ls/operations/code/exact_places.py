"""The exact part of an answer of code: all places of a literal text or regular expression, counted."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from itertools import accumulate

from rag_ls.engine.code import exact_places
from rag_ls.engine.code.exact_places import PlacesFound, PlacesRequest
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import InvalidRequest, NotFound, StoreUnavailable
from rag_ls.model import Occurrence
from rag_ls.operations.code.budget import tokens
from rag_ls.operations.code.hits import CodeAnswer, ExactPlaces, LineRecord, Source, locate_file
from rag_ls.operations.stats import Stats
from rag_ls.search.text_patterns import TextQuery
from rag_ls.search.view import NO_FILTERS, Filters
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import count_of

MAX_AUTO_COUNTED = 2000
"""Beside hits, no more lines are counted: they would take longer than the hits do."""
AUTO_LONGEST_S, EXACT_LONGEST_S = 1.0, 10.0
"""Files are looked into for so long, beside hits and where nothing else was asked for; those that are left are counted."""
AUTO_PLACES, EXACT_PLACES, MAX_PLACES = 10, 50, 10_000
"""The numbers of places in an answer: beside hits, and where nothing else was asked for."""


class MatchMode(StrEnum):
    """The ways to take a query."""

    AUTO = "auto"
    EXACT = "exact"
    REGEX = "regex"


@dataclass(frozen=True, slots=True)
class ExactQuestion:
    """The texts or expressions to look for, and the files to look into."""

    queries: tuple[TextQuery, ...]
    """The first that stands anywhere is meant."""
    filters: Filters
    count: int = AUTO_PLACES
    offset: int = 0
    files_only: bool = False
    """Give only the first place of each file."""
    counted: int = MAX_AUTO_COUNTED
    """Look no further once there are so many lines."""
    longest_s: float = AUTO_LONGEST_S
    """Look no further after so many seconds."""


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


def find_exact(sources: Sequence[Source], question: ExactQuestion) -> ExactPlaces | None:
    """The places of the first query that stands anywhere; those of the first query if none does. None without queries."""
    first: ExactPlaces | None = None
    for query in question.queries:
        found = _find(sources, query, question)
        if found.total:
            return found
        first = first or found
    return first


def find_without_filters(sources: Sequence[Source], question: ExactQuestion) -> ExactPlaces | None:
    """The places in files that do not pass the filters; None where there are none."""
    if question.filters == NO_FILTERS:
        return None
    found = find_exact(sources, replace(question, filters=NO_FILTERS))
    return found if found and found.total else None


def describe_none(exact: ExactPlaces, elsewhere: ExactPlaces | None = None) -> str:
    """That no line holds a text; files that were not looked at may, and those that do not pass the filters."""
    if elsewhere:
        hold = f"{count_of(elsewhere.total, 'line')} in {count_of(elsewhere.files, 'file')}"
        return f"no line that passes the filters holds {exact.pattern}: without them {hold}"
    return f"no line {'that was looked at ' if exact.left_out or exact.is_partial else ''}holds {exact.pattern}"


def _find(sources: Sequence[Source], query: TextQuery, question: ExactQuestion) -> ExactPlaces:
    request = PlacesRequest(
        query, question.filters, first=question.offset + question.count, files_only=question.files_only,
        counted=question.counted, longest_s=question.longest_s,
    )  # fmt: skip
    answers: list[PlacesFound] = []
    merged: list[tuple[Source, Occurrence]] = []
    problems: list[str] = []
    for source in sources:
        try:
            answer = _ask(source, request)
        except (StoreUnavailable, NotFound) as problem:
            if isinstance(source, ProjectSession):
                raise
            problems.append(f"{source.name} does not answer: {problem}")
        else:
            answers.append(answer)
            merged += [(source, place) for place in answer.places]
    if len(sources) > 1:
        merged.sort(key=lambda item: (not item[1].is_whole, item[1].role))
    shown = merged[question.offset : question.offset + question.count]
    total, files = sum(answer.total for answer in answers), sum(answer.files for answer in answers)
    end = question.offset + len(shown)
    return ExactPlaces(
        match=MatchMode.REGEX if query.is_regex else MatchMode.EXACT, pattern=query.pattern, total=total,
        files=files,
        places=tuple(_make_record(source, place, several=len(sources) > 1) for source, place in shown),
        inside_words=0 if query.is_regex else total - sum(answer.whole for answer in answers),
        next_offset=end if shown and end < (files if question.files_only else total) else None,
        left_out="; ".join(filter(None, (*problems, _describe_left_out(answers)))),
        is_partial=bool(problems) or not all(answer.is_whole for answer in answers),
    )  # fmt: skip


def _ask(source: Source, request: PlacesRequest) -> PlacesFound:
    if isinstance(source, ProjectSession):
        return exact_places.find_places(source, request)
    return exact_places.find_published_places(source, request)


def _describe_left_out(answers: Sequence[PlacesFound]) -> str:
    if not answers:
        return ""
    joined = replace(
        answers[0], unread=sum(answer.unread for answer in answers), waiting=sum(answer.waiting for answer in answers),
        skipped=sum((answer.skipped for answer in answers), Counter[str]()),
        secret_lines=sum((answer.secret_lines for answer in answers), Counter[str]()),
        is_cut=any(answer.is_cut for answer in answers), is_listed=all(answer.is_listed for answer in answers),
    )  # fmt: skip
    return exact_places.describe_gaps(joined)


def _make_record(source: Source, place: Occurrence, *, several: bool) -> LineRecord:
    record = LineRecord(place.path, place.line, place.column, place.text, place.symbol)
    if place.byte_column != place.column:
        record = replace(record, byte_column=place.byte_column)
    if isinstance(source, ProjectSession):
        root = str(source.project.root) if several else ""
        return replace(record, file=locate_file(source, place.path), project=root)
    return replace(record, project=source.name)


def answer_exactly(sources: Sequence[Source], question: ExactQuestion, budget_tokens: int, problems: str) -> CodeAnswer:
    """The answer that consists of the places alone, as many as fit `budget_tokens` (0: all).

    Raises `StoreUnavailable` where nothing could be asked; `problems` are of what could not.
    """
    if not sources:
        raise StoreUnavailable(problems, "published code")
    started = time.perf_counter()
    exact = find_exact(sources, question)
    assert exact is not None
    if elsewhere := None if exact.total else find_without_filters(sources, question):
        exact = replace(exact, left_out="; ".join(filter(None, (describe_none(exact, elsewhere), exact.left_out))))
    took_ms = round((time.perf_counter() - started) * 1000, 1)
    stats = Stats(took_ms, True, exact.total, complete=not (exact.is_partial or problems), note=problems)
    return CodeAnswer(exact.pattern, (), stats, fit_places(exact, budget_tokens, question.offset)[0])


def fit_places(exact: ExactPlaces, budget_tokens: int, offset: int = 0) -> tuple[ExactPlaces, int]:
    """The places that fit a budget, at least one, and about how many tokens they take; 0 for no limit."""
    spent = list(accumulate(_count_tokens(place) for place in exact.places))
    kept = max(1, bisect_right(spent, budget_tokens)) if budget_tokens else len(spent)
    if kept < len(spent):
        exact = replace(exact, places=exact.places[:kept], next_offset=offset + kept)
    return exact, spent[kept - 1] if spent else 0


def _count_tokens(place: LineRecord) -> int:
    """The tokens of a place as agents read it."""
    return tokens(f"{place.path}:{place.line}:{place.column}: {place.text.strip()}  [{place.symbol}]")
