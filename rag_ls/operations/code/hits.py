"""Chunks as answers show them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from rag_ls import model
from rag_ls.chunking import NOTEBOOK, source_lines
from rag_ls.engine import ProjectSession, PublishedCode
from rag_ls.errors import NotFound, StoreUnavailable
from rag_ls.model import Chunk, Hit, StoredChunk
from rag_ls.operations.fields import optional
from rag_ls.operations.stats import Stats
from rag_ls.project import is_guest
from rag_ls.search import Query, group_by_file, is_import, is_preamble
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import count_of

MAX_LINE_CHARACTERS = 300
GAP = "…"
# A word that follows the question's word before it, with so many characters in between at most, is worth so much more: a message
# stands in one line.
_MAX_BETWEEN_WORDS, _RUN_BONUS = 12, 1.0
# Lines as documents count them; `str.splitlines` splits at more characters.
_LINE = lazy_pattern(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def split_lines(text: str) -> list[str]:
    """The lines of a text, without their ends."""
    return [line.rstrip("\r\n") for line in _LINE.findall(text)]


def shorten_line(line: str) -> str:
    """A line as an answer shows it."""
    return line if len(line) <= MAX_LINE_CHARACTERS else line[:MAX_LINE_CHARACTERS] + GAP


def find_best_line(text: str, words: Sequence[str]) -> tuple[int, str]:
    """The number, from 0, and text of the line that answers best; the first that is not blank if none holds a word."""
    lines = split_lines(text)
    worth = _weigh_lines(lines, words)
    at = max(range(len(lines)), key=lambda at: (worth[at], bool(lines[at].strip()), -at), default=0)
    return (at, shorten_line(lines[at])) if lines else (0, "")


def order_lines(lines: Sequence[str], words: Sequence[str]) -> list[int]:
    """The order in which to keep lines: the first non-blank one, the best matches with their neighbours, the rest, blank ones last."""
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    worth = _weigh_lines(lines, words)
    best = sorted((at for at in range(len(lines)) if worth[at]), key=lambda at: (-worth[at], at))
    around = [near for at in best for near in (at, at - 1, at + 1) if 0 <= near < len(lines)]
    order = dict.fromkeys([first, *around, *range(len(lines))]) if lines else ()
    return sorted(order, key=lambda at: not lines[at].strip())


def _weigh_lines(lines: Sequence[str], words: Sequence[str]) -> list[float]:
    """The worth of each line: a word counts less the more lines hold it, and more where it follows the word before it."""
    lowered = [line.lower() for line in lines]
    worth = [0.0] * len(lines)
    before: dict[int, int] = {}
    for word in words:
        found = {at: place for at, line in enumerate(lowered) if (place := line.find(word)) >= 0}
        for at, place in found.items():
            follows = 0 <= place - before.get(at, place + 1) <= _MAX_BETWEEN_WORDS
            worth[at] += (1 + _RUN_BONUS * follows) / len(found)
        before = {at: place + len(word) for at, place in found.items()}
    return worth


@dataclass(frozen=True, slots=True)
class LineRecord:
    """A line that holds the text or matches the expression."""

    path: str
    line: int
    column: int
    """In characters, from 1."""
    text: str
    symbol: str = optional("")
    """The innermost declaration around it."""
    byte_column: int | None = optional()
    """The column in bytes, as grep and vim count, where that is another."""
    file: str = optional("")
    project: str = optional("")
    """The root, where several projects answer; the name of a published one."""


@dataclass(frozen=True, slots=True)
class ExactPlaces:
    """All lines that hold a literal text or match a regular expression, a page of them told."""

    match: str
    """`exact` or `regex`: what the query was taken for."""
    pattern: str
    total: int
    """The number of lines."""
    files: int
    places: tuple[LineRecord, ...]
    """Whole words first, then names inside longer ones."""
    inside_words: int = optional(0)
    """The number of lines that hold it inside longer words only."""
    next_offset: int | None = optional()
    left_out: str = optional("")
    """The files that were not looked into, with the reason."""
    is_partial: bool = optional(False)
    """Whether there may be more lines: not all files were looked into."""


# Seven of ten files of an answer score lower than the best one by more than this. Among the first right files, one in twenty
# does (docs/quality.md).
FAR_DIFFERENCE = 0.2
# Where all score low, the difference tells little: half of the best score is as far.
_FAR_SHARE = 0.5
_MAX_ALIKE_NAMED = 4
Source = ProjectSession | PublishedCode
"""A source that is searched."""
A = TypeVar("A")


def ask_each(
    sources: Sequence[Source], ask: Callable[[Source], A], problems: list[str]
) -> tuple[list[Source], list[A]]:
    """The sources that answer, and their answers; `problems` gets why a published one does not."""
    asked, answers = list[Source](), list[A]()
    for source in sources:
        try:
            answers.append(ask(source))
            asked.append(source)
        except (StoreUnavailable, NotFound) as problem:
            if isinstance(source, ProjectSession):
                raise
            problems.append(f"{source.name} does not answer: {problem}")
    return asked, answers


@dataclass(frozen=True, slots=True)
class PlaceRecord:
    """One more place of a file, with the line of it that says most."""

    start_line: int
    end_line: int
    symbol: str
    line: int
    text: str
    """That line."""
    whole: str = optional("")
    """All of its text, where that was asked for."""


@dataclass(frozen=True, slots=True)
class CodeRecord:
    """A file at its best place, with others of it; or a chunk, or more of its document around it."""

    kind: str
    id: str
    path: str
    start_line: int
    end_line: int
    language: str
    symbol: str
    node_type: str
    score: float
    matched_by: tuple[str, ...]
    freshness: str | None
    file: str = optional("")
    """The place where an agent's own tools find the document: absolute, or a URI."""
    scope: str = optional("")
    """The declaration that it is a part of, where its text does not say."""
    why: str = optional("")
    """The evidence for it, in a few words."""
    context: str = optional("")
    text: str | None = optional()
    truncated: bool = optional(False)
    left_out: tuple[str, ...] = optional(())
    """The lines that a cut text leaves out, as `FROM-TO`, one range for each `…` in it."""
    places: tuple[PlaceRecord, ...] = optional(())
    """More places of the file that answer, best first."""
    far: bool = optional(False)
    """Whether its score is far below that of the best file; then an answer under a budget has one line of it."""
    note: str = optional("")
    project: str = optional("")
    """The root, where several projects answer; the name of a published one."""


