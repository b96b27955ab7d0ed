"""Git's commits at rest in `index.db`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from rag_ls.storage.api import Vector
from rag_ls.storage.commits import Commit, PathChange, StoredCommit
from rag_ls.storage.records import Candidate, Vectors
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.statements import as_json
from rag_ls.storage.terms import index_text

_HEAD = "history_head"
_WEIGHTS = "3, 1, 1"
# So many paths of a commit are searched, and told.
_MAX_PATHS = 30

SCHEMA = """
-- An id is greater than those of the commits that it was made from. `is_present`: it leads to what is checked out.
CREATE TABLE commits (
  id INTEGER PRIMARY KEY AUTOINCREMENT, hash TEXT NOT NULL UNIQUE, parent INTEGER NOT NULL, other_parents TEXT NOT NULL,
  time INTEGER NOT NULL, author TEXT NOT NULL, subject TEXT NOT NULL, body TEXT NOT NULL, change_count INTEGER NOT NULL,
  is_present INTEGER NOT NULL);
CREATE TABLE commit_changes (
  path TEXT NOT NULL, commit_id INTEGER NOT NULL, former_path TEXT NOT NULL, status TEXT NOT NULL,
  PRIMARY KEY (path, commit_id)) WITHOUT ROWID;
CREATE INDEX commit_changes_commit ON commit_changes (commit_id);
CREATE VIRTUAL TABLE commit_postings USING fts5 (
  subject, body, paths, content = '', tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'");
"""

VECTORS = """
-- Float16, of length one: the meaning of a commit's message.
CREATE TABLE commit_vectors (
  commit_id INTEGER NOT NULL, model TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (commit_id, model)) WITHOUT ROWID;
"""


class CommitIndex:
    """The commits that lead to what is checked out. Safe from several threads and processes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # --- for who reads git

    @property
    def head(self) -> str:
        """The commit whose history is stored as a whole; empty while none is."""
        return self._database.text("SELECT value FROM meta WHERE key = ?", (_HEAD,))

    def finish(self, head: str, hashes: Collection[str]) -> None:
        """Note that the history of `head`, the commits with these hashes, is stored as a whole; others are present no longer."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE commits SET is_present = (hash IN (SELECT value FROM json_each(:hashes))) "
                "WHERE is_present != (hash IN (SELECT value FROM json_each(:hashes)))",
                {"hashes": as_json(list(hashes))},
            )
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_HEAD, head))

    def hashes(self) -> set[str]:
        """The hashes of all stored commits, those among them that lead to something else."""
        return set(self._database.column("SELECT hash FROM commits"))

    def add(self, commits: Iterable[Commit], *, with_authors: bool = False) -> None:
        """Store commits, each after those that it was made from."""
        with self._database.writing() as connection:
            for commit in commits:
                marks = ", ".join("?" * len(commit.parents))
                found = dict(
                    connection.execute(
                        f"SELECT hash, id FROM commits WHERE hash IN ({marks})", commit.parents
                    ).fetchall()
                )
                first, *others = [found.get(parent, 0) for parent in commit.parents] or [0]
                values = (
                    commit.hash, first, " ".join(map(str, others)), commit.time, commit.author if with_authors else "",
                    commit.subject, commit.body, len(commit.changes) + commit.more_changes,
                )  # fmt: skip
                row = connection.execute(
                    "INSERT OR IGNORE INTO commits (hash, parent, other_parents, time, author, subject, body, change_count, "
                    "is_present) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1) RETURNING id",
                    values,
                ).fetchone()
                if row is None:
                    continue
                connection.executemany(
                    "INSERT OR IGNORE INTO commit_changes VALUES (?, ?, ?, ?)",
                    [(each.path, row[0], each.former_path, each.status) for each in commit.changes],
                )
                paths = " ".join(each.path for each in commit.changes[:_MAX_PATHS])
                connection.execute(
                    "INSERT INTO commit_postings (rowid, subject, body, paths) VALUES (?, ?, ?, ?)",
                    (row[0], index_text(commit.subject), index_text(commit.body), index_text(paths)),
                )

    def list_without_vectors(self, model: str) -> list[int]:
        """The ids of the commits that have no vector of a model yet, the newest first."""
        return self._database.column(
            "SELECT id FROM commits WHERE is_present AND NOT EXISTS (SELECT 1 FROM commit_vectors WHERE commit_id = id AND "
            "model = ?) ORDER BY id DESC",
            (model,),
        )

    def drop_vectors_of_others(self, model: str) -> None:
        """Delete the vectors of all models but one."""
        with self._database.writing() as connection:
            connection.execute("DELETE FROM commit_vectors WHERE model != ?", (model,))

    def add_vectors(self, model: str, ids: Sequence[int], vectors: Vectors) -> None:
        """Store vectors of shape (len(ids), dimensions)."""
        rows = [(each, model, vector.astype(np.float16).tobytes()) for each, vector in zip(ids, vectors, strict=True)]
        with self._database.writing() as connection:
            connection.executemany("INSERT OR REPLACE INTO commit_vectors VALUES (?, ?, ?)", rows)

    # --- for questions

    def similarities(self, model: str, query: Vector) -> dict[int, float]:
        """The cosine similarity of `query`, of length one, to each commit that has a vector of a model, by id."""
        rows = self._database.rows(
            "SELECT commit_id, vector FROM commit_vectors JOIN commits ON id = commit_id WHERE is_present AND model = ? AND "
            "length(vector) = ?",
            (model, 2 * len(query)),
        )
        if not rows:
            return {}
        vectors = np.frombuffer(b"".join(row[1] for row in rows), np.float16).reshape(len(rows), -1)
        return dict(zip((row[0] for row in rows), (vectors.astype(np.float32) @ query).tolist(), strict=True))

    def count(self) -> int:
        """The number of commits that lead to what is checked out."""
        return self._database.count("SELECT count(*) FROM commits WHERE is_present")

    def newest(self, limit: int) -> list[StoredCommit]:
        """The last commits that lead to what is checked out, the newest first."""
        ids = self._database.column("SELECT id FROM commits WHERE is_present ORDER BY id DESC LIMIT ?", (limit,))
        found = self.by_id(ids)
        return [found[each] for each in ids]

    def by_id(self, ids: Collection[int]) -> dict[int, StoredCommit]:
        """The commits with these ids."""
        rows = self._database.rows(
            "SELECT id, hash, time, author, subject, body, change_count, (SELECT json_group_array(path) FROM (SELECT path FROM "
            "commit_changes WHERE commit_id = id LIMIT ?)) FROM commits WHERE id IN (SELECT value FROM json_each(?))",
            (_MAX_PATHS, as_json(list(ids))),
        )
        return {row[0]: _stored_commit(row) for row in rows}

    def hashes_of(self, ids: Collection[int]) -> dict[int, str]:
        """The hashes of the commits with these ids."""
        query = "SELECT id, hash FROM commits WHERE id IN (SELECT value FROM json_each(?))"
        return dict(self._database.rows(query, (as_json(list(ids)),)))

    def id_of(self, digest: str) -> int:
        """The id of the commit with a hash; 0 for none."""
        return self._database.count("SELECT id FROM commits WHERE hash = ?", (digest,))

    def search(self, terms: Sequence[str], limit: int) -> list[Candidate]:
        """The commits that hold any of the terms best, by BM25."""
        if not terms:
            return []
        rows = self._database.rows(
            f"SELECT rowid, -bm25(commit_postings, {_WEIGHTS}) FROM commit_postings WHERE commit_postings MATCH ? AND +rowid IN "
            "(SELECT id FROM commits WHERE is_present) ORDER BY 2 DESC, 1 DESC LIMIT ?",
            (" OR ".join(f'"{term}"' for term in terms), limit),
        )
        return [Candidate(row, value) for row, value in rows]

    def frequencies(self, terms: Collection[str]) -> dict[str, int]:
        """The number of commits that hold each term."""
        counted = "SELECT count(*) FROM commit_postings WHERE commit_postings MATCH '\"' || asked.value || '\"'"
        query = f"SELECT value, ({counted}) FROM json_each(?) asked"
        return dict(self._database.rows(query, (as_json(list(terms)),))) if terms else {}

    def changes_of(self, path: str) -> list[PathChange]:
        """The present commits that changed a file, the oldest first."""
        rows = self._database.rows(
            "SELECT commit_id, former_path, status FROM commit_changes JOIN commits ON id = commit_id WHERE path = ? AND "
            "is_present ORDER BY commit_id",
            (path,),
        )
        return [PathChange(*row) for row in rows]

    def parents(self) -> Mapping[int, tuple[int, ...]]:
        """The ids of the commits that each present one was made from, 0 for one that is not stored; the oldest first."""
        rows = self._database.rows("SELECT id, parent, other_parents FROM commits WHERE is_present ORDER BY id")
        return {row[0]: (row[1], *map(int, row[2].split())) for row in rows}


def _stored_commit(row: tuple[int, str, int, str, str, str, int, str]) -> StoredCommit:
    import json

    number, digest, time, author, subject, body, change_count, paths = row
    listed = tuple(json.loads(paths))
    return StoredCommit(
        id=number, hash=digest, time=time, author=author, subject=subject, body=body, paths=listed,
        more_paths=change_count - len(listed),
    )  # fmt: skip
