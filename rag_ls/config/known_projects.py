"""The projects that are known by name: those that the user's settings list, then those that were opened or added on this machine.

The latter are remembered in one small file.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rag_ls.config.entries import ProjectEntry
from rag_ls.config.json_file import JsonFile
from rag_ls.errors import StoreUnavailable
from rag_ls.project import current_branch
from rag_ls.util.paths import is_elsewhere
from rag_ls.util.records import asdict, dataclass, field, fields, replace
from rag_ls.util.text import fold, utc_stamp

_log = logging.getLogger(__name__)

PROJECTS_FILE = "projects.json"
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


CONFIG, OPENED = "config", "opened"
_MAX_BRANCH_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class KnownProject:
    """One root, with its name."""

    root: Path
    name: str
    source: str
    """`config` or `opened`."""
    opened_at: str | None = None

    @property
    def is_missing(self) -> bool:
        """Whether the folder no longer exists."""
        return not self.root.is_dir()


def list_known_projects(entries: Iterable[ProjectEntry], registered: Iterable[Registered]) -> list[KnownProject]:
    """All known projects, each root once."""
    listed = [(Path(root), entry) for entry in entries for root in entry.roots]
    opened = {Path(item.root): item for item in registered}
    found = [
        KnownProject(root, entry.name, CONFIG, opened[root].opened_at if root in opened else None)
        for root, entry in listed
    ]
    roots = {root for root, _ in listed}
    found += [
        KnownProject(root, item.name, OPENED, item.opened_at) for root, item in opened.items() if root not in roots
    ]
    return found


def called(known: Sequence[KnownProject], wanted: str) -> list[KnownProject]:
    """The projects that a root or a name stands for; an entry's name stands for all its roots.

    A name in the settings takes precedence over an opened project's name, and both over a folder's name.
    """
    if root := root_of_path(wanted):
        return [project for project in known if project.root == root]
    for source in (CONFIG, OPENED):
        if found := [project for project in known if (project.source, project.name) == (source, wanted)]:
            return found
    return [project for project in known if project.root.name == wanted]


def root_of_path(wanted: str) -> Path | None:
    """The root that a path stands for; None for a name."""
    path = os.path.expanduser(wanted)
    if not os.path.isabs(path) or "\0" in path:
        return None
    # A project on a share is known by the path that it was opened with.
    return Path(os.path.normpath(path) if is_elsewhere(path) else os.path.realpath(path))


def names_of(known: Iterable[KnownProject]) -> str:
    """The names for a message, each once."""
    return ", ".join(dict.fromkeys(project.name for project in known)) or "none"


def off_branch(wanted: str, root: Path) -> str:
    """The reason why a project is not indexed in the background: a branch other than `wanted` is checked out. Else empty."""
    if not wanted or (current := current_branch(root)) == wanted:
        return ""
    stands = f"{fold(current, _MAX_BRANCH_CHARACTERS)} is checked out" if current else "no branch is checked out"
    alone = f"on {fold(wanted, _MAX_BRANCH_CHARACTERS)} alone (see index.branch, [[projects]])"
    return f"{stands}; the project is indexed in the background {alone}"
