"""Operations of the shell on code, memories and rules together."""

from __future__ import annotations

from collections.abc import Iterable

from rag_ls.engine import code_memories, path_in
from rag_ls.errors import InvalidRequest, NotFound, RagLsError
from rag_ls.operations.code.exact_places import MatchMode
from rag_ls.operations.code.history import (
    CommitRecord,
    describe_history,
    read_history,
    search_history,
    wait_for_history,
)
from rag_ls.operations.code.hits import CodeRecord, ExactPlaces
from rag_ls.operations.code.lookup import GetChunk, get_chunk
from rag_ls.operations.code.preparation import prepare_shell_question
from rag_ls.operations.code.search import SearchCode, search_code
from rag_ls.operations.fields import argument, join_notes, optional
from rag_ls.operations.memories.arguments import SCOPES_OR_ALL
from rag_ls.operations.memories.memory_records import MemoryRecord
from rag_ls.operations.memories.recalling import GetMemory, SearchMemory, get_memory, search_memory
from rag_ls.operations.operation import Caller, Report, Verb, operation
from rag_ls.operations.rules.constraints import search_rules
from rag_ls.operations.stats import Stats
from rag_ls.search import analyse, has_word
from rag_ls.util.records import dataclass, replace

_MIN_ID_CHARACTERS = 4
_KINDS = ("code", "memory", "rules", "history")
_DEFAULT_COMMITS = 10
_USUAL_KINDS = ("code", "memory")
Record = CodeRecord | MemoryRecord | CommitRecord


@dataclass(frozen=True, slots=True)
class Search:
    query: str = argument(doc="a question, words, an identifier, a path, an error message or a piece of code")
    kinds: tuple[str, ...] = argument(
        (),
        "what to search: code, memory, rules, history (default: code,memory; memory with --scope)",
        flag="--in",
        metavar="KINDS",
    )
    k: int | None = argument(None, "how many files, memories and rules at most; 100 of each is the limit", flag="-k")
    language: str = argument("", "only code in this language")
    path_glob: str = argument("", "only files that match, e.g. 'src/**'", flag="--path", metavar="GLOB", is_glob=True)
    scope: str = argument("", "memories of this scope (default: all)", choices=SCOPES_OR_ALL, agents_type="string")
    min_similarity: float | None = argument(
        None,
        "how close in meaning memories must be, 0 to 1 (default: 0.7; half of it for one that shares words), and the least score "
        "of other hits (default: 0)",
    )
    place_texts: bool = argument(False, "the texts of a file's other places too", flag="-")
    match: str = argument(
        "auto", "of code: exact or regex gives all lines that match", flag="-", names=tuple(MatchMode)
    )
    ignore_case: bool = argument(False, "of code: upper and lower case are the same", flag="-")
    whole_words: bool = argument(False, "of code: nothing inside longer words", flag="-")
    files_only: bool = argument(False, "of code: one hit a file", flag="-")
    offset: int | None = argument(None, "with -e or -F: lines to pass over", least=0)


@dataclass(frozen=True, slots=True)
class HitsAnswer:
    """Files, memories, rules and commits, best first."""

    query: str
    results: tuple[Record, ...]
    stats: Stats
    exact: ExactPlaces | None = optional()
    """The lines of code that hold the query as it stands, if it may be a name, a text or a regular expression."""
    words: tuple[str, ...] = optional(())
    """The beginnings of the query's words, by which a shell picks lines, where places have their texts."""


def prepare_search(caller: Caller, request: Search, report: Report) -> None:
    """See `prepare_shell_question` and `wait_for_history`."""
    if "history" in request.kinds:
        wait_for_history(caller.projects.all())
    if "code" in _choose_kinds(caller, request) or caller.client.projects():
        prepare_shell_question(caller, request.query, request.path_glob.strip(), request.kinds, report)


