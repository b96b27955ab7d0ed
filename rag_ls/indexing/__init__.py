"""Reads, cuts and stores documents, and embeds their chunks."""

# A package offers what it imports here.
# mypy: implicit-reexport
# ruff: noqa: F401

from rag_ls.indexing.cutters import Cutters, Cutting
from rag_ls.indexing.documents import DocumentIndexer
from rag_ls.indexing.documents_thread import MAX_AWAITED_FILES
from rag_ls.indexing.files import (
    FAILED,
    UNKNOWN_ENCODING,
    FileRules,
    Rejected,
    describe_unknown_languages,
    read_source,
    reason_by_name,
)
from rag_ls.indexing.ignore_files import rule_files
from rag_ls.indexing.inbox import Buffer, EditingSessions
from rag_ls.indexing.intake import Admissions, PathSet, is_ignore_file
from rag_ls.indexing.listing import Patterns, list_files
from rag_ls.indexing.progress import Depth, Phase, Progress, reason_to_wait
from rag_ls.indexing.publishing import Published, Publishing
from rag_ls.indexing.scan import Scan, find_differing_files, is_all_known, rules_note, scan_tree
from rag_ls.indexing.service import IndexingService
from rag_ls.indexing.unread_search import files_holding
from rag_ls.indexing.watching import ChangeSources, TreeSync
