"""Operations that look for code: by a question, or by other code."""

from __future__ import annotations

from rag_ls.engine.requests import DECLARED_KINDS, SearchRequest
from rag_ls.operations.answers import Json
from rag_ls.operations.arguments import Arguments
from rag_ls.operations.budget import fitted
from rag_ls.operations.code_hits import KINDS, code_json, filters_of, kind_of
from rag_ls.operations.merged_answers import answers_json
from rag_ls.operations.projects import Projects

# More of a pasted text finds nothing else.
_LONGEST_QUERY = 2000
_SEARCH = (
    "query", "k", "project", "language", "path_glob", "kind", "files_only", "min_score", "rerank", "budget_tokens",
)  # fmt: skip
_RELATED = ("path", "line", "symbol", "snippet", "k", "min_score", "language", "path_glob", "project")


class SearchOperations:
    """Operations that search the code of a client's projects."""

    def __init__(self, projects: Projects, *, wait_s: float, budget_tokens: int = 0) -> None:
        """A question waits `wait_s` for a model that is still loading.

        Answers hold no more than `budget_tokens` where neither the caller nor the settings say how many; 0 is no limit.
        """
        self._projects = projects
        self._wait_s = wait_s
        self._budget_tokens = budget_tokens

    def search_code(self, arguments: object) -> Json:
        """Chunks that answer a question, over all open projects or some."""
        args = Arguments("search_code", arguments, _SEARCH)
        query = args.text("query", required=True)
        budget = args.integer("budget_tokens", least=0)
        kind, files_only = kind_of(args, KINDS), args.flag("files_only")
        projects = self._projects.named(args.strings("project"))
        request = SearchRequest(
            query=query[:_LONGEST_QUERY],
            k=args.integer("k"),
            filters=filters_of(args, projects, kind),
            min_score=args.fraction("min_score") or 0.0,
            declares=kind if kind in DECLARED_KINDS else "",
            files_only=files_only,
            rerank=args.flag("rerank"),
        )
        answers = [view.search(request, wait_for_model_s=self._wait_s) for view in projects]
        settings = projects[0].settings.search
        answer = answers_json(request.query, projects, answers, request.k or settings.code_k, code_json)
        if len(query) > _LONGEST_QUERY:
            _add_note(answer, f"the query was cut to its first {_LONGEST_QUERY:,} characters")
        if files_only:
            for record in answer["results"]:
                del record["text"]
        return _within(answer, settings.budget_tokens or self._budget_tokens if budget is None else budget)

    def find_related(self, arguments: object) -> Json:
        """Code close to a place, a symbol or a snippet."""
        args = Arguments("find_related", arguments, _RELATED)
        path = args.text("path")
        view = self._projects.holding(path, args.strings("project"))
        answer = view.code.find_related(
            path=path,
            line=args.integer("line", least=1) or 0,
            symbol=args.text("symbol").strip(),
            snippet=args.text("snippet"),
            k=args.integer("k"),
            minimum=args.fraction("min_score") or 0.0,
            filters=filters_of(args, [view]),
        )
        return _within(answers_json(answer.query, [view], [answer], len(answer.hits), code_json), self._budget_tokens)


def _within(answer: Json, budget_tokens: int) -> Json:
    if not budget_tokens:
        return answer
    results, left_out = fitted(answer["query"], answer["results"], budget_tokens)
    answer = {**answer, "results": results}
    if left_out:
        _add_note(
            answer,
            f"{left_out} more hits did not fit budget_tokens = {budget_tokens:,}: raise it, or narrow the search",
        )
    return answer


def _add_note(answer: Json, note: str) -> None:
    stats = answer["stats"]
    stats["note"] = "; ".join(filter(None, (stats.get("note"), note)))
