"""The projects that were opened or added on this machine, remembered in one small file."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rag_ls.config.json_file import JsonFile
from rag_ls.errors import StoreUnavailable
from rag_ls.util.records import asdict, dataclass, field, fields, replace
from rag_ls.util.text import utc_stamp

_log = logging.getLogger(__name__)

FILE_NAME = "projects.json"
# Every shell command opens its project, so openings are recorded at most this often.
_NOTE_EVERY = timedelta(minutes=10)


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
    unknown: Mapping[str, Any] = field(default_factory=dict)
    """The keys that a newer version of rag-ls noted beside."""


class Registry:
    """The registry file. While it cannot be read, no project is known by name. Safe from several threads and processes."""

    def __init__(self, file: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._file = JsonFile[tuple[Registered, ...]](
            file,
            parse=_parse,
            dump=lambda projects: {"projects": [_make_record(item) for item in projects]},
            empty=(),
            holds="projects",
            remedy="a project is known by name again once it is opened",
        )
        self._now = now

    def projects(self) -> tuple[Registered, ...]:
        """All of them, in the order in which they were added; none while the file cannot be read."""
        try:
            return self._file.read()
        except StoreUnavailable as error:
            _log.warning("no project is known by name: %s", error)
            return ()

    def find_problem(self) -> str:
        """The reason why the file cannot be read; empty if it can."""
        try:
            self._file.read()
        except StoreUnavailable as error:
            return str(error)
        return ""

    def note_opened(self, root: Path, *, name: str = "", from_config: bool = False) -> None:
        """Record that a project was opened, if the file can be changed."""
        now = self._now()
        known = next((item for item in self.projects() if item.root == str(root)), None)
        if known is not None and known.from_config == from_config and not _is_news(known, now):
            return
        try:
            self._put(str(root), lambda item: replace(item, opened_at=utc_stamp(now), from_config=from_config), name)
        except StoreUnavailable as error:
            _log.info("%s", error)

    def add(self, root: Path, name: str = "") -> Registered:
        """Register a project under a name without opening it. Raises `StoreUnavailable`."""
        return self._put(str(root), lambda item: replace(item, name=name or item.name), name)

    def remove(self, roots: Collection[str]) -> None:
        """Forget projects. Raises `StoreUnavailable`."""
        self._file.change(lambda held: tuple(item for item in held if item.root not in roots))

    def _put(self, root: str, change: Callable[[Registered], Registered], name: str) -> Registered:
        def put(held: tuple[Registered, ...]) -> tuple[Registered, ...]:
            projects = {item.root: item for item in held}
            former = projects.get(root) or Registered(root, name or Path(root).name or root, utc_stamp(self._now()))
            return tuple({**projects, root: change(former)}.values())

        return next(item for item in self._file.change(put) if item.root == root)


def _parse(content: dict[str, Any]) -> tuple[Registered, ...]:
    return tuple({item.root: item for item in map(_read_record, content["projects"])}.values())


def _make_record(item: Registered) -> dict[str, Any]:
    known = asdict(item)
    return {**known.pop("unknown"), **known}


def _read_record(record: Any) -> Registered:
    if not isinstance(record, dict):
        raise ValueError(f"no project: {record!r}")
    known = {each.name for each in fields(Registered)} - {"unknown"}
    item = Registered(
        **{key: value for key, value in record.items() if key in known},
        unknown={key: value for key, value in record.items() if key not in known},
    )
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
