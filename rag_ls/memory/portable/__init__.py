"""Exports memories to files, and imports them from such files or from files of other tools."""

# A package offers what it imports here.
# mypy: implicit-reexport
# ruff: noqa: F401

from rag_ls.memory.portable.files import export_memories
from rag_ls.memory.portable.foreign import KINDS, read_foreign
from rag_ls.memory.portable.formats import Format, detect_format, format_by_name
from rag_ls.memory.portable.importing import ImportResult, import_memories, import_records
