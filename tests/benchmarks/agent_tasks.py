"""What an agent needs for twenty tasks on Django, written down as the calls that solve them: calls and tokens.

A task ends with the first answer that holds its evidence, the place in the code that it is about. The same calls are made twice:
as the tools answer by default, and as they did before they were lean (all fields, 4,000 tokens for code).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rag_ls.operations.code.budget import count_tokens
from tests.e2e.clients import Agent, agent

_BEFORE = {"detail": "full"}
_BEFORE_CODE = {**_BEFORE, "budget_tokens": 4000}

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Task:
    """A question, what shows that it is answered, and the calls that an agent makes until it is."""

    goal: str
    evidence: str
    """A regular expression on the text of an answer."""
    calls: Sequence[Call] = field(default_factory=tuple)


def _ask(query: str, **more: Any) -> Call:
    return "search_code", {"query": query, **more}


def _list(**arguments: Any) -> Call:
    return "list_symbols", arguments


TASKS = (
    Task("how passwords are hashed", r"PBKDF2PasswordHasher", [
        _ask("how is a password hashed before it is stored"), _list(path="django/contrib/auth/hashers.py")]),
    Task("where the CSRF token is checked", r"_check_token|_does_token_match", [
        _ask("where is the CSRF token of a request compared with the cookie"), _list(path="django/middleware/csrf.py")]),
    Task("how a path finds its view", r"URLResolver\.resolve\b", [
        _ask("how is the path of a request matched to a view"), _list(path="django/urls/resolvers.py")]),
    Task("when a session expires", r"get_expiry_age", [
        _ask("how is the age computed after which a session expires"), _list(path="django/contrib/sessions/backends/base.py")]),
    Task("a method by its name", r"def bulk_create", [_ask("QuerySet.bulk_create")]),
    Task("what the paginator can do", r"Paginator\.get_page", [_list(path="django/core/paginator.py")]),
    Task("the filter that shortens texts", r"truncatewords", [
        _ask("template filter that cuts a text after some words"), _list(query="truncate")]),
    Task("an error message, pasted", r"def check_response", [
        _ask("didn't return an HttpResponse object. It returned None instead.")]),
    Task("how renamed models are detected", r"generate_renamed_models", [
        _ask("how do migrations detect that a model was renamed"), _list(query="rename", path_glob="django/db/migrations/**")]),
    Task("locking rows", r"def select_for_update", [_ask("lock rows until the transaction ends"), _ask("select_for_update")]),
    Task("a whole function", r"def slugify[\s\S]*strip\(", [
        _ask("slugify", path_glob="django/utils/**"), ("get_chunk", {"id": "$first", "context": "declaration"})]),
    Task("the tests of a file", r"tests/utils_tests/test_text\.py", [("related_tests", {"path": "django/utils/text.py"})]),
    Task("a test by its subject", r"tests/.*slugify", [_ask("slugify keeps unicode letters when allowed", kind="test")]),
    Task("where caches are implemented", r"django/core/cache/backends/", [_ask("cache backends", files_only=True)]),
    Task("code like this place", r"django/.*\.py", [("find_related", {"path": "django/core/paginator.py", "line": 60})]),
    Task("a misspelt name", r"django/core/paginator\.py:\d+[^\n]*Paginator\b|\"symbol\": ?\"Paginator\"", [
        _list(query="Paginatr", kind="class"), _list(query="Paginator", kind="class")]),
    Task("a wrong path", r"django/.*\.py", [
        ("find_related", {"path": "core/paginator.py", "line": 60}),
        ("find_related", {"path": "django/core/paginator.py", "line": 60})]),
    Task("a wrong argument", r"django/db/transaction\.py", [
        ("search_code", {"q": "commit or roll back a block"}), _ask("commit or roll back a block of queries, atomic")]),
    Task("what was decided", r"rounded half up", [
        ("store_memory", {"content": "Amounts are rounded half up, the tax office insists", "scope": "project",
                          "metadata": {"source_file": "django/utils/numberformat.py", "symbol": "format"}}),
        ("search_memory", {"query": "how do we round amounts of money"})]),
    Task("what is known about a function", r"rounded half up", [
        ("search_memory", {"query": "numberformat.format"})]),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Effort:
    """What a task took."""

    calls: int
    tokens: int
    solved: bool


async def agent_tasks(folder: Path) -> dict[str, Any]:
    """Calls and tokens of each task, before and after; `folder` is an indexed copy of Django."""
    async with agent(folder) as user:
        await user.until_complete()
        shown = (await user.session.list_tools()).tools
        rows = {task.goal: (await _effort(user, task, was=True), await _effort(user, task)) for task in TASKS}
    return {
        "tools/list tokens": count_tokens(
            json.dumps([tool.model_dump(exclude_none=True, by_alias=True) for tool in shown])
        ),
        "tasks": {goal: {"before": _row(before), "now": _row(now)} for goal, (before, now) in rows.items()},
        "before": _total([before for before, _ in rows.values()]),
        "now": _total([now for _, now in rows.values()]),
    }


async def _effort(user: Agent, task: Task, *, was: bool = False) -> Effort:
    calls = spent = 0
    first = ""
    for tool, given in task.calls:
        arguments = {key: first if value == "$first" else value for key, value in given.items()}
        beside = (_BEFORE_CODE if tool == "search_code" else _BEFORE) if was else {}
        answer = await user.session.call_tool(tool, {**arguments, **beside})
        text = answer.content[0].text  # type: ignore[union-attr]
        calls, spent = calls + 1, spent + count_tokens(text)
        if not answer.is_error:
            first = first or _first_id(answer.structured_content or {})
            # What a question or a stored text itself says is no evidence.
            if tool != "store_memory" and re.search(task.evidence, text):
                return Effort(calls, spent, True)
    return Effort(calls, spent, False)


def _first_id(answer: Any) -> str:
    results = answer.get("results") or [{}]
    return str(results[0].get("id", ""))


def _row(effort: Effort) -> str:
    return f"{effort.calls} calls, {effort.tokens:,} tokens{'' if effort.solved else ', NOT solved'}"


def _total(efforts: Sequence[Effort]) -> dict[str, int]:
    return {
        "calls": sum(effort.calls for effort in efforts),
        "tokens": sum(effort.tokens for effort in efforts),
        "solved": sum(effort.solved for effort in efforts),
    }
