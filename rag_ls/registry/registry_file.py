"""The projects that were opened or added on this machine, remembered in one small file."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from filelock import FileLock

from rag_ls.project import make_private_folder
from rag_ls.util.foreign_text import read_json
from rag_ls.util.text import utc_stamp
from rag_ls.util.whole_files import check_readable, whole_file

_log = logging.getLogger(__name__)

FILE_NAME = "projects.json"
# Every shell command opens its project, so openings are recorded at most this often.
_NOTE_EVERY = timedelta(minutes=10)
_LOCK_S = 5.0


@dataclass(frozen=True, slots=True)
class Registered:
    """One project root."""

    root: str
    """Absolute, symbolic links resolved."""
    name: str
    added_at: str
    """In UTC (RFC 3339), as `opened_at`."""
    opened_at: str | None = None
    from_config: bool = False
    """Whether the user's settings listed it when it was last opened."""


class Registry:
    """The registry file. A damaged file is no error: it is started anew. Safe from several threads and processes."""

    def __init__(self, file: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._file = file
        self._now = now

    def projects(self) -> tuple[Registered, ...]:
        """All of them, in the order in which they were added."""
        try:
            records = read_json(self._file.read_text(encoding="utf-8"))["projects"]
            found = [_read_record(record) for record in records]
        except FileNotFoundError:
            return ()
        except OSError as error:
            _log.warning("%s cannot be read, so no project is known by name: %s", self._file, error.strerror)
            return ()
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            _log.warning("%s is damaged and is started anew: %r", self._file, error)
            return ()
        return tuple({item.root: item for item in found}.values())

    def note_opened(self, root: Path, *, name: str = "", from_config: bool = False) -> None:
        """Record that a project was opened, if the file can be written."""
        now = self._now()
        known = next((item for item in self.projects() if item.root == str(root)), None)
        if known is not None and known.from_config == from_config and not _is_news(known, now):
            return
        try:
            self._put(str(root), lambda item: replace(item, opened_at=utc_stamp(now), from_config=from_config), name)
        except OSError as error:
            _log.info("%s cannot be changed: %s", self._file, error)

    def add(self, root: Path, name: str = "") -> Registered:
        """Register a project under a name without opening it. Raises `OSError`."""
        return self._put(str(root), lambda item: replace(item, name=name or item.name), name)

    def remove(self, roots: Collection[str]) -> None:
        """Forget projects. Raises `OSError`."""
        with self._changing():
            former = self.projects()
            kept = [item for item in former if item.root not in roots]
            if len(kept) < len(former):
                self._write(kept)

    def _put(self, root: str, change: Callable[[Registered], Registered], name: str) -> Registered:
        with self._changing():
            projects = {item.root: item for item in self.projects()}
            former = projects.get(root) or Registered(root, name or Path(root).name or root, utc_stamp(self._now()))
            projects[root] = changed = change(former)
            self._write(projects.values())
        return changed

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Keep other processes from changing the file. Raises `OSError`, also for a file that cannot be read now."""
        make_private_folder(self._file.parent)
        # filelock.Timeout is an OSError.
        with FileLock(self._file.with_suffix(".lock"), timeout=_LOCK_S, mode=0o600):
            check_readable(self._file)
            yield

    def _write(self, projects: Collection[Registered]) -> None:
        text = json.dumps({"projects": [asdict(item) for item in projects]}, indent=2)
        with whole_file(self._file) as stream:
            stream.write(text + "\n")


def _read_record(record: Any) -> Registered:
    item = Registered(**record)
    texts = (item.root, item.name, item.added_at, item.opened_at or "")
    if not all(isinstance(text, str) for text in texts) or not isinstance(item.from_config, bool):
        raise ValueError(f"no project: {record!r}")
    if not os.path.isabs(item.root):
        raise ValueError(f"no absolute path: {item.root!r}")
    return item


def _is_news(known: Registered, now: datetime) -> bool:
    try:
        return known.opened_at is None or abs(now - datetime.fromisoformat(known.opened_at)) >= _NOTE_EVERY
    except (ValueError, TypeError):
        return True
