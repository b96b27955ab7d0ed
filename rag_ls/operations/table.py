"""The table of operations. To add one, write its handler in the module of its subject, and name it here."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping

from rag_ls.errors import InvalidRequest
from rag_ls.operations.operation import Operation, collect_operations

# By module, in the order in which agents, the reference and the extension have them.
_ORDER = """
code.search: search_code
code.lookup: get_chunk list_symbols
code.references: find_references
code.search: find_related
code.lookup: related_tests
code.history: explain_history
projects.listing: list_repos
projects.status: index_status
memories.storing: store_memory
memories.recalling: search_memory get_memory
memories.storing: update_memory delete_memory
memories.recalling: list_memories
memories.consolidation: consolidate_memories
memories.storing: clear_session
memories.consolidation: summarize_memories
memories.storing: restore_memory
memories.recalling: memories_about
memories.stores: stats
projects.listing: reindex
projects.status: engine_status status
everything: search show
projects.listing: index scan add_project
projects.removal: plan_removal plan_pruning remove_projects
memories.stores: optimize vacuum export_memories
memories.batches: import_memories restore_backup delete_memories last_change undo
rules.setup: rag_setup rag_index
rules.constraints: rag_check_constraints check_file
rules.impact: rag_query_impact
rules.health: rag_health_check rag_status
collections.texts: push search_collection summarize_collection
collections.upkeep: get_collections new_collection collection_metrics collection_facts
"""


class OperationTable:
    """Operations by name; a module is imported when one of its operations is asked for."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        """`modules` gives for the name of each operation the module, below `rag_ls.operations`, that declares it."""
        self._modules = modules

    def __iter__(self) -> Iterator[Operation]:
        """Yield all operations, in their order."""
        return map(self.find, self._modules)

    def find(self, name: str) -> Operation:
        """Return the operation with a name. Raises `InvalidRequest`."""
        if name not in self._modules:
            raise InvalidRequest(f"there is no operation {name!r}")
        return collect_operations([importlib.import_module(f"rag_ls.operations.{self._modules[name]}")])[name]


def _read_order(text: str) -> dict[str, str]:
    rows = (row.split(":") for row in text.strip().splitlines())
    return {name: module for module, names in rows for name in names.split()}


OPERATIONS = OperationTable(_read_order(_ORDER))