@operation(
    prepare=prepare_search,
    needs_code=False,
    verb=Verb("search", "search code and memories", ("query",), example='rag-ls "where is the token refreshed"'),
)
def search(caller: Caller, request: Search) -> HitsAnswer:
    """Chunks and memories that answer a question."""
    kinds = _choose_kinds(caller, request)
    results: list[Record] = []
    stats = list[Stats]()
    exact: ExactPlaces | None = None
    if "code" in kinds:
        question = SearchCode(
            request.query, request.k, language=request.language, path_glob=request.path_glob, match=request.match,
            files_only=request.files_only, ignore_case=request.ignore_case, whole_words=request.whole_words,
            offset=request.offset or 0, place_texts=request.place_texts,
        )  # fmt: skip
        found = search_code(caller, question)
        results += found.results
        stats, exact = [found.stats], found.exact
    # Nothing is similar to a question without words.
    if "memory" in kinds and not (exact and not has_word(request.query)):
        recalled = search_memory(
            caller, SearchMemory(request.query, request.k, scope=request.scope, min_similarity=request.min_similarity)
        )
        is_weak = code_memories.WEAK in recalled.stats.note
        # A weak memory answers only where nothing else does.
        if not (results and is_weak):
            results += recalled.results
            stats.append(recalled.stats)
    if "rules" in kinds:
        of_rules = search_rules(caller, request.query, request.k)
        results += of_rules.results
        stats.append(of_rules.stats)
    if "history" in kinds:
        sessions = caller.projects.all()
        read_history(caller, sessions)
        commits = search_history(sessions, request.query, request.k or _DEFAULT_COMMITS)
        results += commits
        stats.append(Stats(0.0, False, len(commits), complete=True, note=describe_history(sessions)))
    if request.min_similarity is not None:
        results = [
            each for each in results if isinstance(each, MemoryRecord) or (each.score or 0.0) >= request.min_similarity
        ]
    why_alone = "" if request.kinds or "code" in kinds else f"memories alone: {caller.client.why_none}"
    notes = [note for at, each in enumerate(stats) for note in (each.note,) if note not in stats[0].note or not at]
    told = replace(stats[0], note=join_notes(*notes, why_alone))
    words = tuple(analyse(request.query).line_stems) if request.place_texts else ()
    return HitsAnswer(request.query, tuple(_merge_kinds(results)), told, exact, words)


def _merge_kinds(results: Iterable[Record]) -> list[Record]:
    """The hits with the best first, whether code, memory or rule; those of one kind stay in their order."""
    least: dict[str, float] = {}
    placed = []
    for record in results:
        least[record.kind] = min(least.get(record.kind, 1.0), record.score or 0.0)
        placed.append((-least[record.kind], record))
    return [record for _, record in sorted(placed, key=lambda item: item[0])]


def _choose_kinds(caller: Caller, request: Search) -> tuple[str, ...]:
    """The kinds to search: those asked for, else memories, and code if there is a project."""
    if not set(request.kinds) <= set(_KINDS):
        raise InvalidRequest(
            f"{', '.join(request.kinds)}: give code, memory, rules, history or several, with a comma between"
        )
    return request.kinds or (
        _USUAL_KINDS if caller.client.projects() or caller.client.why_none is None else ("memory",)
    )


@dataclass(frozen=True, slots=True)
class Show:
    id: str = argument(doc="a memory's id (or its first 4 or more characters), or a chunk's")
    history: bool = argument(False, "with a memory's former versions")


@operation(
    needs_code=False, verb=Verb("show", "show a memory or a chunk by its id", ("id",), example="rag-ls show 7b34c1d2")
)
def show(caller: Caller, request: Show) -> MemoryRecord | CodeRecord:
    """A memory with its former versions, else a chunk."""
    try:
        found = get_memory(caller, GetMemory(request.id, history=request.history))
        return replace(found, kind="memory")
    except NotFound:
        try:
            return get_chunk(caller, GetChunk(request.id))
        except RagLsError:
            if path_in(request.id):
                raise
            short = (
                f"give at least its first {_MIN_ID_CHARACTERS} characters; "
                if len(request.id.strip()) < _MIN_ID_CHARACTERS
                else ""
            )
            raise NotFound(
                f"no memory and no chunk has the id {request.id!r}; {short}`rag-ls list` and `rag-ls search` show ids"
            ) from None