@dataclass(frozen=True, slots=True)
class CodeAnswer:
    """Files, best first."""

    query: str
    results: tuple[CodeRecord, ...]
    stats: Stats
    exact: ExactPlaces | None = optional()
    """The lines that hold the query as it stands, if it may be a name, a text or a regular expression."""
    words: tuple[str, ...] = optional(())
    """The beginnings of the query's words, by which a shell picks lines, where places have their texts."""


def make_hit(source: Source, hit: Hit) -> CodeRecord:
    """A chunk with its score, its declaration's signature if its text does not show it, and its file, if it is here."""
    assert isinstance(hit.item, StoredChunk)
    chunk = hit.item.chunk
    record = CodeRecord(
        kind="chunk", id=hit.item.id, path=chunk.path, start_line=chunk.start_line, end_line=chunk.end_line,
        language=chunk.language, symbol=chunk.symbol, node_type=chunk.node_type, score=round(hit.score, 4),
        matched_by=hit.matched_by, freshness=hit.freshness.value if hit.freshness else None, scope=_find_scope(chunk),
        why=hit.why, text=_show_text(chunk), note=_name_alike(hit.alike),
    )  # fmt: skip
    if isinstance(source, PublishedCode):
        return replace(record, project=source.name)
    return replace(record, file=locate_file(source, record.path))


