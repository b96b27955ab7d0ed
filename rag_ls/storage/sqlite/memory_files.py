"""Makes copies of `memories.db`, and replaces a damaged file by one. Nothing here deletes memories."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import uuid
from collections.abc import Collection, Iterable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rag_ls.errors import NotFound, StoreDamaged, StoreError, StoreUnavailable
from rag_ls.model import Memory, MemoryMetadata
from rag_ls.storage.sqlite.connections import Connections
from rag_ls.storage.sqlite.database import Database, NoHandles, SchemaTooNew
from rag_ls.storage.sqlite.file_faults import ForeignFile, describe_fault, disk_full, is_disk_full, open_file, read_only
from rag_ls.storage.sqlite.index_file import is_damage
from rag_ls.storage.sqlite.memory_schema import MIGRATIONS, check_tables
from rag_ls.util.files import give_to_owner, is_plain, replace_file
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.text import content_hash

_FOLDER = "backups"
_SPACING = timedelta(hours=1)
_LARGE_SPACING = timedelta(days=1)
# Dozens of copies of a larger file would cost the user gigabytes.
_LARGE_BYTES = 50_000_000
_MIN_KEPT = 7
_NAME = lazy_pattern(r"memories-(\d{4}-\d{2}-\d{2})(?:T(\d{6}))?")
ERASED = "erased"
"""The reason in the history of a memory that was erased."""


def is_due(path: Path, now: datetime) -> bool:
    """Whether the newest backup of a file is old enough for another one."""
    newest = next(iter(backups(path)), None)
    spacing = _LARGE_SPACING if path.stat().st_size > _LARGE_BYTES else _SPACING
    return newest is None or now - _time_of(newest) >= spacing


def back_up(connection: sqlite3.Connection, path: Path, now: datetime) -> Path:
    """Copy the database of `path` consistently to a new file, and delete backups that are too close to each other."""
    target = path.parent / _FOLDER / f"memories-{now:%Y-%m-%dT%H%M%S}.db"
    target.parent.mkdir(mode=0o700, exist_ok=True)
    give_to_owner(target.parent)
    if target.parent.is_symlink():
        raise ForeignFile(f"{target.parent} is a symbolic link: remove it")
    temporary = target.with_name(f"{target.stem}.{uuid.uuid4().hex}.tmp")
    if target.exists():
        # Of two states of one second, the older one matters.
        return target
    try:
        connection.execute("VACUUM INTO ?", (str(temporary),))
        temporary.chmod(0o600)
        replace_file(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    known = backups(path)
    kept = choose_kept_times([_time_of(file) for file in known], now)
    for file in known:
        if _time_of(file) not in kept:
            file.unlink(missing_ok=True)
    return target


def choose_kept_times(times: Iterable[datetime], now: datetime) -> set[datetime]:
    """The backups to keep: one for five minutes of the last hour, an hour of the day, a day of the week, a week of the month.

    That is always the oldest one, so that it stays the same while time goes on. The newest seven are kept besides.
    """
    kept: dict[object, datetime] = {}
    ordered = sorted(times)
    for time in ordered:
        age = now - time
        if age < timedelta(hours=1):
            slot: object = f"{time:%dT%H}", time.minute // 5
        elif age < timedelta(days=1):
            slot = f"{time:%Y-%m-%dT%H}"
        elif age < timedelta(days=7):
            slot = time.date()
        elif age < timedelta(days=31):
            slot = time.isocalendar()[:2]
        else:
            continue
        kept.setdefault(slot, time)
    return {*kept.values(), *ordered[-_MIN_KEPT:]}


def backups(path: Path) -> list[Path]:
    """The backups of a file, the newest first."""
    folder = path.parent / _FOLDER
    files = () if folder.is_symlink() else folder.glob("memories-*.db")
    kept = [file for file in files if _NAME.fullmatch(file.stem) and is_plain(file)]
    return sorted(kept, key=_time_of, reverse=True)


def _time_of(backup: Path) -> datetime:
    """The time of a backup; early versions of rag-ls named only its day."""
    found = _NAME.fullmatch(backup.stem)
    assert found is not None
    return datetime.strptime(f"{found[1]}T{found[2] or '000000'}", "%Y-%m-%dT%H%M%S").replace(tzinfo=UTC)


def find_backup(path: Path, name: str) -> Path:
    """The backup that a person means: `latest` (the newest good one), a date, a time, or a file. Raises `NotFound`."""
    known = backups(path)
    if name == "latest":
        found = next((file for file in known if is_good(file)), None)
    else:
        found = next((file for file in known if name and _is_called(file, name)), None)
        found = found or (Path(name) if Path(name).is_file() else None)
    if found is None or not is_good(found):
        names = ", ".join(map(_name_of, known)) or "none"
        raise NotFound(f"no good backup {name!r} of {path}; there are {names}")
    return found


def _name_of(backup: Path) -> str:
    return backup.stem.removeprefix("memories-")


def _is_called(backup: Path, name: str) -> bool:
    """Whether `name` is the backup's file name, its time, or its day."""
    return name in (backup.name, _name_of(backup), _name_of(backup).partition("T")[0])


def put_in_place(backup: Path, path: Path) -> Path | None:
    """Put a copy of a backup at `path`; moves the damaged file there aside, and returns its new place."""
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        # Copy first, so that a full disk leaves everything as it was.
        shutil.copyfile(backup, temporary)
        temporary.chmod(0o600)
        give_new_index_id(temporary)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    is_there, aside = path.exists(), set_log_aside(path)
    if is_there:
        replace_file(path, aside)
    replace_file(temporary, path)
    return aside if is_there else None


