"""Reads the outlines that the index has of files, for those who would parse them again."""

from __future__ import annotations

from collections import defaultdict

from rag_ls.indexing import DocumentIndexer, is_cut_as_now
from rag_ls.model import Freshness, Import, Outline, Symbol
from rag_ls.rules.checks.checked_code import OutlinedFile
from rag_ls.rules.survey.sources import is_surveyed
from rag_ls.storage import CheckoutIndex

_MAX_SYMBOLS = 2**31


def read_stored_outlines(documents: DocumentIndexer, checkout: CheckoutIndex) -> dict[str, OutlinedFile]:
    """The outlines of the files of code that are as they were when they were indexed, without the comments of declarations."""
    if not is_cut_as_now(checkout, documents):
        return {}
    code = [each for each in checkout.documents().values() if is_surveyed(each.language or "")]
    current = {each.id: each for each in code if documents.freshness(each) is Freshness.DISK}
    symbols, imports = defaultdict[int, list[Symbol]](list), defaultdict[int, list[Import]](list)
    for symbol in checkout.outlines.of_documents(current, _MAX_SYMBOLS):
        symbols[symbol.document_id].append(
            Symbol(
                name=symbol.symbol, kind=symbol.kind, start_line=symbol.start_line, end_line=symbol.end_line,
                signature=symbol.signature, doc="", exported=symbol.exported,
            )
        )  # fmt: skip
    for stored in checkout.outlines.imports(current):
        imports[stored.document_id].append(stored.imported)
    return {
        each.path: (each.path, each.language, Outline(tuple(symbols[number]), tuple(imports[number])))
        for number, each in current.items()
    }
