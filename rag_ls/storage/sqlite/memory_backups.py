"""Makes copies of `memories.db`, and replaces a damaged file by one. Nothing here deletes memories."""

from __future__ import annotations

import shutil
import sqlite3
import uuid
from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rag_ls.errors import NotFound
from rag_ls.storage.sqlite.database import SchemaTooNew, read_only
from rag_ls.storage.sqlite.foreign_files import ForeignFile, open_file
from rag_ls.storage.sqlite.memory_schema import check_tables
from rag_ls.util.files import give_to_owner, is_plain, replace_file
from rag_ls.util.patterns import lazy_pattern

_FOLDER = "backups"
_SPACING = timedelta(hours=1)
_LARGE_SPACING = timedelta(days=1)
# Dozens of copies of a larger file would cost the user gigabytes.
_LARGE_BYTES = 50_000_000
_MIN_KEPT = 7
_NAME = lazy_pattern(r"memories-(\d{4}-\d{2}-\d{2})(?:T(\d{6}))?")


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