def set_log_aside(path: Path) -> Path:
    """Move the log of a file that is replaced aside; returns the place where the file itself may go.

    SQLite would take a log that was left for the new file's, and write the former pages over it.
    """
    aside = path.with_name(f"{path.name}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:6]}")
    for suffix in ("-wal", "-shm"):
        if (extra := path.with_name(path.name + suffix)).exists():
            replace_file(extra, aside.with_name(aside.name + suffix))
    return aside


def give_new_index_id(file: Path) -> None:
    """Give the backup a new index id, so that a later snapshot of vectors is not used with it."""
    with closing(open_file(file, "rw", busy_s=5.0)) as connection:
        check_tables(connection)
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
            connection.execute("UPDATE meta SET value = ? WHERE key = 'index_id'", (uuid.uuid4().hex,))


def damage_report(path: Path, error: Exception) -> str:
    """The message about a damaged file, with the remedy."""
    if isinstance(error, SchemaTooNew):
        return f"{error}; upgrade rag-ls, nothing was changed"
    good = next((backup for backup in backups(path) if is_good(backup)), None)
    remedy = (
        f"the newest good backup is {good}: `rag-ls restore --backup latest` puts it in place"
        if good
        else "there is no backup of it: move it away to begin anew"
    )
    if isinstance(error, ForeignFile):
        return f"{path} is not used, and left as it is: {error}; {remedy}"
    if not path.exists():
        return f"{path} is gone, though there are backups of it; {remedy}, or move the backups away to begin anew"
    return f"{path} is damaged ({error}) and was left as it is; {remedy}"


def is_truncated(path: Path) -> bool:
    """Whether a file that once held memories is empty or gone; SQLite would make a new database of it."""
    return (not path.exists() or path.stat().st_size == 0) and bool(backups(path))


def is_good(file: Path) -> bool:
    """Whether a file holds readable memories."""
    try:
        with closing(read_only(file)) as connection:
            check_tables(connection)
            connection.execute("SELECT count(*) FROM memories").fetchone()
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except sqlite3.Error:
        return False


def open_memory_file(path: Path | None, store: str, connections: Connections | None) -> Database:
    """The database of a file of memories, or one in RAM. `store` is its name in errors.

    Raises `StoreDamaged`, which names the newest good backup, for a broken file, else `StoreUnavailable`.
    """
    if path is not None and is_truncated(path):
        raise StoreDamaged(damage_report(path, ValueError("it is empty")), store)

    def describe_damage(error: sqlite3.Error) -> str:
        return damage_report(path, error) if path is not None and is_damage(error) else ""

    try:
        database = Database(
            path, MIGRATIONS, store=store, durable=True, damage=describe_damage, inspect=check_tables,
            connections=connections,
        )  # fmt: skip
        if path is not None:
            _check(database)
        return database
    except StoreError:
        raise
    except NoHandles as error:
        raise StoreUnavailable(f"the {store} ({path}) cannot be opened: {error}", store) from error
    except SchemaTooNew as error:
        raise StoreUnavailable(f"{error}; upgrade rag-ls, nothing was changed", store) from error
    except (sqlite3.OperationalError, OSError) as error:
        if is_disk_full(error, path):
            raise disk_full(store, path) from error
        raise StoreUnavailable(
            f"the {store} ({path}) cannot be opened: "
            f"{describe_fault(error, path, 'make the file readable and writable for you')}",
            store,
        ) from error
    except sqlite3.DatabaseError as error:
        assert path is not None
        raise StoreDamaged(damage_report(path, error), store) from error


def _check(database: Database) -> None:
    with database.call():
        found = database.connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise sqlite3.DatabaseError(found)


def make_mark(memory: Memory) -> Memory:
    """The mark that stays of an erased memory: a later version, without its content and place."""
    return replace(
        memory, content="", content_hash=content_hash(""), metadata=MemoryMetadata(), version=memory.version + 1,
        source_uri=None, source_memory_ids=(), anchor=None, summary_key=None,
    )  # fmt: skip


def erase_rows(connection: sqlite3.Connection, marks: Collection[Memory]) -> None:
    """Erase all rows of memories except their marks, in a file of any version."""
    for memory_id, version in ((mark.id, mark.version) for mark in marks):
        rows = connection.execute("SELECT row FROM memories WHERE id = ?", (memory_id,)).fetchall()
        connection.executemany("DELETE FROM memory_postings WHERE rowid = ?", rows)
        connection.executemany("DELETE FROM vectors WHERE row = ?", rows)
        with contextlib.suppress(sqlite3.OperationalError):
            # The first versions had no table of tags.
            connection.executemany("DELETE FROM tags WHERE row = ?", rows)
        connection.execute("DELETE FROM memories WHERE id = ?", (memory_id,))
        connection.execute("DELETE FROM history WHERE id = ? AND version < ?", (memory_id, version))
    # Until then, the full-text index keeps the terms of deleted rows, marked as deleted.
    connection.execute("INSERT INTO memory_postings (memory_postings) VALUES ('optimize')")


def erase_from_backups(path: Path, marks: Collection[Memory]) -> list[Path]:
    """Erase memories from all backups of a file; returns those that cannot be changed."""
    unchanged = []
    for backup in backups(path):
        try:
            with closing(open_file(backup, "rw", busy_s=5.0)) as connection:
                check_tables(connection)
                erase_rows(connection, marks)
                connection.execute("VACUUM")
        except (sqlite3.Error, OSError):
            unchanged.append(backup)
    return unchanged
