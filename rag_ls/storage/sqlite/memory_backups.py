"""Makes daily copies of `memories.db`, and replaces a damaged file by one. Nothing here deletes memories."""

from __future__ import annotations

import os
import shutil
import sqlite3
import uuid
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from rag_ls.errors import NotFound
from rag_ls.storage.sqlite.database import SchemaTooNew

_FOLDER = "backups"
_KEPT = 7


def backup_file(path: Path, now: datetime | None = None) -> Path:
    """The path of a day's backup."""
    return path.parent / _FOLDER / f"memories-{now or datetime.now(UTC):%Y-%m-%d}.db"


def back_up(connection: sqlite3.Connection, target: Path) -> None:
    """Copy a database consistently to a new file, and keep the newest seven backups."""
    target.parent.mkdir(mode=0o700, exist_ok=True)
    temporary = target.with_name(f"{target.stem}.{uuid.uuid4().hex}.tmp")
    connection.execute("VACUUM INTO ?", (str(temporary),))
    temporary.chmod(0o600)
    temporary.replace(target)
    for old in sorted(target.parent.glob("memories-*.db"))[:-_KEPT]:
        old.unlink(missing_ok=True)


def backups(path: Path) -> list[Path]:
    """The backups of a file, the newest first."""
    return sorted((path.parent / _FOLDER).glob("memories-*.db"), reverse=True)


def chosen(path: Path, name: str) -> Path:
    """The backup that a person means: `latest` (the newest good one), a date, or a file. Raises `NotFound`."""
    known = backups(path)
    if name == "latest":
        found = next((file for file in known if is_good(file)), None)
    else:
        found = next((file for file in known if name in (file.stem.removeprefix("memories-"), file.name)), None)
        found = found or (Path(name) if Path(name).is_file() else None)
    if found is None or not is_good(found):
        names = ", ".join(file.stem.removeprefix("memories-") for file in known) or "none"
        raise NotFound(f"no good backup {name!r} of {path}; there are {names}")
    return found


def put_in_place(backup: Path, path: Path) -> Path | None:
    """Put a copy of a backup at `path`; moves the damaged file there aside, and returns its new place."""
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        # Copy first, so that a full disk leaves everything as it was.
        shutil.copyfile(backup, temporary)
        temporary.chmod(0o600)
        _rename_index(temporary)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    aside: Path | None = None
    if path.exists():
        aside = path.with_name(f"{path.name}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:6]}")
        for suffix in ("-wal", "-shm"):
            if (extra := path.with_name(path.name + suffix)).exists():
                os.replace(extra, aside.with_name(aside.name + suffix))
        os.replace(path, aside)
    os.replace(temporary, path)
    return aside


def _rename_index(file: Path) -> None:
    """Give the backup a new index id, so that a later snapshot of vectors is not used with it."""
    with closing(sqlite3.connect(file)) as connection:
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
            connection.execute("UPDATE meta SET value = ? WHERE key = 'index_id'", (uuid.uuid4().hex,))
            connection.commit()


def damage_report(path: Path, error: Exception) -> str:
    """The message about a damaged file, with the remedy."""
    if isinstance(error, SchemaTooNew):
        return f"{error}; upgrade rag-ls, nothing was changed"
    good = next((backup for backup in backups(path) if is_good(backup)), None)
    remedy = (
        f"the newest good backup is {good}: `rag-ls restore --backup latest` puts it in place"
        if good
        else "there is no backup of it"
    )
    if not path.exists():
        return f"{path} is gone, though there are backups of it; {remedy}, or move the backups away to begin anew"
    return f"{path} is damaged ({error}) and was left as it is; {remedy}"


def is_truncated(path: Path) -> bool:
    """Whether a file that once held memories is empty or gone; SQLite would make a new database of it."""
    return (not path.exists() or path.stat().st_size == 0) and bool(backups(path))


def is_good(file: Path) -> bool:
    """Whether a file holds readable memories."""
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute("SELECT count(*) FROM memories").fetchone()
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except sqlite3.Error:
        return False
