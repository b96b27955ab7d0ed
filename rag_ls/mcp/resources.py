"""Resources that a client can attach: memories (the list, figures, each by its id), and facts about collections."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import mcp_types as types

from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.util.text import escape_json, quote

_JSON = "application/json"
_MAX_PAGE_MEMORIES = 50
_MAX_TITLE = 80
_COLLECTIONS = "collections://"
_FACTS = {
    "memory-types": "The kinds of knowledge that a text can be.",
    "projects": "The project ids that texts were pushed under.",
    "health": "Whether the store and the model can answer.",
    "settings": "The settings in force, without secrets.",
    "usage": "How the tools are used, with examples.",
}

RESOURCES = (
    types.Resource(
        name="memories", uri="memory://list", mime_type=_JSON,
        description="All memories, newest change first; pages with ?limit=50&offset=50.",
    ),
    types.Resource(
        name="memory statistics", uri="memory://stats", mime_type=_JSON,
        description="How many memories there are of what kind, and what is never recalled.",
    ),
)  # fmt: skip
TEMPLATES = (
    types.ResourceTemplate(
        name="memories, a page of them", uri_template="memory://list{?limit,offset,scope}", mime_type=_JSON,
        description="A page of memories, of one scope or all.",
    ),
    types.ResourceTemplate(
        name="memory", uri_template="memory://{id}", mime_type=_JSON, description="One memory with all that is known of it."
    ),
)  # fmt: skip
COLLECTION_RESOURCES = tuple(
    types.Resource(name=name, uri=f"{_COLLECTIONS}{name}", mime_type=_JSON, description=words)
    for name, words in _FACTS.items()
)
COLLECTION_TEMPLATES = (
    types.ResourceTemplate(
        name="tags of a project",
        uri_template=f"{_COLLECTIONS}projects/{{project_id}}/tags",
        mime_type=_JSON,
        description="The tags of what was pushed under a project id.",
    ),
)


def operation_of(uri: str) -> tuple[str, dict[str, Any]]:
    """The operation that reads a resource, and its arguments. Raises `NotFound` for an address of nothing."""
    if uri.startswith(_COLLECTIONS):
        return _read_fact(uri)
    parts = urlsplit(uri)
    name = unquote(parts.netloc + parts.path).strip("/")
    if parts.scheme != "memory" or not name:
        raise NotFound(f"there is no resource {uri!r}; there are memory://list, memory://stats and memory://{{id}}")
    if name == "stats":
        return "stats", {}
    if name != "list":
        return "get_memory", {"id": name}
    given = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    arguments: dict[str, Any] = {"scope": given.get("scope")}
    for key in ("limit", "offset"):
        if key in given:
            arguments[key] = _number(key, given[key])
    return "list_memories", arguments


def _read_fact(uri: str) -> tuple[str, dict[str, Any]]:
    """The operation that reads a resource, and its arguments. Raises `NotFound` for an address of nothing."""
    path = uri.removeprefix(_COLLECTIONS).strip("/")
    if path in _FACTS:
        return "collection_facts", {"what": path}
    first, _, rest = path.partition("/")
    project_id, _, last = rest.rpartition("/")
    if first == "projects" and last == "tags" and project_id:
        return "collection_facts", {"what": "tags", "project_id": unquote(project_id)}
    raise NotFound(f"there is no resource {uri!r}; there are {', '.join(item.uri for item in COLLECTION_RESOURCES)}")


def _number(key: str, text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise InvalidRequest(f"memory://list: {key} = {text!r} is no whole number") from error


def page_arguments(cursor: str | None) -> dict[str, Any]:
    """The arguments of list_memories for a page of resources. Raises `InvalidRequest` for a foreign cursor."""
    return {"limit": _MAX_PAGE_MEMORIES, "offset": _number("cursor", cursor) if cursor else 0}


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
