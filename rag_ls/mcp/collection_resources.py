"""Facts about collections as resources: types, projects and their tags, health, settings, how the tools are used."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import mcp_types as types

from rag_ls.errors import NotFound

SCHEME = "collections://"
_JSON = "application/json"
_WORDS = {
    "memory-types": "The kinds of knowledge that a text can be.",
    "projects": "The project ids that texts were pushed under.",
    "health": "Whether the store and the model can answer.",
    "settings": "The settings in force, without secrets.",
    "usage": "How the tools are used, with examples.",
}

RESOURCES = tuple(
    types.Resource(name=name, uri=f"{SCHEME}{name}", mime_type=_JSON, description=words)
    for name, words in _WORDS.items()
)
TEMPLATES = (
    types.ResourceTemplate(
        name="tags of a project",
        uri_template=f"{SCHEME}projects/{{project_id}}/tags",
        mime_type=_JSON,
        description="The tags of what was pushed under a project id.",
    ),
)


def operation_of(uri: str) -> tuple[str, dict[str, Any]]:
    """The operation that reads a resource, and its arguments. Raises `NotFound` for an address of nothing."""
    path = uri.removeprefix(SCHEME).strip("/")
    if path in _WORDS:
        return "collection_facts", {"what": path}
    first, _, rest = path.partition("/")
    project_id, _, last = rest.rpartition("/")
    if first == "projects" and last == "tags" and project_id:
        return "collection_facts", {"what": "tags", "project_id": unquote(project_id)}
    raise NotFound(f"there is no resource {uri!r}; there are {', '.join(item.uri for item in RESOURCES)}")
