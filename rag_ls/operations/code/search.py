"""Operations that look for code: by a question, or by other code."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Collection, Sequence

from rag_ls.engine import (
    DECLARED_KINDS,
    PlacesRequest,
    ProjectSession,
    PublishedCode,
    SearchRequest,
    count_left_out,
    describe_left_out,
    related_code,
)
from rag_ls.errors import InvalidRequest, StoreUnavailable
from rag_ls.model import Closeness, SearchAnswer
from rag_ls.operations.code.asked_texts import find_literal_queries, is_part_of
from rag_ls.operations.code.budget import FILES_WITH_TEXT, fit_to_budget
from rag_ls.operations.code.exact_places import (
    EXACT_LONGEST_S,
    MatchMode,
    answer_exactly,
    find_beside,
    fit_places,
    leave_out_others,
    read_count,
    read_mode,
    set_beside,
)
from rag_ls.operations.code.filters import make_document_filters, read_kind
from rag_ls.operations.code.hits import (
    CodeAnswer,
    CodeRecord,
    Source,
    ask_each,
    mark_far,
    number_lines,
    pick_best,
)
from rag_ls.operations.code.preparation import QuestionScope, read_first
from rag_ls.operations.fields import argument, join_notes
from rag_ls.operations.operation import Caller, Tool, operation
from rag_ls.operations.stats import add_notes, make_stats, merge_stats
from rag_ls.search import (
    DOCUMENT_KINDS,
    MAX_OCCURRENCES,
    MAX_QUERY_CHARACTERS,
    NO_FILTERS,
    Filters,
    Query,
    TextQuery,
    analyse,
    has_word,
)
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import count_of

CODE_KINDS = (*DECLARED_KINDS, *DOCUMENT_KINDS)
# The size of an answer where an agent sets none.
AGENTS_BUDGET_TOKENS = 2000
_NOTHING_LIKE_IT = "weak: no code of another file is like it; these are the nearest"
_WORDLESS = "the question has no words: only lines that hold it as it stands were looked for"
_CUT_QUERY = f"the query was cut to its first {MAX_QUERY_CHARACTERS:,} characters"
_NO_OFFSET = (
    "offset passes over lines of match = exact or regex alone: these are the first files, and a larger k has more"
)


@dataclass(frozen=True, slots=True)
class SearchCode:
    query: str = argument(doc="words, an identifier, a path, an error message or a piece of code")
    k: int | None = argument(None, "files at most", flag="-k")
    project: tuple[str, ...] = argument(
        (), "names or roots of projects, or all", agents="of list_repos, or all", agents_type="string"
    )
    language: str = argument("", "only code in this language")
    path_glob: str = argument("", "only files that match", flag="--path", metavar="GLOB", is_glob=True)
    kind: str = argument("", "only this kind of declaration or document", names=CODE_KINDS)
    files_only: bool = argument(False, "files without their texts")
    min_score: float | None = argument(None, "only hits with at least this score, 0 to 1")
    rerank: bool = argument(False, "have the cross-encoder of the settings order the first hits")
    budget_tokens: int | None = argument(None, "cut the answer to about so many tokens; 0 for no limit", least=0)
    match: str = argument(
        "auto",
        "exact: all lines that hold the query; regex: all that match it; auto: both kinds of answer",
        agents="exact or regex: all lines, counted",
        names=tuple(MatchMode),
    )
    ignore_case: bool = argument(False, "of exact and regex: upper and lower case are the same")
    whole_words: bool = argument(False, "of exact and regex: nothing inside longer words")
    offset: int | None = argument(None, "of exact and regex: lines to pass over", least=0)

    place_texts: bool = argument(False, "the texts of a file's other places too", flag="-")


@operation(
    tool=Tool(
        "code",
        "Find code by meaning, words, names or paths: ask before you grep.",
        ("query", "match", "k", "language", "path_glob", "kind", "project"),
        nothing="nothing found: try other words or an identifier, fewer filters, or list_symbols for names",
    ),
    command="ragLs.searchCode",
    shared_verb="search",
)
def search_code(caller: Caller, request: SearchCode) -> CodeAnswer:
    """Find code by meaning, words, identifier or path."""
    kind, mode = read_kind("search_code", request.kind, CODE_KINDS), read_mode(request.match)
    wanted = request.project or caller.projects.find_roots_below(request.path_glob)
    sessions, published, problems = caller.projects.find_with_published(wanted)
    read_first(caller, sessions, QuestionScope(request.query, glob=request.path_glob.strip()))
    filters = make_document_filters(request.language, request.path_glob, sessions, kind, elsewhere=bool(published))
    settings = sessions[0].settings.search if sessions else caller.projects.user_settings.search
    default = settings.budget_tokens or caller.budget_tokens
    budget = default if request.budget_tokens is None else request.budget_tokens
    if mode is not MatchMode.AUTO:
        lines = _make_places_request(request, mode, filters)
        return answer_exactly((*sessions, *published), lines, budget, join_notes(*problems))
    if request.query.strip() and not has_word(request.query):
        lines = _make_places_request(request, MatchMode.EXACT, filters)
        lines = replace(lines, queries=find_literal_queries(request.query) or lines.queries)
        found = answer_exactly((*sessions, *published), lines, budget, join_notes(*problems))
        return replace(found, stats=add_notes(found.stats, _WORDLESS))
    k = request.k or settings.code_k
    # The order of the first hits must not depend on how many are wanted. Ranking refuses a k below 1.
    ranked = k if k < 1 else max(k, settings.code_k)
    question = SearchRequest(
        query=request.query[:MAX_QUERY_CHARACTERS],
        k=ranked,
        filters=filters,
        min_score=request.min_score or 0.0,
        declares=kind if kind in DECLARED_KINDS else "",
        files_only=request.files_only,
        by_file=True,
        rerank=request.rerank,
    )

    def ask_source(source: Source) -> SearchAnswer:
        if isinstance(source, PublishedCode):
            return source.search(question, settings, wait_for_model_s=caller.wait_s)
        return source.search(question, wait_for_model_s=caller.wait_s)

    sources, answers = ask_each((*sessions, *published), ask_source, problems)
    if not answers:
        raise StoreUnavailable(join_notes(*problems), "published code")
    results = pick_best(sources, answers, question.asked, ranked, place_texts=request.place_texts)
    with contextlib.ExitStack() as blocks:
        for session in sessions:
            blocks.enter_context(session.store.kept.at_one_version())
        beside = find_beside(sources, question, PlacesRequest((), filters, files_only=request.files_only), results)
    exact, merged = beside.exact, merge_stats(answers)
    if exact and exact.total:
        # Lines that hold the question are close, even if all other hits are not.
        least = Closeness.WEAK if is_part_of(exact.pattern, question.query) else Closeness.CLOSE
        # The exact part tells these notes already.
        notes = tuple(note for note in merged.notes if note not in exact.left_out)
        merged = replace(merged, closeness=max(merged.closeness, least), notes=notes)
    results = _mark_lines(results, merged.closeness)
    results, note = set_beside(results, beside, question.query, is_close=merged.closeness is not Closeness.NONE)
    results = results[:k]
    # Other words are no help for a name that no line holds.
    stats = add_notes(make_stats(merged, names_other_words=not note), *problems, note)
    if stats.nothing_close and stats.complete and not published and (reason := _describe_empty(sessions)):
        stats = replace(stats, note=reason)
    elif (
        stats.nothing_close and exact is None and not (results and all(hit.matched_by == ("dense",) for hit in results))
    ):
        # Where nothing is close, what was not looked at may be. That of hits by meaning alone is told already.
        unseen = (count_left_out(session.store, filters, session.project.roles) for session in sessions)
        stats = add_notes(stats, describe_left_out(sum(unseen, Counter())))
    stats = add_notes(
        replace(stats, complete=stats.complete and not problems),
        _describe_filtered(sessions, filters) if merged.closeness is not Closeness.CLOSE else "",
        _CUT_QUERY if len(request.query) > MAX_QUERY_CHARACTERS else "",
        _NO_OFFSET if request.offset else "",
    )
    if request.files_only:
        results = tuple(replace(record, text=None, places=()) for record in results)
    if budget:
        results = leave_out_others(results, beside, question.query)
    words = tuple(question.asked.line_stems) if request.place_texts else ()
    return _fit_answer(CodeAnswer(question.query, results, stats, exact, words), question.asked, budget)


def _describe_filtered(sessions: Sequence[ProjectSession], filters: Filters) -> str:
    """The number of files that the filters let through; empty where they let through all."""
    known = sum(len(session.store.document_paths()) for session in sessions)
    allowed = [session.project.searcher.view(session.editing_session, filters).allowed for session in sessions]
    passed = sum(len(each) for each in allowed if each is not None)
    return (
        f"the filters leave {passed:,} of {count_of(known, 'file')}" if filters != NO_FILTERS and passed < known else ""
    )


def _describe_empty(sessions: Sequence[ProjectSession]) -> str:
    """The reason why no question can find anything: no file is indexed. Empty where one is."""
    if any(session.store.counts().documents for session in sessions):
        return ""
    if all(session.is_scratch for session in sessions):
        return "no folder is open, so there is no code to search"
    reasons = join_notes(*(session.project.exclusions.note for session in sessions))
    roots = ", ".join(str(session.project.root) for session in sessions)
    return reasons or f"no file is indexed in {roots}: `rag-ls status --skipped` names what is left out, and why"


def _mark_lines(results: tuple[CodeRecord, ...], closeness: Closeness) -> tuple[CodeRecord, ...]:
    """The hits, where those that need no more than a line are far: all where none is close, all but the best where they are weak."""
    if closeness is Closeness.CLOSE:
        return mark_far(results)
    whole = int(closeness is Closeness.WEAK)
    return (*results[:whole], *(replace(each, far=True) for each in results[whole:]))


def _make_places_request(request: SearchCode, mode: MatchMode, filters: Filters) -> PlacesRequest:
    """The request for lines alone. Raises `InvalidRequest` for what does not go with it."""
    if request.kind and not filters.kind:
        raise InvalidRequest(f"match = {mode} finds lines, not declarations: leave kind = {request.kind!r} out")
    query = TextQuery(request.query, mode is MatchMode.REGEX, request.ignore_case, request.whole_words)
    return PlacesRequest(
        (query,), filters, count=read_count(request.k), offset=request.offset or 0, files_only=request.files_only,
        counted=MAX_OCCURRENCES, longest_s=EXACT_LONGEST_S,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class FindRelated:
    path: str = argument("", "a file", is_path=True)
    line: int | None = argument(None, "a line of it, from 1", least=1)
    symbol: str = argument("", "a symbol, by its qualified name or its last part")
    snippet: str = argument("", "a piece of code or text")
    k: int | None = argument(None, "hits at most", flag="-k")
    min_score: float | None = argument(None, "only hits at least this close, 0 to 1")
    language: str = argument("", "only code in this language")
    path_glob: str = argument("", "only files that match", metavar="GLOB", is_glob=True)
    project: tuple[str, ...] = argument((), "names or roots of projects, or all")


@operation(
    tool=Tool(
        "code",
        "Is there code like this place, symbol or snippet already?",
        ("path", "line", "symbol", "snippet"),
        nothing="nothing is close: give a snippet, or ask search_code in words",
    ),
    command="ragLs.findRelated",
)
def find_related(caller: Caller, request: FindRelated) -> CodeAnswer:
    """Code like a place, symbol or snippet, in other files."""
    scope = QuestionScope(f"{request.symbol} {request.snippet}", request.path.strip(), request.path_glob.strip())
    read_first(caller, caller.projects.find_candidates(scope.path, request.project), scope)
    session = caller.projects.find_holding(request.path, request.project)
    answer = related_code.find_related(
        session,
        path=request.path,
        line=request.line or 0,
        symbol=request.symbol.strip(),
        snippet=request.snippet,
        k=request.k,
        minimum=request.min_score or 0.0,
        filters=make_document_filters(request.language, request.path_glob, [session]),
    )
    query = analyse(answer.query)
    results = pick_best([session], [answer], query, len(answer.hits))
    near = session.settings.hover.min_similarity
    stats = add_notes(make_stats(answer.stats), caller.projects.note_elsewhere([session]))
    if stats.dense and results and results[0].score < near:
        stats = add_notes(stats, _NOTHING_LIKE_IT)
    # One line of each further file that is no nearer than any two files of a project.
    results = (*results[:1], *(replace(each, far=stats.dense and each.score < near) for each in results[1:]))
    return _fit_answer(CodeAnswer(answer.query, results, stats), query, caller.budget_tokens)


def _fit_answer(answer: CodeAnswer, query: Query, budget_tokens: int) -> CodeAnswer:
    if not budget_tokens:
        return answer
    exact, taken = fit_places(answer.exact, budget_tokens // 3) if answer.exact else (None, 0)
    # Beside lines that hold what was asked for, hits show what is around them.
    files = FILES_WITH_TEXT * (2 if taken else 1)
    results, left_out = fit_to_budget(query, answer.results, budget_tokens - taken, files)
    stats = answer.stats
    if left_out:
        stats = add_notes(
            stats,
            f"{count_of(left_out, 'more file')} did not fit budget_tokens = {budget_tokens:,}: raise it, narrow the search, or "
            "ask files_only",
        )
    told = {(place.project, place.path, place.line) for place in exact.places} if exact else set()
    return replace(
        answer, results=tuple(each for each in results if not _is_shown_above(each, told)), stats=stats, exact=exact
    )


def _is_shown_above(record: CodeRecord, told: Collection[tuple[str, str, int]]) -> bool:
    """Whether all that is left of a hit is a line that the exact answer has."""
    line = next((number for number, _ in number_lines(record) if number), 0)
    return record.far and record.truncated and (record.project, record.path, line) in told
