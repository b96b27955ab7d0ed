"""The schema of `index.db`. All of it is derived from the sources, so any other version is rebuilt."""

from __future__ import annotations

import secrets
import sqlite3

from rag_ls.config import text_seal
from rag_ls.storage.sqlite.commits import SCHEMA as _HISTORY
from rag_ls.storage.sqlite.commits import VECTORS as _COMMIT_VECTORS
from rag_ls.storage.sqlite.statements import overwriting

SEAL = "seal"
"""The row of `meta` that shows that a process of this user made the index."""

_KEPT = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- AUTOINCREMENT: ids only grow, so "greater than the last one seen" finds all that is new.
CREATE TABLE embeddings (
  id INTEGER PRIMARY KEY AUTOINCREMENT, model TEXT NOT NULL, text_hash BLOB NOT NULL, vector BLOB NOT NULL,
  UNIQUE (model, text_hash));
"""

_TABLES = """
-- One row for a file's text on disk (session '') and one for each editing session's unsaved text of it.
-- AUTOINCREMENT, as in `chunks`: a question ranks rows, and reads what they hold later; an id never means another.
CREATE TABLE documents (
  id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL, session TEXT NOT NULL, language TEXT NOT NULL, sha256 TEXT NOT NULL,
  size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, read_ns INTEGER NOT NULL,
  -- The lines that are left out, because they hold secrets.
  secret_lines INTEGER NOT NULL,
  UNIQUE (path, session));
CREATE INDEX documents_unsaved ON documents (session, path) WHERE session != '';
CREATE INDEX documents_with_secrets ON documents (path, secret_lines) WHERE secret_lines > 0;

