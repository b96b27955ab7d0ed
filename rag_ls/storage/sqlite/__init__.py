"""The embedded store: rows in SQLite, vectors in usearch."""
