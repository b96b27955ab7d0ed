"""Finds the tests for a place in the code, and the evidence for each; also those that reach a document over several imports."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from rag_ls.chunking import parts_of
from rag_ls.engine.code import places
from rag_ls.engine.code.references.code_files import split_owner
from rag_ls.engine.session import ProjectSession
from rag_ls.languages import find_language
from rag_ls.model import StoredChunk
from rag_ls.rules import Dependent, ImpactFinder
from rag_ls.search import Filters, Roles, count_common_folders, is_docs, is_inline_test, named_after
from rag_ls.storage import ChunkRow, StoredSymbol, find_terms, last_name
from rag_ls.util.records import dataclass, field
from rag_ls.util.text import count_of

# The weight of each reason. The first and the last replace other reasons; all the others together give a score of 1.
_WEIGHTS = {"inline": 5.0, "named": 3.0, "imports": 3.0, "mentions": 2.5, "close": 1.5, "reaches": 1.0}
_ALL_WEIGHTS = 10.0
# A name that more documents declare is no evidence.
_MAX_HOLDERS = 3
_MAX_NAMESAKES = 2000
_MAX_MENTIONS = 200
# In more tests, a name alone tells nothing: `Error` is often that of the language.
_MAX_MENTIONING = 10
_MAX_CLOSE = 10
_MAX_SHOWN = 5


@dataclass(frozen=True, slots=True)
class RelatedTest:
    """A test document, with its most relevant chunk."""

    path: str
    score: float
    why: tuple[str, ...]
    chunk: StoredChunk | None
    """The chunk that mentions the symbol or is closest in meaning; None where the whole document is meant."""
    mentions: tuple[str, ...]
    """The symbols in the document that mention the symbol of the question."""


@dataclass(slots=True)
class _Evidence:
    why: dict[str, str] = field(default_factory=dict)
    chunk: StoredChunk | None = None
    mentions: list[str] = field(default_factory=list)

    @property
    def score(self) -> float:
        return min(1.0, sum(_WEIGHTS[reason] for reason in self.why) / _ALL_WEIGHTS)


def find_tests(session: ProjectSession, path: str, line: int, symbol: str, k: int) -> list[RelatedTest]:
    """The tests for a place, those with the most evidence first. Raises `InvalidRequest` and `NotFound`.

    They are the tests of the symbol, else of the line's; without a line, of the whole document.
    """
    session.catch_up()
    row = places.find_chunk(session, path, line, symbol)
    symbol = symbol or (row.stored.chunk.symbol if line else "")
    chunk = row.stored.chunk
    tests = _find_test_documents(session, chunk.path)
    found: dict[str, _Evidence] = defaultdict(_Evidence)
    for test in named_after(chunk.path, tests.values(), lambda: find_other_paths(session)):
        found[test].why["named"] = f"named after {chunk.path.rsplit('/', 1)[-1]}"
    declared = session.store.outlines.of_documents([row.document_id], _MAX_MENTIONS)
    finder = ImpactFinder(session.store, session.project.imports.resolver(), session.hidden_documents())
    direct = finder.dependents(chunk.path, declared, followed=0).direct
    _note_imports(direct, symbol, set(tests.values()), found)
    _note_unresolved_imports(session, chunk.path, tests, found)
    if not any({"named", "imports"} & set(each.why) for each in found.values()):
        reaching = find_reaching_tests(finder, session.project.roles, chunk.path, {each.path for each in direct})
        _note_reaching(reaching, set(tests.values()), found)
    _note_inline(declared, found)
    names = [symbol] if symbol else _find_telling_names(session, declared)
    _note_mentions(session, names, tests, found)
    _note_meaning(session, row, tests, found)
    ranked = sorted(
        found.items(),
        key=lambda item: (
            "inline" not in item[1].why,
            -len(item[1].why),
            -item[1].score,
            -count_common_folders(item[0], chunk.path),
            item[0],
        ),
    )
    return [
        RelatedTest(path, round(item.score, 4), tuple(item.why.values()), item.chunk, tuple(item.mentions[:_MAX_SHOWN]))
        for path, item in ranked[:k]
    ]


def _find_test_documents(session: ProjectSession, without: str) -> dict[int, str]:
    """The paths of test documents, by document id."""
    hidden, roles = session.hidden_documents(), session.project.roles
    return {
        number: path
        for number, path, language, _ in session.store.document_paths()
        if number not in hidden and path != without and roles.is_test(path) and not is_docs(language)
    }


def _note_inline(declared: list[StoredSymbol], found: dict[str, _Evidence]) -> None:
    """Note the tests that stand in the file itself."""
    if inline := [item for item in declared if is_inline_test(item.symbol, item.language)]:
        found[inline[0].path].why["inline"] = f"holds tests itself (line {inline[0].start_line})"


def find_other_paths(session: ProjectSession) -> list[str]:
    """The paths of documents that are no tests."""
    is_test = session.project.roles.is_test
    return [path for _, path, _, _ in session.store.document_paths() if not is_test(path)]


def _note_imports(
    direct: Sequence[Dependent], symbol: str, tests: Collection[str], found: dict[str, _Evidence]
) -> None:
    """Note the tests among the dependents, which impact tells of too."""
    name = split_owner(symbol)[1]
    for each in direct:
        if each.path in tests:
            what = f"imports {name} from it" if name in each.names else "imports it" if each.imports else "uses it"
            found[each.path].why["imports"] = f"{what} (line {each.lines[0]})" if each.lines else what


def _note_unresolved_imports(
    session: ProjectSession, path: str, tests: dict[int, str], found: dict[str, _Evidence]
) -> None:
    """Note the tests in languages without a resolver whose imports name the document."""
    name = parts_of(path)[-1].lower()
    for item in session.store.outlines.imports(tests):
        taken = (re.split(r"[^\w-]+", item.imported.module)[-1], *item.imported.names)
        if find_language(item.language).resolver is None and name in map(str.lower, taken):
            found[item.path].why.setdefault("imports", f"imports it (line {item.imported.line})")


def _note_reaching(reaching: Iterable[ReachingTest], tests: Collection[str], found: dict[str, _Evidence]) -> None:
    """Note the tests that reach a document over several imports."""
    for each in reaching:
        if each.path in tests:
            found[each.path].why["reaches"] = f"reaches it through {each.through}"


def _find_telling_names(session: ProjectSession, declared: list[StoredSymbol]) -> list[str]:
    """The functions and types that a document exports, but names that many documents declare: `open`, `build`."""
    outlines = session.store.outlines
    exported = [item.symbol for item in declared if item.exported and item.kind in ("function", "type")]
    namesakes = outlines.named({last_name(symbol) for symbol in exported}, _MAX_NAMESAKES)
    holders = Counter(name for name, _ in {(last_name(item.symbol), item.document_id) for item in namesakes})
    return [symbol for symbol in exported if holders[last_name(symbol)] <= _MAX_HOLDERS]


def _note_mentions(
    session: ProjectSession, symbols: list[str], tests: dict[int, str], found: dict[str, _Evidence]
) -> None:
    # Names of up to three letters are too common to be evidence.
    names = {name for symbol in symbols if len(name := split_owner(symbol)[1]) > 3}
    if not names:
        return
    word = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(names)))})(?!\w)")
    mentioning = [
        (chunk, match[0])
        for chunk in _find_chunks(session, names, tests)
        if (match := word.search(chunk.chunk.text)) is not None
    ]
    holders = Counter(name for name, _ in {(name, chunk.chunk.path) for chunk, name in mentioning})
    for chunk, name in mentioning:
        if holders[name] > _MAX_MENTIONING and chunk.chunk.path not in found:
            continue
        evidence = found[chunk.chunk.path]
        evidence.why.setdefault("mentions", f"mentions {name}")
        evidence.chunk = evidence.chunk or chunk
        if chunk.chunk.symbol and chunk.chunk.symbol not in evidence.mentions:
            evidence.mentions.append(chunk.chunk.symbol)


def _find_chunks(session: ProjectSession, names: set[str], tests: dict[int, str]) -> Iterator[StoredChunk]:
    """The test chunks that hold the terms of the names, those with the most first."""
    parts = tuple(dict.fromkeys(term for name in sorted(names) for term in find_terms(name)))
    found = session.project.index.lexical.search(parts[:32], _MAX_MENTIONS, tests)
    rows = session.store.chunks.by_row([candidate.row for candidate in found])
    named = {last_name(name) for name in names}
    order = [rows[candidate.row] for candidate in found if candidate.row in rows]
    # A chunk that only declares something of the same name is no test of it.
    yield from (row.stored for row in order if last_name(row.stored.chunk.symbol) not in named)


def _note_meaning(session: ProjectSession, row: ChunkRow, tests: dict[int, str], found: dict[str, _Evidence]) -> None:
    embedding = session.project.embedding_of(row)
    if embedding is None or not tests:
        return
    close = session.project.searcher.related(
        embedding.vector, k=_MAX_CLOSE, model_id=embedding.model.id, filters=Filters(kind="test"),
        minimum=session.project.settings.hover.min_similarity, without=row.stored.chunk.path, is_saved=row.is_saved,
        session=session.editing_session,
    )  # fmt: skip
    paths = set(tests.values())
    for hit in close.hits:
        if isinstance(hit.item, StoredChunk) and hit.item.chunk.path in paths:
            evidence = found[hit.item.chunk.path]
            evidence.why.setdefault("close", f"close in meaning ({hit.score:.2f})")
            evidence.chunk = evidence.chunk or hit.item


_MAX_STEPS = 4
_MAX_TESTS = 50
# A number of documents and no time limit, so that an answer is the same each time.
_MAX_FOLLOWED = 2000


@dataclass(frozen=True, slots=True)
class ReachingTest:
    """A test that imports what depends on a document."""

    path: str
    through: str
    """The dependent of the document through which it gets there."""


def find_reaching_tests(
    finder: ImpactFinder, roles: Roles, path: str, direct: Collection[str]
) -> tuple[ReachingTest, ...]:
    """The tests that reach a document through its direct dependents, the nearest first; some, where there are many."""
    through = {each: each for each in sorted(direct) if not roles.is_test(each)}
    frontier, found = dict(through), dict[str, str]()
    for _ in range(_MAX_STEPS):
        if not frontier or len(found) >= _MAX_TESTS or len(through) > _MAX_FOLLOWED:
            break
        following: dict[str, str] = {}
        for imported, importers in sorted(finder.importers(frontier).items()):
            for importer in sorted(importers - {path, *through}):
                through[importer] = frontier[imported]
                (found if roles.is_test(importer) else following)[importer] = frontier[imported]
        frontier = following
    return tuple(ReachingTest(test, dependent) for test, dependent in list(found.items())[:_MAX_TESTS])


def describe_cover(count: int) -> str:
    """The number of tests that import a file, or reach it, in words."""
    # A test may reach a file in a way that no import shows: through a fixture, an address or a program.
    return f"{count_of(count, 'test covers', 'tests cover')} it" if count else "no test is known to import or reach it"


def describe_reach(tests: Collection[ReachingTest]) -> str:
    """The tests and their ways in a sentence: `no test imports it directly; 3 reach it through serializers.py`."""
    ways = list(dict.fromkeys(test.through.rsplit("/", 1)[-1] for test in tests))
    shown = ", ".join(ways[:3]) + (f" and {len(ways) - 3} more" if len(ways) > 3 else "")
    return f"no test imports it directly; {len(tests)} {'reaches' if len(tests) == 1 else 'reach'} it through {shown}"
