"""One editor's session: its engine, its open documents, and when they are ready to be asked."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from rag_ls.engine import Engine
from rag_ls.errors import RagLsError
from rag_ls.lsp.documents import Documents, OpenDocument, as_buffer, file_path, open_project_around, place_of
from rag_ls.operations import Operations
from rag_ls.workspace import OpenProject

_log = logging.getLogger(__name__)


class Session:
    """Everything that the features share. Its methods are called on the LSP thread and return at once."""

    def __init__(self, encoding: str, settings: Mapping[str, Any], folders: Sequence[Path]) -> None:
        self.documents = Documents(encoding)
        self.opened_projects: asyncio.Queue[OpenProject] = asyncio.Queue()
        """Projects as they become open, for whoever shows their progress."""
        self.problems: asyncio.Queue[str] = asyncio.Queue()
        """What the user should be told."""
        self._settings = settings
        self._folders = list(folders)
        self._ready: asyncio.Future[Engine] = asyncio.get_running_loop().create_future()
        self._engine: Engine | None = None
        self._shown: set[Path] = set()
        # Held here so that they are not collected while they run.
        self._tasks: set[asyncio.Task[Any]] = set()

    async def start(self) -> None:
        """Bring the engine up and open the folders, off the LSP thread; then take in what was opened meanwhile."""
        settings = self._settings
        try:
            self._engine = await asyncio.to_thread(Engine, editor=settings)
        except Exception as error:
            self._ready.set_exception(error)
            raise
        if self._settings is not settings:
            self._engine.apply_editor_settings(self._settings)
        for folder in list(self._folders):
            await self._open_folder(self._engine, folder)
        self._ready.set_result(self._engine)
        # From here on each document is handed over as it is opened.
        for document in self.documents.all():
            self.text_changed(document)

    async def engine(self) -> Engine:
        """The engine, once it is up."""
        return await asyncio.shield(self._ready)

    async def operations(self) -> Operations:
        """The operations, once the engine is up and a project is open."""
        engine = await self.engine()
        if not engine.projects():
            await asyncio.to_thread(engine.open_scratch)
        return Operations(engine)

    @property
    def engine_if_ready(self) -> Engine | None:
        """The engine, or None while it is coming up."""
        return self._engine if self._ready.done() else None

    async def add_folder(self, folder: Path) -> None:
        """A workspace folder was added: open its project, and give it the open documents that are its own."""
        self._folders.append(folder)
        await self._open_folder(await self.engine(), folder)
        self._place_again()

    async def remove_folder(self, folder: Path) -> None:
        """A workspace folder was removed: close its project, unless another folder lies in it."""
        engine = await self.engine()
        self._folders = [kept for kept in self._folders if kept != folder]
        opened = engine.project_of(folder)
        if opened and not any(engine.project_of(kept) is opened for kept in self._folders):
            self._shown.discard(opened.project.root)
            await asyncio.to_thread(engine.close_project, opened.project.root)
            self._place_again()

    async def _open_folder(self, engine: Engine, folder: Path) -> None:
        try:
            opened = await asyncio.to_thread(engine.open, folder)
        except (RagLsError, OSError) as error:
            self.problems.put_nowait(str(error))
            return
        self._show(opened)
        for problem in engine.load_settings(opened.project).problems:
            self.problems.put_nowait(str(problem))
        if opened.settings.index.on_open:
            opened.indexing.index_tree()

    def _show(self, opened: OpenProject) -> None:
        """Have a project's progress shown, once."""
        if opened.project.root not in self._shown:
            self._shown.add(opened.project.root)
            self.opened_projects.put_nowait(opened)

    def _place_again(self) -> None:
        """Hand documents over to the projects that they belong to now."""
        engine = self.engine_if_ready
        for document in self.documents.all() if engine else ():
            former = document.place
            if engine and former and place_of(document.uri, engine) != former:
                if former.opened in engine.projects():
                    former.opened.buffer_closed(former.path)
                document.place = None
                self.text_changed(document)

    def text_changed(self, document: OpenDocument) -> None:
        """A document was opened or edited."""
        engine = self.engine_if_ready
        if engine is None:
            return
        document.place = document.place or place_of(document.uri, engine)
        if document.place is None:
            self.spawn(self._open_around(engine, document))
        else:
            document.place.opened.buffer_changed(as_buffer(document, document.place))

    def text_closed(self, document: OpenDocument) -> None:
        """A document was closed."""
        if document.place is not None:
            document.place.opened.buffer_closed(document.place.path)

    def files_changed(self, uris: Sequence[str]) -> None:
        """Files were saved, written, created, renamed or deleted."""
        engine = self.engine_if_ready
        changed: dict[int, tuple[OpenProject, list[str]]] = {}
        for uri in uris if engine else ():
            place = place_of(uri, engine) if engine and file_path(uri) else None
            if place is not None and not place.guest and not _is_internal(place.path):
                changed.setdefault(id(place.opened), (place.opened, []))[1].append(place.path)
        for opened, paths in changed.values():
            self.spawn(asyncio.to_thread(opened.files_changed, paths))

    def settings_changed(self, settings: Mapping[str, Any]) -> None:
        """The editor sent other settings."""
        self._settings = settings
        if self._engine is not None:
            self.spawn(self._apply_settings(self._engine, settings))

    async def _apply_settings(self, engine: Engine, settings: Mapping[str, Any]) -> None:
        for problem in (await asyncio.to_thread(engine.apply_editor_settings, settings)).problems:
            self.problems.put_nowait(str(problem))

    async def close(self) -> None:
        """Stop the engine."""
        if self._engine is not None:
            await asyncio.to_thread(self._engine.close)

    async def _open_around(self, engine: Engine, document: OpenDocument) -> None:
        """Open a project for a document of an editor that has no folder, and hand it over."""
        try:
            opened = await asyncio.to_thread(open_project_around, document.uri, engine)
        except (RagLsError, OSError) as error:
            self.problems.put_nowait(str(error))
            opened = await asyncio.to_thread(engine.open_scratch)
        self._show(opened)
        opened.indexing.index_tree()
        if self.documents.get(document.uri) is document:
            self.text_changed(document)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run something that nobody awaits; its failure is logged."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            _log.error("background work failed", exc_info=error)


def _is_internal(path: str) -> bool:
    return path.split("/", 1)[0] in (".git", ".rag-ls")
