"""Whether what the index holds is what the file holds now."""

from __future__ import annotations

from rag_ls.indexing.documents import DocumentIndexer
from rag_ls.indexing.files import Rejected, file_state
from rag_ls.model import Freshness
from rag_ls.project import Project
from rag_ls.storage import DISK, CheckoutIndex, DocumentRecord


def freshness(
    document: DocumentRecord, project: Project, store: CheckoutIndex, documents: DocumentIndexer
) -> Freshness | None:
    """How a document's indexed text compares with its file at this moment; None when the file is gone.

    Size and times decide where they can; a stamp that proves nothing makes the file be read and compared.
    """
    if document.session != DISK:
        return Freshness.BUFFER
    state = file_state(project.root / document.path)
    if state is None:
        return None
    if document.state.same_stamp(state) and not document.state.racy and document.sha256:
        return Freshness.DISK
    source = documents.read(document.path)
    if isinstance(source, Rejected):
        return None if source.gone else Freshness.CHANGED
    if source.sha256 != document.sha256:
        return Freshness.CHANGED
    store.touch_document(DocumentRecord(document.path, document.language, document.sha256, source.state))
    return Freshness.DISK
