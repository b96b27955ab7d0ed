"""Resources and prompts that a client can attach: memories (the list, figures, each by its id), facts about collections, and prompts.

`resources.json` describes them in MCP's own form. In a prompt's text, `{context}` stands for the recalled memories.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import mcp_types as types

from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.util.text import escape_json, fence, quote

_JSON = "application/json"
_MAX_PAGE_MEMORIES = 50
_MAX_TITLE = 80
_COLLECTIONS = "collections://"
_BUDGET_TOKENS = 1500
_DESCRIBED: dict[str, Any] = json.loads(Path(__file__).with_name("resources.json").read_text("utf-8"))
_PROMPTS = {each["prompt"]["name"]: each for each in _DESCRIBED["prompts"]}


def list_fixed(kind: str) -> list[types.Resource]:
    """The resources of `memories` or of `collections` that are always there."""
    return [types.Resource.model_validate(each) for each in _DESCRIBED[kind]["resources"]]


def list_templates(kind: str) -> list[types.ResourceTemplate]:
    """The addresses of further ones."""
    return [types.ResourceTemplate.model_validate(each) for each in _DESCRIBED[kind]["templates"]]


def operation_of(uri: str) -> tuple[str, dict[str, Any]]:
    """The operation that reads a resource, and its arguments. Raises `NotFound` for an address of nothing."""
    if uri.startswith(_COLLECTIONS):
        return _read_fact(uri)
    parts = urlsplit(uri)
    name = unquote(parts.netloc + parts.path).strip("/")
    if parts.scheme != "memory" or not name:
        raise NotFound(
            f"there is no resource {uri!r}; there are memory://list, memory://inbox, memory://stats and memory://{{id}}"
        )
    if name == "inbox":
        return "list_inbox", {}
    if name == "stats":
        return "stats", {}
    if name != "list":
        return "get_memory", {"id": name}
    given = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    arguments: dict[str, Any] = {"scope": given.get("scope")}
    for key in ("limit", "offset"):
        if key in given:
            arguments[key] = _read_number(key, given[key])
    return "list_memories", arguments


def _read_fact(uri: str) -> tuple[str, dict[str, Any]]:
    known = [each["uri"] for each in _DESCRIBED["collections"]["resources"]]
    path = uri.removeprefix(_COLLECTIONS).strip("/")
    if f"{_COLLECTIONS}{path}" in known:
        return "collection_facts", {"what": path}
    first, _, rest = path.partition("/")
    project_id, _, last = rest.rpartition("/")
    if first == "projects" and last == "tags" and project_id:
        return "collection_facts", {"what": "tags", "project_id": unquote(project_id)}
    raise NotFound(f"there is no resource {uri!r}; there are {', '.join(known)}")


def _read_number(key: str, text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise InvalidRequest(f"memory://list: {key} = {text!r} is no whole number") from error


def page_arguments(cursor: str | None) -> dict[str, Any]:
    """The arguments of list_memories for a page of resources. Raises `InvalidRequest` for a foreign cursor."""
    return {"limit": _MAX_PAGE_MEMORIES, "offset": _read_number("cursor", cursor) if cursor else 0}


def list_page(answer: dict[str, Any], fixed: Sequence[types.Resource]) -> types.ListResourcesResult:
    """A page of memories as resources, after the `fixed` ones of the first page."""
    found = [
        types.Resource(
            name=item["id"], title=f"Memory: {quote(item['content'], _MAX_TITLE)}", uri=f"memory://{item['id']}", mime_type=_JSON,
            description=f"{item['scope']} memory, {item['updated_at'][:10]}",
        )
        for item in answer["memories"]
    ]  # fmt: skip
    following = answer.get("next_offset")
    return types.ListResourcesResult(
        resources=[*fixed, *found], next_cursor=None if following is None else str(following)
    )


def make_contents(uri: str, answer: dict[str, Any]) -> types.ReadResourceResult:
    text = escape_json(json.dumps(answer, ensure_ascii=False, indent=1))
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=_JSON, text=text)])


def list_prompts() -> list[types.Prompt]:
    """All prompts; each has one argument."""
    return [types.Prompt.model_validate(each["prompt"]) for each in _PROMPTS.values()]


def find_argument(name: str, arguments: Mapping[str, str] | None) -> str:
    """The value of a prompt's argument. Raises `NotFound` and `InvalidRequest`."""
    if name not in _PROMPTS:
        raise NotFound(f"there is no prompt {name!r}; there are {', '.join(_PROMPTS)}")
    (declared,) = _PROMPTS[name]["prompt"]["arguments"]
    argument = (arguments or {}).get(declared["name"], "").strip()
    if not argument:
        raise InvalidRequest(f"the prompt {name} needs {declared['name']!r}: {declared['description']}")
    return argument


def question_of(name: str, argument: str) -> dict[str, object] | None:
    """The arguments of search_memory that find a prompt's memories; None for a prompt without memories."""
    has_context = "{context}" in _PROMPTS[name]["text"]
    return {"query": argument, "budget_tokens": _BUDGET_TOKENS} if has_context else None


def fill_prompt(name: str, argument: str, context: str = "") -> types.GetPromptResult:
    """The prompt's message."""
    known = fence(context) if context else "(nothing was remembered about this)"
    # Not with `format`: both texts may contain braces, even `{context}`.
    before, _, after = _PROMPTS[name]["text"].partition("{argument}")
    text = before + argument + after.replace("{context}", known)
    content = types.TextContent(type="text", text=text)
    return types.GetPromptResult(
        description=_PROMPTS[name]["prompt"]["description"],
        messages=[types.PromptMessage(role="user", content=content)],
    )
