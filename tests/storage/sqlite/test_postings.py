"""How the full-text index is asked of SQLite."""

from __future__ import annotations

from rag_ls.storage.sqlite.checkout import CheckoutIndex
from tests.support import lexical_of, new_chunks, record


def test_a_restricted_search_goes_through_the_matches_once(store: CheckoutIndex) -> None:
    """Not by a full-text search for each chunk that is let in, which took half a minute at 10,000 chunks."""
    store.replace_document(record(), new_chunks(["retry with backoff"]))
    document = store.document("a.py") or next(iter(store.documents().values()))
    statements: list[str] = []
    with store._database.in_use():
        connection = store._database.connection
        connection.set_trace_callback(statements.append)
        assert lexical_of(store).search(["retry"], 5, [document.id], holding=["backoff"])
        connection.set_trace_callback(None)
        asked = [each for each in statements if "bm25" in each]
        assert asked
        for statement in asked:
            plan = "; ".join(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}"))
            assert "0:=" not in plan, plan
