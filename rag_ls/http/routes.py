"""The addresses of operations: `POST /api/<operation>` for each, and those that programs know by other paths."""

from __future__ import annotations

from rag_ls.operations import OPERATIONS, Operation
from rag_ls.util.records import dataclass

API = "/api/"


@dataclass(frozen=True, slots=True)
class OperationRoute:
    """One address of an operation. Arguments come as a JSON body, or in the query of a GET and DELETE."""

    method: str
    path: str
    operation: Operation

    @property
    def path_argument(self) -> str:
        """The argument that stands in the path; empty for none."""
        return self.path.partition("{")[2].partition("}")[0]


_OTHERS = (
    ("POST", "/index", "push"),
    ("GET", "/collections", "get_collections"),
    ("POST", "/collections", "new_collection"),
    ("POST", "/search", "search"),
    ("GET", "/status", "engine_status"),
    ("GET", "/memories", "list_memories"),
    ("POST", "/memories", "store_memory"),
    ("POST", "/memories/search", "search_memory"),
    ("GET", "/memories/{id}", "get_memory"),
    ("PATCH", "/memories/{id}", "update_memory"),
    ("DELETE", "/memories/{id}", "delete_memory"),
)


def operation_routes() -> list[OperationRoute]:
    """All addresses of operations."""
    named = [OperationRoute(method, path, OPERATIONS.find(name)) for method, path, name in _OTHERS]
    return [*named, *(OperationRoute("POST", f"{API}{operation.name}", operation) for operation in OPERATIONS)]