-- Files that are known to need reading again; survives a crash.
CREATE TABLE queue (path TEXT PRIMARY KEY, since_ns INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE skipped (
  path TEXT PRIMARY KEY, reason TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
  ctime_ns INTEGER NOT NULL, read_ns INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE chunks (
  id INTEGER PRIMARY KEY AUTOINCREMENT, document_id INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
  uid TEXT NOT NULL, ordinal INTEGER NOT NULL,
  start_byte INTEGER NOT NULL, end_byte INTEGER NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
  symbol TEXT NOT NULL, name TEXT NOT NULL, node_type TEXT NOT NULL, parent_types TEXT NOT NULL, depth INTEGER NOT NULL,
  is_declaration INTEGER NOT NULL, signature TEXT NOT NULL, doc TEXT NOT NULL, overlap TEXT NOT NULL, text TEXT NOT NULL,
  content_hash TEXT NOT NULL, text_hash BLOB NOT NULL,
  -- Whether the active model has a vector of the embedded text: 0 not yet, 1 yes, 2 it makes no usable one.
  embedded INTEGER NOT NULL, priority INTEGER NOT NULL);
CREATE INDEX chunks_document ON chunks (document_id, ordinal);
CREATE INDEX chunks_uid ON chunks (uid);
CREATE INDEX chunks_name ON chunks (name) WHERE name != '';
CREATE INDEX chunks_pending ON chunks (priority DESC, id) WHERE embedded = 0;
CREATE INDEX chunks_content ON chunks (content_hash);
CREATE INDEX chunks_text_hash ON chunks (text_hash);

-- What documents declare and import, small declarations that share a chunk included.
CREATE TABLE symbols (
  id INTEGER PRIMARY KEY, document_id INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
  symbol TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
  signature TEXT NOT NULL, exported INTEGER NOT NULL);
CREATE INDEX symbols_document ON symbols (document_id, start_line);
CREATE INDEX symbols_name ON symbols (name);
-- AUTOINCREMENT: an id never means another import, so that what was read of it can be kept.
CREATE TABLE imports (
  id INTEGER PRIMARY KEY AUTOINCREMENT, document_id INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
  module TEXT NOT NULL, names TEXT NOT NULL, line INTEGER NOT NULL, uses TEXT NOT NULL, aliases TEXT NOT NULL);
CREATE INDEX imports_document ON imports (document_id);
-- The reverse index: which imports have a target that may be called so.
CREATE TABLE import_keys (
  key TEXT NOT NULL, import_id INTEGER NOT NULL REFERENCES imports ON DELETE CASCADE,
  PRIMARY KEY (key, import_id)) WITHOUT ROWID;
CREATE INDEX import_keys_import ON import_keys (import_id);
-- The trigrams of each document (`storage.terms`). AUTOINCREMENT: a document that changes gets another row.
CREATE TABLE signatures (
  id INTEGER PRIMARY KEY AUTOINCREMENT, document_id INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
  bits BLOB NOT NULL, first_lines BLOB NOT NULL);
CREATE INDEX signatures_document ON signatures (document_id);
-- The uses of names in documents, packed; the postings say which documents hold a name.
CREATE TABLE uses (document_id INTEGER PRIMARY KEY REFERENCES documents ON DELETE CASCADE, packed BLOB NOT NULL);
-- Names that documents use without an import, one a line.
CREATE TABLE own_names (document_id INTEGER PRIMARY KEY REFERENCES documents ON DELETE CASCADE, names TEXT NOT NULL);

CREATE VIRTUAL TABLE postings USING fts5 (
  symbol, signature, path, doc, text, content = '',
  tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (postings, row);
"""

# Tables that others refer to come last.
_REMADE = "vocabulary postings signatures own_names uses import_keys imports symbols chunks skipped queue documents"


FORMER_VIRTUAL = (
    """CREATE VIRTUAL TABLE postings USING fts5 (
  symbol, signature, path, doc, text, content = '', tokenize = 'porter unicode61 remove_diacritics 2')""",
)
"""The statements of virtual tables that an index of an earlier version may hold."""


def create(connection: sqlite3.Connection) -> None:
    """Version 1: embeddings, and an identity by which a vector snapshot of another index is told apart."""
    for statement in _statements(_KEPT):
        connection.execute(statement)
    index_id = secrets.token_hex(16)
    rows = [("index_id", index_id), (SEAL, text_seal(SEAL, index_id))]
    connection.executemany("INSERT INTO meta VALUES (?, ?)", rows)


def remake(connection: sqlite3.Connection) -> None:
    """Versions 2 to 4 and 6 to 8: all but the embeddings anew. They are what costs hours, and are found again by their texts."""
    # Secrets that an earlier version did not know are not to stay in free pages of the file.
    with overwriting(connection):
        for table in _REMADE.split():
            connection.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in _statements(_TABLES):
        connection.execute(statement)
    connection.execute("DELETE FROM meta WHERE key NOT IN ('index_id', 'seal', 'embedding_model')")


def add_served(connection: sqlite3.Connection) -> None:
    """Version 5: the texts whose vectors are on a server alone."""
    connection.execute(
        "CREATE TABLE served (model TEXT NOT NULL, text_hash BLOB NOT NULL, PRIMARY KEY (model, text_hash)) WITHOUT ROWID"
    )


def add_history(connection: sqlite3.Connection) -> None:
    """Version 9: git's commits."""
    for statement in _statements(_HISTORY):
        connection.execute(statement)


def add_commit_vectors(connection: sqlite3.Connection) -> None:
    """Version 10: the vectors of commits."""
    for statement in _statements(_COMMIT_VECTORS):
        connection.execute(statement)


def _statements(script: str) -> list[str]:
    # executescript() would commit the migration's transaction, and splitting at semicolons would split comments.
    lines = [line for line in script.splitlines() if not line.lstrip().startswith("--")]
    return [part for part in "\n".join(lines).split(";") if part.strip()]


# Versions 3, 4 and 6 to 8 have other columns, tables and terms: everything but the embeddings is rebuilt.
MIGRATIONS = (create, remake, remake, remake, add_served, remake, remake, remake, add_history, add_commit_vectors)
