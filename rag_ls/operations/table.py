"""The table of operations, collected from the modules of the subjects. To add one, write its handler in one of them."""

from __future__ import annotations

from rag_ls.operations import everything
from rag_ls.operations.code import lookup, references, search
from rag_ls.operations.collections import texts, upkeep
from rag_ls.operations.engine import indexing, status
from rag_ls.operations.memories import batches, consolidation, recalling, stores, storing
from rag_ls.operations.memories import listing as memory_listing
from rag_ls.operations.operation import Operation, collect_operations
from rag_ls.operations.projects import listing, removal
from rag_ls.operations.rules import constraints, health, impact, setup

_MODULES = (
    search, lookup, references, listing, status, storing, recalling, memory_listing, consolidation, stores, indexing, everything,
    removal, batches, setup, constraints, impact, health, texts, upkeep,
)  # fmt: skip
# The order in which agents, the reference and the extension have them; an operation that is not named here comes last.
_ORDER = """
search_code get_chunk list_symbols find_references find_related related_tests list_repos index_status
store_memory search_memory get_memory update_memory delete_memory list_memories consolidate_memories clear_session
summarize_memories restore_memory memories_about stats
reindex engine_status status search show index scan add_project plan_removal plan_pruning remove_projects
optimize vacuum export_memories import_memories restore_backup delete_memories last_change undo
rag_setup rag_index rag_check_constraints check_file rag_query_impact rag_health_check rag_status
push search_collection summarize_collection get_collections new_collection collection_metrics collection_facts
""".split()

_found = collect_operations(_MODULES)
OPERATIONS: tuple[Operation, ...] = tuple(_found[name] for name in dict.fromkeys((*_ORDER, *_found)))
