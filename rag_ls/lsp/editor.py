"""One editor's session: its client of the engine, its open documents, and when they are ready to be asked."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rag_ls.config import Problem
from rag_ls.engine.client import Client
from rag_ls.engine.events import Event, MemoryChanged, SettingsChanged
from rag_ls.engine.project_view import ProjectView
from rag_ls.errors import RagLsError
from rag_ls.lsp.documents import Documents, OpenDocument, as_buffer, file_path, open_project_around, place_of
from rag_ls.lsp.event_inbox import EventInbox
from rag_ls.operations import Operations

_log = logging.getLogger(__name__)

# Questions of one editor that wait for files at once, each in a thread.
_MOST_PREPARED = 3

T = TypeVar("T")
Connect = Callable[[Mapping[str, Any]], Client]
"""Makes a client of an engine, with the editor's settings."""


class Session:
    """Everything that the features share. Its methods are called on the LSP thread and return at once."""

    def __init__(
        self,
        connect: Connect,
        encoding: str,
        settings: Mapping[str, Any],
        folders: Sequence[Path],
        has_unread: Callable[[], bool] = lambda: False,
    ) -> None:
        """`has_unread` tells other threads whether the editor has said something that was not taken in yet."""
        self._connect = connect
        self._has_unread = has_unread
        self.documents = Documents(encoding)
        self.opened_projects: asyncio.Queue[ProjectView] = asyncio.Queue()
        """Projects as they become open, for whoever shows their progress."""
        self.problems: asyncio.Queue[str] = asyncio.Queue()
        """What the user should be told."""
        self.events = EventInbox()
        """What happened in the engine."""
        self.filters_symbols = False
        """Whether the editor shows only those symbols of an answer whose names hold the letters of the query."""
        self._settings = settings
        self._preparing = asyncio.Semaphore(_MOST_PREPARED)
        self._folders = list(folders)
        self._ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._client: Client | None = None
        self._shown: set[Path] = set()
        self._applying: asyncio.Task[Any] | None = None
        self._told: set[Problem] = set()
        self._stop_listening: Callable[[], None] = lambda: None
        # Held here so that they are not collected while they run.
        self._tasks: set[asyncio.Task[Any]] = set()

    async def start(self) -> None:
        """Bring the engine up and open the folders, off the LSP thread; then take in what was opened meanwhile."""
        settings = self._settings
        try:
            self._client = await asyncio.to_thread(self._connect, settings)
        except Exception as error:
            self._ready.set_exception(error)
            raise
        if self._settings is not settings:
            self._client.apply_editor_settings(self._settings)
        self._stop_listening = self._client.engine.events.listen(self.events.put)
        self._client.engine.editors.join(self._has_unread)
        for folder in list(self._folders):
            await self._open_folder(self._client, folder)
        self._ready.set_result(self._client)
        # From here on each document is handed over as it is opened.
        for document in self.documents.all():
            self.text_changed(document)

    async def client(self) -> Client:
        """The client of the engine, once it is up."""
        return await asyncio.shield(self._ready)

    async def operations(self) -> Operations:
        """The operations, once the engine is up and a project is open."""
        client = await self.client()
        await self.settled()
        if not client.projects():
            await self.work("open", client.open_scratch)
        return Operations(client)

    async def prepare(self, operation: str, arguments: object) -> None:
        """What comes before a question: it may wait for files. Of many questions at once, which come as somebody types, some do without."""
        if not self._preparing.locked():
            async with self._preparing:
                await asyncio.to_thread((await self.operations()).prepare, operation, arguments)

    async def work(self, operation: str, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function in the engine's threads; `operation` names it in `status`."""
        client = await self.client() if self._client is None else self._client
        return await asyncio.wrap_future(client.submit(operation, functools.partial(function, *arguments)))

    @property
    def client_if_ready(self) -> Client | None:
        """The client, or None while the engine is coming up."""
        return self._client if self._ready.done() else None

    async def add_folder(self, folder: Path) -> None:
        """A workspace folder was added: open its project, and give it the open documents that are its own."""
        self._folders.append(folder)
        await self._open_folder(await self.client(), folder)
        self._place_again()

    async def remove_folder(self, folder: Path) -> None:
        """A workspace folder was removed: close its project, unless another folder lies in it."""
        client = await self.client()
        self._folders = [kept for kept in self._folders if kept != folder]
        view = client.project_of(folder)
        if view and not any(client.project_of(kept) is view for kept in self._folders):
            self._shown.discard(view.project.root)
            await self.work("close", client.close_project, view.project.root)
            self._place_again()

    async def _open_folder(self, client: Client, folder: Path) -> None:
        try:
            view = await self.work("open", client.open, folder)
        except (RagLsError, OSError) as error:
            self.problems.put_nowait(str(error))
            return
        self._show(view)
        for problem in client.load_settings(view.project).problems:
            self._told.add(problem)
            self.problems.put_nowait(str(problem))
        if view.settings.index.on_open:
            view.keep_indexed()

    def _show(self, view: ProjectView) -> None:
        """Have a project's progress shown, once."""
        if view.project.root not in self._shown:
            self._shown.add(view.project.root)
            self.opened_projects.put_nowait(view)

    def _place_again(self) -> None:
        """Hand documents over to the projects that they belong to now."""
        client = self.client_if_ready
        for document in self.documents.all() if client else ():
            former = document.place
            if client and former and place_of(document.uri, client) != former:
                if former.view in client.projects():
                    former.view.buffer_closed(former.path)
                document.place = None
                self.text_changed(document)

    def text_changed(self, document: OpenDocument) -> None:
        """A document was opened or edited."""
        client = self.client_if_ready
        if client is None:
            return
        document.place = document.place or place_of(document.uri, client)
        if document.place is None:
            self.spawn(self._open_around(client, document))
        else:
            document.place.view.buffer_changed(as_buffer(document, document.place))

    def text_closed(self, document: OpenDocument) -> None:
        """A document was closed."""
        if document.place is not None:
            document.place.view.buffer_closed(document.place.path)

    def files_changed(self, uris: Sequence[str]) -> None:
        """Files were saved, written, created, renamed or deleted."""
        client = self.client_if_ready
        changed: dict[int, tuple[ProjectView, list[str]]] = {}
        for uri in uris if client else ():
            place = place_of(uri, client) if client and file_path(uri) else None
            if place is not None and not place.guest and not _is_internal(place.path):
                changed.setdefault(id(place.view), (place.view, []))[1].append(place.path)
        for view, paths in changed.values():
            self.spawn(self.work("files_changed", view.files_changed, paths))

    def is_concerned(self, event: Event) -> bool:
        """Whether an event is about a project that this editor has open, or about none."""
        root = None if isinstance(event, SettingsChanged) else event.root
        return root is None or isinstance(event, MemoryChanged) or root in self._shown

    async def tell_problems(self) -> None:
        """Say what is wrong with the settings now, and was not before."""
        client = await self.client()
        problems = await self.work("settings", client.problems)
        for problem in problems:
            if problem not in self._told:
                self.problems.put_nowait(f"{problem}; the former settings stay in force")
        self._told = set(problems)

    def settings_changed(self, settings: Mapping[str, Any]) -> None:
        """The editor sent other settings."""
        self._settings = settings
        if self._client is not None:
            self._applying = self.spawn(self._apply_settings(self._client, settings))

    async def _apply_settings(self, client: Client, settings: Mapping[str, Any]) -> None:
        for problem in (await self.work("settings", client.apply_editor_settings, settings)).problems:
            self.problems.put_nowait(str(problem))

    async def close(self) -> None:
        """Leave the client."""
        self._stop_listening()
        self._stop_listening = lambda: None
        for task in self._tasks:
            task.cancel()
        if self._client is not None:
            self._client.engine.editors.leave(self._has_unread)
            await asyncio.to_thread(self._client.close)

    async def _open_around(self, client: Client, document: OpenDocument) -> None:
        """Open a project for a document of an editor that has no folder, and hand it over."""
        try:
            view = await self.work("open", open_project_around, document.uri, client)
        except (RagLsError, OSError) as error:
            self.problems.put_nowait(str(error))
            view = await self.work("open", client.open_scratch)
        self._show(view)
        view.keep_indexed()
        if self.documents.get(document.uri) is document:
            self.text_changed(document)

    async def settled(self) -> None:
        """Wait until settings that the editor sent are in force."""
        if self._applying is not None:
            await asyncio.wait([self._applying])

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run something that nobody needs to await; its failure is logged."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            _log.error("background work failed", exc_info=error)


def _is_internal(path: str) -> bool:
    return path.split("/", 1)[0] in (".git", ".rag-ls")
