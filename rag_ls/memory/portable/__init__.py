"""Exports memories to files, and imports them from such files or from files of other tools."""

# A package offers what it imports here.
# mypy: implicit-reexport
# ruff: noqa: F401

from rag_ls.memory.portable.exporting import export_memories
from rag_ls.memory.portable.foreign import KINDS, detect_format, format_by_name, read_foreign
from rag_ls.memory.portable.formats import Format
from rag_ls.memory.portable.importing import ImportResult, import_memories, import_records
