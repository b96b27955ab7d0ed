"""Operations that look for code: by a question, or by other code."""

from __future__ import annotations

from dataclasses import replace

from rag_ls.engine.requests import DECLARED_KINDS, SearchRequest
from rag_ls.errors import NotFound, StoreUnavailable
from rag_ls.operations.budget import fitted
from rag_ls.operations.code_filters import filters_of, kind_of
from rag_ls.operations.projects import Projects
from rag_ls.operations.records import CodeAnswer
from rag_ls.operations.records_of import Source, best_of, placed_code_record, stats_of_all, with_note
from rag_ls.operations.requests import CODE_KINDS, FindRelated, SearchCode
from rag_ls.search import MAX_QUERY_CHARACTERS


class SearchOperations:
    """Operations that search the code of a client's projects."""

    def __init__(self, projects: Projects, *, wait_s: float, budget_tokens: int = 0) -> None:
        """A question waits `wait_s` for a model that is still loading.

        `budget_tokens` limits answers where neither the caller nor the settings set a limit; 0 is no limit.
        """
        self._projects = projects
        self._wait_s = wait_s
        self._budget_tokens = budget_tokens

    def search_code(self, asked: SearchCode) -> CodeAnswer:
        """Chunks that answer a question, over all open projects or some."""
        kind = kind_of("search_code", asked.kind, CODE_KINDS)
        views, published, problems = self._projects.sought(asked.project)
        request = SearchRequest(
            query=asked.query[:MAX_QUERY_CHARACTERS],
            k=asked.k,
            filters=filters_of(asked.language, asked.path_glob, views, kind, elsewhere=bool(published)),
            min_score=asked.min_score or 0.0,
            declares=kind if kind in DECLARED_KINDS else "",
            files_only=asked.files_only,
            rerank=asked.rerank,
        )
        settings = views[0].settings.search if views else self._projects.user_settings.search
        answers = [view.search(request, wait_for_model_s=self._wait_s) for view in views]
        sources: list[Source] = list(views)
        for code in published:
            try:
                answers.append(code.search(request, settings, wait_for_model_s=self._wait_s))
                sources.append(code)
            except (StoreUnavailable, NotFound) as problem:
                problems.append(f"{code.name} does not answer: {problem}")
        if not answers:
            raise StoreUnavailable("; ".join(problems), "published code")
        results = best_of(sources, answers, request.k or settings.code_k, placed_code_record)
        stats = with_note(stats_of_all(request.query, answers), "; ".join(problems))
        if problems:
            stats = replace(stats, complete=False)
        if len(asked.query) > MAX_QUERY_CHARACTERS:
            stats = with_note(stats, f"the query was cut to its first {MAX_QUERY_CHARACTERS:,} characters")
        if asked.files_only:
            results = tuple(replace(record, text=None) for record in results)
        budget = asked.budget_tokens
        default = settings.budget_tokens or self._budget_tokens
        return _within(CodeAnswer(request.query, results, stats), default if budget is None else budget)

    def find_related(self, asked: FindRelated) -> CodeAnswer:
        """Code close to a place, a symbol or a snippet."""
        view = self._projects.holding(asked.path, asked.project)
        answer = view.code.find_related(
            path=asked.path,
            line=asked.line or 0,
            symbol=asked.symbol.strip(),
            snippet=asked.snippet,
            k=asked.k,
            minimum=asked.min_score or 0.0,
            filters=filters_of(asked.language, asked.path_glob, [view]),
        )
        results = best_of([view], [answer], len(answer.hits), placed_code_record)
        return _within(CodeAnswer(answer.query, results, stats_of_all(answer.query, [answer])), self._budget_tokens)


def _within(answer: CodeAnswer, budget_tokens: int) -> CodeAnswer:
    if not budget_tokens:
        return answer
    results, left_out = fitted(answer.query, answer.results, budget_tokens)
    stats = answer.stats
    if left_out:
        stats = with_note(
            stats,
            f"{left_out} more hits did not fit budget_tokens = {budget_tokens:,}: raise it, or narrow the search",
        )
    return CodeAnswer(answer.query, tuple(results), stats)
