"""Callers at the engine: each has a client with the projects that its token may see."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rag_ls.config.known_projects import CONFIG, called
from rag_ls.engine.client import Client
from rag_ls.engine.engine import About, Engine
from rag_ls.errors import InvalidRequest, NotFound, ProjectUnavailable, TooManyAtOnce
from rag_ls.http.access import check_access, check_paths
from rag_ls.http.tokens import Token
from rag_ls.operations import ClientSession, Operation
from rag_ls.project import Project
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
_MAX_KEPT_NAMES = 1000


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
        self._engine = engine
        self._slots = slots
        self._idle_s = idle_s
        self._clock = clock
        self._lock = threading.Lock()
        self._pooled: dict[tuple[str, Roots], _Pooled] = {}
        self._roots: dict[tuple[str, str], Roots] = {}

    def roots_called(self, token: Token, project: str) -> Roots:
        """Look the roots up, as the function of this name does, and keep them for `known_roots`."""
        found = roots_called(self._engine, token, project)
        with self._lock:
            if len(self._roots) >= _MAX_KEPT_NAMES:
                self._roots.clear()
            self._roots[token.id, project] = found
        return found

    def known_roots(self, token: Token, project: str) -> Roots | None:
        """The roots that `roots_called` found lately, none for an empty name; None if nobody asked. Takes no time."""
        return self._roots.get((token.id, project)) if project else ()

    def is_open(self, token: Token, roots: Roots) -> bool:
        """Whether the session is open, so that entering `used` takes no time."""
        pooled = self._pooled.get((token.id, roots))
        return pooled is not None and pooled.session is not None and not (pooled.rests or pooled.opening.locked())

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
            self._roots.clear()
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
        session = CallerSession(self._engine, token, self._slots, roots)
        try:
            session.open()
        except BaseException:
            session.close()
            raise
        return session
