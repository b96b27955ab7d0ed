"""Exports memories to files, and imports them from such files or from files of other tools."""

from rag_ls.memory.portable.exporting import export_memories
from rag_ls.memory.portable.foreign import KINDS, detect_format, format_by_name, read_foreign
from rag_ls.memory.portable.formats import Format
from rag_ls.memory.portable.importing import ImportResult, import_memories, import_records

__all__ = [
    "KINDS",
    "Format",
    "ImportResult",
    "detect_format",
    "export_memories",
    "format_by_name",
    "import_memories",
    "import_records",
    "read_foreign",
]
