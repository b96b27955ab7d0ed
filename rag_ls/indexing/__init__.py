"""Documents to storage."""

from rag_ls.indexing.documents import Cutting, DocumentIndexer, Spent
from rag_ls.indexing.files import admitted
from rag_ls.indexing.freshness import freshness
from rag_ls.indexing.progress import Depth, Phase, Progress
from rag_ls.indexing.scan import SCANNED, Scan, scan
from rag_ls.indexing.service import Buffer, IndexingService
from rag_ls.indexing.sessions import EditingSession

__all__ = [
    "SCANNED",
    "Buffer",
    "Cutting",
    "Depth",
    "DocumentIndexer",
    "EditingSession",
    "IndexingService",
    "Phase",
    "Progress",
    "Scan",
    "Spent",
    "admitted",
    "freshness",
    "scan",
]