def _name_alike(paths: Sequence[str]) -> str:
    """The data files that answer as a hit does, counted and the first named; empty for none."""
    if not paths:
        return ""
    more = f" and {len(paths) - _MAX_ALIKE_NAMED} more" if len(paths) > _MAX_ALIKE_NAMED else ""
    return f"{count_of(len(paths), 'other file')} of this key: {', '.join(paths[:_MAX_ALIKE_NAMED])}{more}"


def _find_scope(chunk: Chunk) -> str:
    """The signature of the declaration that a chunk is a part of, where its text does not show it."""
    if chunk.is_declaration or not chunk.symbol:
        return ""
    return "" if chunk.signature in " ".join(chunk.text.split()) else chunk.signature


def name_source(source: Source) -> str:
    """The root of a project; the name of a published one."""
    return source.name if isinstance(source, PublishedCode) else str(source.project.root)


def locate_file(session: ProjectSession, path: str) -> str:
    """The place of a document for an agent's own tools: an absolute path, or a URI if it is no file."""
    return path if is_guest(path, session.project.root) else str(session.project.root / path)


def pick_best(
    sources: Sequence[Source], answers: Sequence[model.SearchAnswer], query: Query, k: int, *, place_texts: bool = False
) -> tuple[CodeRecord, ...]:
    """The best `k` files of the answers of several projects, each at its best place; each then names its project.

    `place_texts`: with the texts of their other places, too.

    Two projects may hold the same file: its hits in both are different ones.
    """
    hits = [(source, hit) for source, answer in zip(sources, answers, strict=True) for hit in answer.hits]
    files = group_by_file(hits, lambda item: (id(item[0]), _chunk_of(item[1]).path))
    if len(sources) > 1:
        files.sort(key=lambda places: -places[0][1].score)
    words = query.line_words
    found = []
    for (source, best), *others in files[:k]:
        telling = [hit for _, hit in others if not is_preamble(_chunk_of(hit))]
        made = ((hit, _make_place(hit, words, with_text=place_texts)) for hit in telling)
        places = tuple(place for hit, place in made if place.symbol or not is_import(place.text, _chunk_of(hit)))
        record = replace(make_hit(source, best), places=places)
        found.append(replace(record, project=name_source(source)) if len(sources) > 1 else record)
    return tuple(found)


def number_lines(record: CodeRecord) -> Iterator[tuple[int, str]]:
    """The lines of a text with their numbers; a mark for lines that are left out has 0."""
    number, gaps = record.start_line, iter(record.left_out)
    for line in split_lines(record.text or ""):
        if line == GAP and (gap := next(gaps, "")):
            number = int(gap.partition("-")[2]) + 1
            yield 0, GAP
        else:
            yield number, line
            number += 1


def mark_far(records: Sequence[CodeRecord]) -> tuple[CodeRecord, ...]:
    """The files, with those marked that score far below the best."""
    best = max((record.score for record in records), default=0.0)
    least = max(best - FAR_DIFFERENCE, best * _FAR_SHARE)
    return tuple(replace(record, far=True) if record.score < least else record for record in records)


def _make_place(hit: Hit, words: Sequence[str], *, with_text: bool) -> PlaceRecord:
    chunk = _chunk_of(hit)
    text = _show_text(chunk)
    at, line = find_best_line(text, words)
    whole = text if with_text else ""
    return PlaceRecord(
        chunk.start_line, chunk.end_line, chunk.symbol, line=chunk.start_line + at, text=line, whole=whole
    )


def _show_text(chunk: Chunk) -> str:
    """The text of a chunk; of a notebook, the sources of its cells at their lines."""
    return source_lines(chunk.text) if chunk.language == NOTEBOOK else chunk.text


def _chunk_of(hit: Hit) -> Chunk:
    assert isinstance(hit.item, StoredChunk)
    return hit.item.chunk
