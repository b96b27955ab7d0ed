"""One editor's session: its engine client, its open documents, and when both are ready for questions."""

from __future__ import annotations

import asyncio
import functools
import logging
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rag_ls.config import Loaded, Problem, users_trusted_folders
from rag_ls.engine import Client, Event, MemoryChanged, ProjectSession, SettingsChanged, run_mending
from rag_ls.errors import RagLsError
from rag_ls.lsp.documents import Documents, OpenDocument, as_buffer, file_path, open_project_around, place_of
from rag_ls.lsp.hand_over import EventInbox, HandOver, run_aside
from rag_ls.operations import ClientSession, Json, MustWait, Operations, QuestionScope, ignore_progress, wait_for_files
from rag_ls.project import is_shared_folder

_log = logging.getLogger(__name__)

# How many questions of one editor may wait for files at once, each in a thread.
_MAX_PREPARED = 3

T = TypeVar("T")
Connect = Callable[[Mapping[str, Any]], Client]
"""Creates an engine client with the editor's settings."""


class EditorSession:
    """The state that all features share. Call its methods on the LSP thread; they do not block."""

    def __init__(
        self,
        connect: Connect,
        encoding: str,
        settings: Mapping[str, Any],
        folders: Mapping[Path, str],
        has_unread: Callable[[], bool] = lambda: False,
        is_trusted: Callable[[Path], Coroutine[Any, Any, bool]] | None = None,
    ) -> None:
        """`folders` are the editor's, with their URIs. `has_unread` tells whether a message of the editor was not read yet;
        any thread may call it. `is_trusted` asks the editor whether its user trusts a folder."""
        self._connect = connect
        self._has_unread = has_unread
        self._is_trusted = is_trusted
        self._client: Client | None = None
        self._hand_over = HandOver(self.note_step)
        self._loop = asyncio.get_running_loop()
        self.documents = Documents(encoding)
        self.opened_projects: asyncio.Queue[ProjectSession] = asyncio.Queue()
        """Newly opened projects, for showing their progress."""
        self.problems: asyncio.Queue[str] = asyncio.Queue()
        """Messages for the user."""
        self.edited: asyncio.Queue[str] = asyncio.Queue()
        """The URIs of documents that were opened, edited or closed, for their diagnostics."""
        self.all_to_check = asyncio.Event()
        """Set when all files are to be checked anew: the index is complete, or the rules have changed."""
        self.findings_changed = asyncio.Event()
        """Set, and replaced by a new one, when the findings in closed files may be others."""
        self.was_pulled = False
        """Whether the editor got the findings of all files once."""
        self.events = EventInbox()
        """Events of the engine."""
        self.filters_symbols = False
        """Whether the editor hides symbols whose names lack letters of the query."""
        self._settings = settings
        self._preparing = asyncio.Semaphore(_MAX_PREPARED)
        self._folders = dict(folders)
        self._ready: asyncio.Future[ClientSession] = asyncio.get_running_loop().create_future()
        self._shown: set[Path] = set()
        self._applying: asyncio.Task[Any] | None = None
        self._told: set[Problem] = set()
        self._stop_listening: Callable[[], None] = lambda: None
        # Keeps running tasks from being garbage-collected.
        self._tasks: set[asyncio.Task[Any]] = set()

    async def start(self) -> None:
        """Start the engine and open the folders, off the LSP thread; then hand over documents opened meanwhile."""
        settings = self._settings
        try:
            self._client = await run_aside(lambda: self._connect(settings))
            session = ClientSession(self._client)
        except Exception as error:
            self._ready.set_exception(error)
            raise
        if self._settings is not settings:
            await self.work("settings", self._client.apply_editor_settings, self._settings)
        self._stop_listening = self._client.engine.events.listen(self.events.put)
        self._client.engine.editors.join(self._is_behind)
        for folder, uri in list(self._folders.items()):
            await self._open_folder(session, folder, uri)
        self._ready.set_result(session)
        # From here on, each document is handed over when it is opened.
        for document in self.documents.all():
            self.text_changed(document)

    async def client(self) -> Client:
        """Wait for the engine to start; returns its client."""
        return (await asyncio.shield(self._ready)).client

    async def operations(self) -> Operations:
        """Wait until the engine runs and a project is open; returns the operations."""
        session = await asyncio.shield(self._ready)
        await self.wait_until_settled()
        await self.work("open", _have_one_open, session.client)
        return session.operations

    async def ask(self, operation: str, arguments: object) -> Json:
        """Run an operation. It waits for the files that it needs, unless too many questions wait already (typing)."""
        operations = await self.operations()
        try:
            can_wait = not self._preparing.locked()
            return await asyncio.wrap_future(operations.submit(operation, arguments, can_wait=can_wait))
        except MustWait as unready:
            async with self._preparing:
                return await run_aside(functools.partial(unready.finish, ignore_progress))

    async def wait_for_files(self, text: str) -> None:
        """Wait for the files that a question in words is about, unless too many questions wait already (typing)."""
        await self.operations()
        client = await self.client()
        if not self._preparing.locked():
            async with self._preparing:
                await run_aside(lambda: run_mending(lambda: wait_for_files(client.projects(), QuestionScope(text))))

    async def work(self, operation: str, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function in the engine's threads; `operation` names it in `status`."""
        client = await self.client() if self._client is None else self._client
        return await asyncio.wrap_future(
            client.engine.workers.submit(client, operation, functools.partial(function, *arguments))
        )

    @property
    def client_if_ready(self) -> Client | None:
        """The client, or None while the engine is coming up."""
        return self._client if self._ready.done() else None

    async def add_folder(self, folder: Path, uri: str) -> None:
        """Open the project of an added workspace folder, and move its open documents to it."""
        self._folders[folder] = uri
        await self._open_folder(await asyncio.shield(self._ready), folder, uri)
        self._place_again()

    async def remove_folder(self, folder: Path) -> None:
        """Close the project of a removed workspace folder, unless another folder lies in it."""
        client = await self.client()
        self._folders.pop(folder, None)
        if root := await self.work("close", _close_project, client, folder, list(self._folders)):
            self._shown.discard(root)
            self._place_again()

    async def _open_folder(self, session: ClientSession, folder: Path, uri: str) -> None:
        try:
            if self._is_trusted is not None and await self._is_trusted(folder):
                await self.work("trust", _trust, folder)
            view, loaded, plain = await self.work("open", _open_project, session, folder)
        except (RagLsError, OSError) as error:
            self.problems.put_nowait(str(error))
            return
        self.documents.note_folder(plain, uri)
        self._show(view)
        for problem in loaded.problems:
            self._told.add(problem)
            self.problems.put_nowait(str(problem))
        if note := loaded.waiting_note(view.project.root):
            self.problems.put_nowait(note)

    def _show(self, view: ProjectSession) -> None:
        """Queue a project for showing its progress, once."""
        if view.project.root not in self._shown:
            self._shown.add(view.project.root)
            self.opened_projects.put_nowait(view)

    # --- documents and files, which the engine gets in the order of the editor's messages

    def text_changed(self, document: OpenDocument) -> None:
        """A document was opened or edited. Another version of a file, the output of a program and the like do not count."""
        if not document.counts:
            return
        self.edited.put_nowait(document.uri)
        if (client := self.client_if_ready) is not None:
            if document.place is not None and self._hand_over.is_done:
                # A further text of a document waits for nothing, so it needs no other thread.
                self._take_text(client, document, document.buffer.text)
            else:
                work = functools.partial(self._take_text, client, document, document.buffer.text)
                self._hand_over.put(work, document.uri)

    def _take_text(self, client: Client, document: OpenDocument, text: str) -> None:
        place = document.place or place_of(document.uri, client)
        if place is not None:
            place.view.buffer_changed(as_buffer(document, place, text))
            document.place = place
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(lambda: self.spawn(self._open_around(client, document)))

    def _place_again(self) -> None:
        """Hand documents over to the projects that they belong to now."""
        for document in self.documents.all():
            if (client := self.client_if_ready) is not None:
                self._hand_over.put(functools.partial(self._move, client, document))
                self.text_changed(document)

    def _move(self, client: Client, document: OpenDocument) -> None:
        """Remove a document from a project that it no longer belongs to."""
        former = document.place
        if former is not None and place_of(document.uri, client) != former:
            if former.view in client.projects():
                former.view.buffer_closed(former.path)
            document.place = None

    def text_closed(self, document: OpenDocument) -> None:
        """Hand over that a document was closed."""
        if not document.counts:
            return
        self.edited.put_nowait(document.uri)

        def let_go() -> None:
            if document.place is not None:
                document.place.view.buffer_closed(document.place.path)

        self._hand_over.put(let_go, document.uri)
        if (other := self.documents.get(document.uri)) is not None:
            # The same file is still open under another address; now that text counts.
            self.text_changed(other)

    def files_changed(self, uris: Sequence[str]) -> None:
        """Files were saved, written, created, renamed or deleted."""
        if (client := self.client_if_ready) is not None:
            self._hand_over.put(functools.partial(_take_files, client, list(uris)))

    def wake_pulls(self) -> None:
        """Let the requests for the findings of all files that wait for a change look again."""
        self.findings_changed.set()
        self.findings_changed = asyncio.Event()

    def note_step(self) -> None:
        """Wake questions that wait until the editor's messages have reached the engine. Any thread may call this."""
        if self._client is not None:
            self._client.engine.editors.note_step()

    def _is_behind(self) -> bool:
        """Whether messages of the editor have not reached the engine yet; other threads call this."""
        return self._has_unread() or not self._hand_over.is_done

    def is_concerned(self, event: Event) -> bool:
        """Whether an event concerns this editor: it is about memories, an open project, or no project."""
        root = None if isinstance(event, SettingsChanged) else event.root
        return root is None or isinstance(event, MemoryChanged) or root in self._shown

    async def tell_problems(self) -> None:
        """Show problems of the settings that were not shown before."""
        client = await self.client()
        problems = await self.work("settings", client.problems)
        for problem in problems:
            if problem not in self._told:
                self.problems.put_nowait(f"{problem}; the former settings stay in force")
        self._told = set(problems)

    def settings_changed(self, settings: Mapping[str, Any]) -> None:
        """Apply new settings from the editor."""
        self._settings = settings
        if self._client is not None:
            self._applying = self.spawn(self._apply_settings(self._client, settings))

    async def _apply_settings(self, client: Client, settings: Mapping[str, Any]) -> None:
        for problem in (await self.work("settings", client.apply_editor_settings, settings)).problems:
            self.problems.put_nowait(str(problem))

    async def close(self) -> None:
        """End the session, and close its client."""
        self._stop_listening()
        self._stop_listening = lambda: None
        for task in self._tasks:
            task.cancel()
        await self._hand_over.close()
        if self._client is not None:
            self._client.engine.editors.leave(self._is_behind)
            await run_aside(self._client.close)

    async def _open_around(self, client: Client, document: OpenDocument) -> None:
        """Open a project for a document of an editor that has no folder, and hand it over."""
        try:
            view = await self.work("open", open_project_around, document.uri, client)
        except (RagLsError, OSError) as error:
            self.problems.put_nowait(str(error))
            view = await self.work("open", client.open_scratch)
        self._show(view)
        await self.work("open", view.keep_indexed)
        if self.documents.get(document.uri) is document:
            self.text_changed(document)

    async def wait_until_settled(self) -> None:
        """Wait until the engine has all of the editor's messages: settings applied, documents handed over."""
        if self._applying is not None:
            await asyncio.wait([self._applying])
        await self._hand_over.done()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run work in the background; a failure is logged."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._log_failure)
        return task

    def _log_failure(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            _log.error("background work failed", exc_info=error)


def _have_one_open(client: Client) -> None:
    if not client.projects():
        client.open_scratch()


def _open_project(session: ClientSession, folder: Path) -> tuple[ProjectSession, Loaded, str]:
    """Open the project around a folder; returns it, its settings with their problems, and the folder's path without links."""
    view = session.work_in(folder)
    return view, session.client.load_settings(view.project.folder), os.path.realpath(folder)


def _trust(folder: Path) -> None:
    """Take over that the editor's user trusts a folder, with all below it."""
    trusted = users_trusted_folders()
    if not trusted.trusts(folder) and not is_shared_folder(Path(os.path.realpath(folder))):
        trusted.add(folder)


def _close_project(client: Client, folder: Path, others: Sequence[Path]) -> Path | None:
    """Close the project around a folder, unless another folder lies in it; its root where it was closed."""
    view = client.project_of(folder)
    if view is None or any(client.project_of(other) is view for other in others):
        return None
    client.close_project(view.project.root)
    return view.project.root


def _take_files(client: Client, uris: Sequence[str]) -> None:
    """Tell the projects of files that were written, created, renamed or deleted."""
    changed: dict[int, tuple[ProjectSession, list[str]]] = {}
    for uri in uris:
        place = place_of(uri, client) if file_path(uri) else None
        if place is not None and not place.guest and place.path.split("/", 1)[0] not in (".git", ".rag-ls"):
            changed.setdefault(id(place.view), (place.view, []))[1].append(place.path)
    for view, paths in changed.values():
        view.files_changed(paths)
