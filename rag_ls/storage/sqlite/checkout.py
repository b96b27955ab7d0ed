"""A checkout's documents and chunks at rest in `index.db`."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rag_ls.model import Outline
from rag_ls.storage.api import VectorStore
from rag_ls.storage.records import (
    DISK,
    DocumentRecord,
    FileState,
    IndexCounts,
    NewChunk,
    Posting,
    Priority,
    Replaced,
    Skipped,
)
from rag_ls.storage.sqlite.chunk_rows import (
    DOCUMENT_COLUMNS,
    ChunkReader,
    IdentifiedChunk,
    document_record,
    identify_chunks,
    insert_chunks,
    move_chunks,
    posting_columns,
    state_values,
    upsert_document,
)
from rag_ls.storage.sqlite.commits import CommitIndex
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.outlines import Outlines
from rag_ls.storage.sqlite.pending import PendingEmbeddings, ReadingQueue, dequeue
from rag_ls.storage.sqlite.postings import LexicalIndex
from rag_ls.storage.sqlite.signatures import Signatures
from rag_ls.storage.sqlite.statements import KeptRows, as_json, erase_remains, erase_vectors, optimise, overwriting

PathRow = tuple[int, str, str, str]


class CheckoutIndex:
    """The data of one checkout, always local. See `SearchedDocuments`.

    All writes of one call commit together. Safe from several threads and processes.
    """

    def __init__(self, database: Database, path: Path | None, vectors: VectorStore, lexical: LexicalIndex) -> None:
        """`vectors` tells which new chunks need no embedding, `lexical` takes their terms."""
        self._path = path
        self._database = database
        self._vectors = vectors
        self._lexical = lexical
        self.kept = KeptRows(database)
        """Facts about the index as a whole, which a question reads once."""
        self.chunks = ChunkReader(database, self.kept)
        """Its chunks, for reading."""
        self.outlines = Outlines(database)
        """Its declarations and imports."""
        self._paths = DocumentPaths(database, self.kept)
        self.signatures = Signatures(database)
        """Finds the lines that may hold a literal text."""
        self.queue = ReadingQueue(database, self.kept)
        """The files that wait to be read."""
        self.embeddings = PendingEmbeddings(database, vectors, self.kept)
        """The chunks that wait for vectors."""
        self.commits = CommitIndex(database)
        """The commits of git's history."""

    def close(self) -> None:
        self._database.close()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Commit several writes together; other writers wait meanwhile."""
        with self._database.writing():
            yield

    def changes(self) -> int:
        """A number that differs after every commit of any thread or process; in a block of `at_one_version` that at its beginning."""
        return self.kept.version()

    def optimise(self) -> None:
        optimise(self._database)

    def vacuum(self) -> tuple[int, int]:
        """Release free space; returns the size in bytes before and after."""
        before = self._database.size()
        self._database.vacuum()
        return before, self._database.size()

    # --- documents

    def documents(self, session: str = DISK) -> dict[str, DocumentRecord]:
        rows = self._database.rows(f"SELECT {DOCUMENT_COLUMNS} FROM documents d WHERE session = ?", (session,))
        return {row[0]: document_record(row) for row in rows}

    def files_at(self, path: str, *, with_skipped: bool = False, at_most: int = -1) -> list[str]:
        """The files that are indexed or queued, and on request skipped: the one at a path, or those below the folder there.

        At most `at_most` of them if it is not negative.
        """
        # "0" is the character after "/".
        at = "(path = :path OR (path > :path || '/' AND path < :path || '0'))"
        skipped = f"UNION SELECT path FROM skipped WHERE {at}" if with_skipped else ""
        # One statement, because a file moves from the queue to the documents in one transaction, and must not be missed.
        return self._database.column(
            f"SELECT path FROM queue WHERE {at} UNION SELECT path FROM documents WHERE session = '' AND {at} {skipped} "
            "LIMIT :at_most",
            {"path": path, "at_most": at_most},
        )

    def document(self, path: str, session: str = DISK) -> DocumentRecord | None:
        query = f"SELECT {DOCUMENT_COLUMNS} FROM documents d WHERE path = ? AND session = ?"
        row = self._database.row(query, (path, session))
        return document_record(row) if row else None

    def secret_lines(self) -> dict[str, int]:
        """The number of lines that hold secrets, and are left out, of each document with any; the most in a version of it."""
        query = "SELECT path, max(secret_lines) FROM documents WHERE secret_lines > 0 GROUP BY path"
        return dict(self.kept.rows(query))

    def unsaved_documents(self) -> list[DocumentRecord]:
        query = f"SELECT {DOCUMENT_COLUMNS} FROM documents d WHERE session != '' ORDER BY read_ns"
        return list(map(document_record, self.kept.rows(query)))

    def replace_document(
        self,
        document: DocumentRecord,
        chunks: Sequence[NewChunk],
        *,
        outline: Outline = Outline(),  # noqa: B008 - frozen
        uses: bytes = b"",
        priority: Priority = Priority.REST,
    ) -> Replaced:
        """Store a document's chunks, outline and packed uses of names in place of its former ones; unchanged chunks keep their rows.

        `priority` orders the embedding of the new chunks, higher first. The path leaves the queue.
        """
        with self._database.writing() as connection:
            document_id = upsert_document(connection, document)
            replaced = self._replace_chunks(connection, document_id, document, chunks, priority)
            self.outlines.replace(connection, document_id, outline, uses)
            self.signatures.replace(connection, document_id, (new.chunk.text for new in chunks))
            if document.session == DISK:
                dequeue(connection, document.path, document.state.read_ns)
                connection.execute("DELETE FROM skipped WHERE path = ?", (document.path,))
        return replaced

    def touch_document(self, document: DocumentRecord) -> None:
        """Record a file's new state: it was checked, and still holds the indexed text."""
        with self._database.writing() as connection:
            touched = connection.execute(
                "UPDATE documents SET size = ?, mtime_ns = ?, ctime_ns = ?, read_ns = ? "
                "WHERE path = ? AND session = ? AND sha256 = ?",
                (*state_values(document.state), document.path, document.session, document.sha256),
            )
            if document.session == DISK and touched.rowcount:
                dequeue(connection, document.path, document.state.read_ns)
                connection.execute("DELETE FROM skipped WHERE path = ?", (document.path,))

    def forget_digests(self) -> None:
        """Make every file count as changed, so that the next read cuts it again."""
        with self._database.writing() as connection:
            connection.execute("UPDATE documents SET sha256 = '', read_ns = 0 WHERE session = ''")

    def remove_documents(self, paths: Iterable[str], session: str = DISK, *, seen_ns: int | None = None) -> int:
        """Drop documents with their chunks, queue and skip entries; returns how many there were.

        With `seen_ns`, the time at which somebody looked for the files (wall clock), what was read or queued later stays.
        """
        removed = 0
        with self._database.writing() as connection:
            # A time in the future was written before the clock was set back. While this waited, others may have written.
            now = time.time_ns()
            latest = now if seen_ns is None else seen_ns
            for path in paths:
                row = connection.execute(
                    "SELECT id FROM documents WHERE path = ? AND session = ? AND (read_ns <= ? OR read_ns > ?)",
                    (path, session, latest, now),
                ).fetchone()
                if row:
                    chunks = connection.execute("SELECT id FROM chunks WHERE document_id = ?", row).fetchall()
                    self._delete_chunks(connection, [found[0] for found in chunks])
                    connection.execute("DELETE FROM documents WHERE id = ?", (row[0],))
                    removed += 1
                if session == DISK:
                    dequeue(connection, path, latest)
                    connection.execute(
                        "DELETE FROM skipped WHERE path = ? AND (read_ns <= ? OR read_ns > ?)", (path, latest, now)
                    )
        return removed

    def forget_documents(self, paths: Iterable[str], *, seen_ns: int | None = None) -> int:
        """As `remove_documents`, for files that must not be read any more: nothing of them stays in the store's files.

        Vectors of texts that no other document holds go as well.
        """
        paths = list(paths)
        if not paths:
            return 0
        with self._database.in_use() as connection, overwriting(connection):
            with self._database.writing() as connection:
                hashes = connection.execute(
                    "SELECT DISTINCT c.text_hash FROM chunks c JOIN documents d ON d.id = c.document_id "
                    "WHERE d.session = '' AND d.path IN (SELECT value FROM json_each(?))",
                    (as_json(paths),),
                ).fetchall()
                removed = self.remove_documents(paths, seen_ns=seen_ns)
                erase_vectors(connection, [found[0] for found in hashes])
            if removed:
                erase_remains(self._database, self._path)
        return removed

    def remove_session(self, session: str) -> None:
        """Drop all unsaved documents of an editing session."""
        self.remove_documents(list(self.documents(session)), session)

    # --- queue and skipped files

    def skip(self, skipped: Skipped, *, keeps_document: bool = False) -> None:
        """Record why a file is not indexed, and drop its indexed document; or keep it as it was last read."""
        with self._database.writing() as connection:
            if keeps_document:
                dequeue(connection, skipped.path, skipped.state.read_ns)
            else:
                self.remove_documents([skipped.path], seen_ns=skipped.state.read_ns)
            connection.execute(
                "INSERT OR REPLACE INTO skipped VALUES (?, ?, ?, ?, ?, ?)",
                (skipped.path, skipped.reason, *state_values(skipped.state)),
            )

    def unskip(self, paths: Iterable[str]) -> None:
        """Forget why files were not read: they can be now."""
        with self._database.writing() as connection:
            connection.executemany("DELETE FROM skipped WHERE path = ?", [(path,) for path in paths])

    def skipped(self, at_most: int = -1) -> dict[str, Skipped]:
        """The files that are not indexed, by path; at most `at_most` of them if it is not negative."""
        rows = self._database.rows(
            "SELECT path, reason, size, mtime_ns, ctime_ns, read_ns FROM skipped ORDER BY path LIMIT ?", (at_most,)
        )
        return {row[0]: Skipped(row[0], row[1], FileState(*row[2:6])) for row in rows}

    def skipped_counts(self) -> dict[str, int]:
        """The number of files that are not indexed, for each reason."""
        return dict(self.kept.rows("SELECT reason, count(*) FROM skipped GROUP BY reason ORDER BY reason"))

    def skipped_because(self, reason: str, at_most: int) -> list[str]:
        """The files that are not indexed for a reason, in order, at most `at_most`."""
        query = "SELECT path FROM skipped WHERE reason = ? ORDER BY path LIMIT ?"
        return [row[0] for row in self.kept.rows(query, (reason, at_most))]

    def meta(self, key: str) -> str | None:
        """A fact about the index as a whole, or None."""
        rows = self.kept.rows("SELECT value FROM meta WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else None

    def set_meta(self, key: str, value: str) -> None:
        """Record a fact about the index as a whole."""
        with self._database.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def counts(self) -> IndexCounts:
        """The numbers of indexed and queued items; unsaved documents are counted separately."""
        # One statement, so that all rows are of one state.
        row = self._database.row(
            "SELECT count(*) FILTER (WHERE session = ''), (SELECT count(*) FROM chunks), (SELECT count(*) FROM queue), "
            "(SELECT count(*) FROM chunks WHERE embedded = 0), count(*) FILTER (WHERE session != '') FROM documents"
        )
        return IndexCounts(*row)

    def language_counts(self) -> dict[str, tuple[int, int]]:
        """The numbers of documents and chunks by language, the most chunks first; without unsaved documents."""
        rows = self._database.rows(
            "SELECT d.language, count(DISTINCT d.id), count(c.id) FROM documents d LEFT JOIN chunks c ON c.document_id = d.id "
            "WHERE d.session = '' GROUP BY d.language ORDER BY 3 DESC, 1"
        )
        return {language: (documents, chunks) for language, documents, chunks in rows}

    def queue_lengths(self) -> tuple[int, int]:
        """The numbers of documents to read and of chunks to embed."""
        query = "SELECT (SELECT count(*) FROM queue), (SELECT count(*) FROM chunks WHERE embedded = 0)"
        queued, pending = self.kept.rows(query)[0]
        return int(queued), int(pending)

    # --- chunks

    def active_model(self) -> str:
        """See `PendingEmbeddings`."""
        return self.embeddings.active_model()

    def document_paths(self, among: Collection[int] | None = None) -> list[PathRow]:
        return self._paths.rows()

    def forget_kept(self) -> None:
        """Drop what is in memory for the next question."""
        self.signatures.forget()
        self._paths.forget()
        self.kept.forget()

    def _replace_chunks(
        self,
        connection: sqlite3.Connection,
        document_id: int,
        document: DocumentRecord,
        chunks: Sequence[NewChunk],
        priority: Priority,
    ) -> Replaced:
        former = {
            row[0]: row[1:]
            for row in connection.execute(
                "SELECT uid, id, text_hash, symbol, signature, doc FROM chunks WHERE document_id = ?", (document_id,)
            )
        }
        kept: list[tuple[int, NewChunk]] = []
        added: list[IdentifiedChunk] = []
        for uid, digest, new in identify_chunks(document.path, chunks):
            row = former.get(uid)
            if row and row[1:] == (new.text_hash, new.chunk.symbol, new.chunk.signature, new.chunk.doc):
                kept.append((row[0], new))
                del former[uid]
            else:
                added.append((uid, digest, new))
        self._delete_chunks(connection, [row[0] for row in former.values()])
        move_chunks(connection, kept)
        rows = insert_chunks(connection, document_id, added, self._without_vector(added), priority)
        self._lexical.add(
            Posting(row, posting_columns(document.path, new)) for row, (_, _, new) in zip(rows, added, strict=True)
        )
        return Replaced(len(kept), len(added), len(former))

    def _without_vector(self, added: Sequence[IdentifiedChunk]) -> set[bytes]:
        """The hashes of new chunks' texts without a vector of the active model."""
        hashes = {new.text_hash for *_, new in added}
        model = self.embeddings.active_model()
        return self._vectors.missing(model, hashes) if model and hashes else hashes

    def _delete_chunks(self, connection: sqlite3.Connection, rows: Sequence[int]) -> None:
        if rows:
            self._lexical.remove(rows)
            connection.execute("DELETE FROM chunks WHERE id IN (SELECT value FROM json_each(?))", (as_json(rows),))


class DocumentPaths:
    """Id, path, language and session of every document. Safe from several threads."""

    def __init__(self, database: Database, kept: KeptRows) -> None:
        self._database = database
        self._kept = kept
        self._lock = threading.Lock()
        self._version = -1
        self._rows: list[PathRow] = []

    def rows(self) -> list[PathRow]:
        """The rows as they are now: the same list while they stay the same."""
        with self._database.in_use() as connection:
            if connection.in_transaction:
                # Other threads do not see these.
                return self._read()
        version = self._kept.version()
        with self._lock:
            if version != self._version:
                rows = self._read()
                if rows != self._rows:
                    self._rows = rows
                self._version = version
            return self._rows

    def forget(self) -> None:
        """Drop what is kept."""
        with self._lock:
            self._version, self._rows = -1, []

    def _read(self) -> list[PathRow]:
        return self._database.rows("SELECT id, path, language, session FROM documents")
