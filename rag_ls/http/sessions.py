"""Callers at the engine: what each may call, and a client with the projects that its token may see."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rag_ls.config import CONFIG, called
from rag_ls.engine import About, Client, Engine
from rag_ls.errors import AccessRefused, InvalidRequest, NotFound, PathOutsideProject, ProjectUnavailable, TooManyAtOnce
from rag_ls.http.tokens import Access, Token
from rag_ls.operations import OPERATIONS, Argument, ClientSession, Operation, arguments_of
from rag_ls.project import Project, find_marked_root
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass, field

_SLOT_WAIT_S = 5.0


class Slots:
    """Allows each caller some requests at the same time; further ones wait a moment. For one event loop."""

    def __init__(self, per_caller: int) -> None:
        self._most = per_caller
        self._slots: dict[str, asyncio.Semaphore] = {}

    @contextlib.asynccontextmanager
    async def take(self, caller: str) -> AsyncIterator[None]:
        """Take a slot meanwhile. Raises `TooManyAtOnce` if none becomes free in time."""
        slot = self._slots.setdefault(caller, asyncio.Semaphore(self._most))
        try:
            await asyncio.wait_for(slot.acquire(), _SLOT_WAIT_S)
        except TimeoutError:
            raise TooManyAtOnce("too many requests at the same time for this token; try again in a moment") from None
        try:
            yield
        finally:
            slot.release()


Roots = tuple[Path, ...]

# If a caller asks nothing for this long, its projects are closed.
_REST_S = 60.0


class CallerSession:
    """One caller's client of the engine. It checks each request against the token's access and projects."""

    def __init__(
        self,
        engine: Engine,
        token: Token,
        slots: Slots,
        roots: Roots = (),
        *,
        surface: str = "http",
        isolated: bool = False,
    ) -> None:
        """With `roots`, questions are about these projects; an `isolated` session sees no others. `open` opens them."""
        self.token = token
        self.slot = functools.partial(slots.take, token.id)
        """Taken while a request is answered."""
        self._roots = roots
        only = tuple(map(str, roots)) if isolated else token.projects or None
        about = About(surface, token.name if surface == "http" else f"{token.name} (http)")
        self.client = Client(engine, about=about, only=only, asks_all=not roots)
        self.session = ClientSession(self.client, self._check_request)

    def open(self) -> None:
        """Open the projects that it is for. Raises `ProjectUnavailable` and `StoreUnavailable`."""
        present = [root for root in self._roots if root.is_dir()]
        if self._roots and not present:
            raise ProjectUnavailable(f"{self._roots[0]} is gone: it was deleted, moved or unmounted")
        for root in present:
            view = self.client.open_project(Project(root))
            if view.settings.index.on_open:
                view.keep_indexed()

    def rest(self) -> None:
        """Let go of all projects, so that they can be closed and removed; `open` takes them up again."""
        self.client.close_aside()
        for root in self._roots:
            self.client.close_project(root)

    def close(self) -> None:
        """Leave the engine."""
        self.client.close()

    def _check_request(self, operation: Operation, request: object) -> None:
        check_access(self.token.access, operation)
        check_paths(operation, request, self.client)


def roots_called(engine: Engine, token: Token, project: str) -> Roots:
    """The roots of the project with a name or root, among those that a token sees.

    Raises `NotFound`, and `InvalidRequest` for a name that several projects have, unless the settings give it to them.
    """
    looking = Client(engine, about=About("http"), only=token.projects or None)
    try:
        found = called(looking.known_projects(), project)
    finally:
        looking.close()
    if not found:
        raise NotFound(f"there is no project {project!r} for this token; list_repos names those there are")
    if len(found) > 1 and any(item.source != CONFIG for item in found):
        roots = ", ".join(str(item.root) for item in found)
        raise InvalidRequest(f"several projects are called {project!r}: give the root of one: {roots}")
    return tuple(item.root for item in found)


@dataclass(slots=True)
class _Pooled:
    """A session of the pool, how many requests use it, and when one last did."""

    session: CallerSession | None = None
    users: int = 0
    used_at: float = 0.0
    rests: bool = False
    opening: threading.Lock = field(default_factory=threading.Lock)


class SessionPool:
    """The sessions of callers that keep none themselves: one for each token and set of projects.

    Safe from several threads.
    """

    def __init__(
        self, engine: Engine, slots: Slots, idle_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.engine = engine
        self._slots = slots
        self._idle_s = idle_s
        self._clock = clock
        self._lock = threading.Lock()
        self._pooled: dict[tuple[str, Roots], _Pooled] = {}

    @contextmanager
    def used(self, token: Token, roots: Roots) -> Iterator[CallerSession]:
        """The session for one request, opened at its first use. Entering may take a moment.

        Raises `ProjectUnavailable` and `StoreUnavailable`.
        """
        with self._lock:
            pooled = self._pooled.setdefault((token.id, roots), _Pooled())
            pooled.users += 1
        try:
            # Waits only for callers that open or close the same projects.
            with pooled.opening:
                if pooled.session is None:
                    pooled.session = self._open_session(token, roots)
                elif pooled.rests:
                    pooled.session.open()
                pooled.rests = False
                session = pooled.session
            yield session
        finally:
            with self._lock:
                pooled.users -= 1
                pooled.used_at = self._clock()

    def close_unused(self, is_in_force: Callable[[Token], bool]) -> None:
        """Close sessions that were idle for long or whose token is no longer valid; other idle ones close their projects."""
        now = self._clock()
        with self._lock:
            unused = {key: pooled for key, pooled in self._pooled.items() if not pooled.users}
            ended = [key for key, pooled in unused.items() if self._is_over(pooled, now, is_in_force)]
            sessions = [self._pooled.pop(key).session for key in ended]
            resting = [pooled for key, pooled in unused.items() if key not in ended and self._should_rest(pooled, now)]
        for session in filter(None, sessions):
            session.close()
        for pooled in resting:
            self._rest_session(pooled)

    def close(self) -> None:
        with self._lock:
            sessions = [pooled.session for pooled in self._pooled.values()]
            self._pooled.clear()
        for session in filter(None, sessions):
            session.close()

    def _rest_session(self, pooled: _Pooled) -> None:
        # A user needs `_lock` to come in. One that comes in after this block waits for `opening`, until the session rests.
        with self._lock:
            if pooled.users or not pooled.opening.acquire(blocking=False):
                return
        try:
            if pooled.session is not None:
                pooled.session.rest()
                pooled.rests = True
        finally:
            pooled.opening.release()

    @staticmethod
    def _should_rest(pooled: _Pooled, now: float) -> bool:
        return not pooled.rests and now - pooled.used_at > _REST_S

    def _is_over(self, pooled: _Pooled, now: float, is_in_force: Callable[[Token], bool]) -> bool:
        is_idle = now - pooled.used_at > self._idle_s
        return pooled.session is None or is_idle or not is_in_force(pooled.session.token)

    def _open_session(self, token: Token, roots: Roots) -> CallerSession:
        session = CallerSession(self.engine, token, self._slots, roots)
        try:
            session.open()
        except BaseException:
            session.close()
            raise
        return session


# Programs and agents give no special meaning to files with such names.
_OUR_FILES = lazy_pattern(r"(?i)(?=.{1,255}\Z)[\w-]*memories[\w-]*\.(json|jsonl|md)")


def find_needed_access(operation: Operation) -> Access:
    """The least access of a token that may call an operation."""
    if operation.manages:
        return Access.ADMIN
    return Access.WRITE if operation.effects.writes else Access.READ


def check_access(access: Access, operation: Operation) -> None:
    """Raise `AccessRefused` if a token with this access may not call the operation."""
    if not access.includes(needed := find_needed_access(operation)):
        raise AccessRefused(
            f"{operation.name} needs a token with the scope {needed}, and this one has {access}: "
            f"`rag-ls token add NAME --scope {needed}` makes one"
        )


def check_paths(operation: Operation, request: object, client: Client) -> None:
    """Check that every path in a parsed request lies in a project that the client sees, and may be read over HTTP.

    Raises `PathOutsideProject`, `AccessRefused`, and `InvalidRequest` for a relative path that does not start at a project's root.
    """
    for name, (_, declared) in arguments_of(operation.request).items():
        value = getattr(request, name)
        if (declared.shell_alone or declared.local_alone) and value:
            raise AccessRefused(f"{operation.name}: {name} writes over files, which is done at this machine alone")
        if declared.is_path and isinstance(value, str) and value.strip():
            _check_path(operation, name, declared, value.strip(), client)


def _check_path(operation: Operation, name: str, declared: Argument, value: str, client: Client) -> None:
    is_plain = os.sep not in value and "/" not in value and value not in ("..", "~")
    if "\0" in value or value.startswith("~"):
        raise InvalidRequest(f"{operation.name}: {name} = {value!r} is no path here; give one in a project")
    roots = [os.path.realpath(item.root) for item in client.known_projects()]
    if os.path.isabs(value):
        if not _is_in(value, roots):
            raise PathOutsideProject(f"{operation.name}: {name} is in no project that this token sees")
        if declared.is_root:
            _check_root(operation, name, value, roots)
        elif operation.manages:
            _check_file(operation, name, value, roots, is_written=declared.is_written)
        return
    if operation.manages and not _is_of_project(operation, name, is_plain=is_plain):
        raise InvalidRequest(f"{operation.name}: {name} = {value!r}: give an absolute path in a project")
    if ".." in Path(value).parts or not all(_is_in(os.path.join(root, value), roots) for root in roots):
        raise PathOutsideProject(f"{operation.name}: {name} = {value!r} leads out of the project")


def _check_root(operation: Operation, name: str, value: str, roots: list[str]) -> None:
    """Refuse a folder in a project that would be a project of its own: nothing becomes one over HTTP."""
    found = find_marked_root(Path(os.path.realpath(value)))
    if found is None or str(found) not in roots:
        raise PathOutsideProject(f"{operation.name}: {name} is in no project that this token sees")


def _check_file(operation: Operation, name: str, value: str, roots: list[str], *, is_written: bool) -> None:
    """Refuse files that rag-ls would not make or show: in a folder that begins with a dot, through a link, of other kinds."""
    said, real = f"{operation.name}: {name} = {value!r}", os.path.realpath(value)
    if real != os.path.normpath(value):
        raise PathOutsideProject(f"{said} leads through a link")
    root = max((root for root in roots if _is_in(real, [root])), key=len)
    if any(part.startswith(".") for part in Path(os.path.relpath(real, root)).parts):
        raise PathOutsideProject(f"{said}: what begins with a dot is left alone over HTTP")
    if is_written and not _OUR_FILES.fullmatch(os.path.basename(real)):
        raise InvalidRequest(
            f"{said}: over HTTP memories are written to files called memories.json, memories.jsonl or memories.md, with "
            "letters and digits around that word"
        )
    if is_written and os.path.lexists(real):
        raise InvalidRequest(f"{said} is there already: nothing is overwritten over HTTP, give another name")


def _is_of_project(operation: Operation, name: str, *, is_plain: bool) -> bool:
    """Whether a relative path of an operation that manages files starts at a project's root, not in the engine's folder."""
    if operation.name == "restore_backup":
        return is_plain
    return operation.name == "rag_setup" and name != "project_root"


def _is_in(path: str, roots: list[str]) -> bool:
    real = os.path.realpath(path)
    return any(real == root or real.startswith(root.rstrip(os.sep) + os.sep) for root in roots)


API = "/api/"


@dataclass(frozen=True, slots=True)
class OperationRoute:
    """One address of an operation. Arguments come as a JSON body, or in the query of a GET and DELETE."""

    method: str
    path: str
    operation: Operation

    @property
    def path_argument(self) -> str:
        """The argument that stands in the path; empty for none."""
        return self.path.partition("{")[2].partition("}")[0]


_OTHERS = (
    ("POST", "/index", "push"),
    ("GET", "/collections", "get_collections"),
    ("POST", "/collections", "new_collection"),
    ("POST", "/search", "search"),
    ("GET", "/status", "engine_status"),
    ("GET", "/memories", "list_memories"),
    ("POST", "/memories", "store_memory"),
    ("POST", "/memories/search", "search_memory"),
    ("GET", "/memories/{id}", "get_memory"),
    ("PATCH", "/memories/{id}", "update_memory"),
    ("DELETE", "/memories/{id}", "delete_memory"),
)


def operation_routes() -> list[OperationRoute]:
    """All addresses of operations."""
    named = [OperationRoute(method, path, OPERATIONS.find(name)) for method, path, name in _OTHERS]
    return [*named, *(OperationRoute("POST", f"{API}{operation.name}", operation) for operation in OPERATIONS)]
