"""The editor's open documents, and the project that each belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pygls import uris

from rag_ls.engine.client import Client
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import PathOutsideProject
from rag_ls.indexing import Buffer
from rag_ls.lsp.text_buffer import TextBuffer
from rag_ls.project import find_marked_root, is_guest, is_path
from rag_ls.util.network_paths import share_of


@dataclass(frozen=True, slots=True)
class Place:
    """A document's project, and its path in the project."""

    view: ProjectSession
    path: str
    guest: bool
    """Whether it is none of the project's files: untitled, or outside every folder."""


@dataclass(slots=True)
class OpenDocument:
    """A document that is open in the editor."""

    uri: str
    language: str
    buffer: TextBuffer
    place: Place | None = None
    """The project that received it; None until it was handed over."""


class Documents:
    """Maps the editor's URIs to projects and keeps the open texts. Used on the LSP thread alone."""

    def __init__(self, encoding: str) -> None:
        self.encoding = encoding
        self._open: dict[str, OpenDocument] = {}

    def open(self, uri: str, language: str, text: str) -> OpenDocument:
        """A document was opened (or opened again)."""
        document = OpenDocument(uri, language, TextBuffer(text, self.encoding))
        self._open[uri] = document
        return document

    def get(self, uri: str) -> OpenDocument | None:
        """An open document, or None."""
        return self._open.get(uri)

    def close(self, uri: str) -> OpenDocument | None:
        """A document was closed; returns it if it was open."""
        return self._open.pop(uri, None)

    def all(self) -> list[OpenDocument]:
        """All open documents."""
        return list(self._open.values())


def place_of(uri: str, client: Client) -> Place | None:
    """The project of a document; a guest goes to the first project. None while no project is open."""
    file = file_path(uri)
    if file is not None and (view := client.project_of(file)):
        try:
            return Place(view, view.project.folder.relative(file), guest=False)
        except PathOutsideProject:
            pass
    projects = client.projects()
    if not projects:
        return None
    return Place(projects[0], file.as_posix() if file is not None else uri, guest=True)


def open_project_around(uri: str, client: Client) -> ProjectSession:
    """Open the project around a file, else the scratch project; for an editor without a folder."""
    file = file_path(uri)
    root = find_marked_root(file.parent) if file is not None and file.parent.is_dir() else None
    return client.open(root) if root else client.open_scratch()


def file_path(uri: str) -> Path | None:
    """The path of a `file:` URI, or None for other schemes and machines, and where no file can be called so.

    Windows would sign in at whatever machine `file://host/share` names.
    """
    if not uri.startswith("file:"):
        return None
    path = uris.to_fs_path(uri)
    return Path(path) if path and is_path(path) and not share_of(path) else None


def as_buffer(document: OpenDocument, place: Place, text: str) -> Buffer:
    """A document's text as the index takes it."""
    return Buffer(place.path, text, document.language or None, place.guest)


def uri_of(view: ProjectSession, path: str) -> str:
    """The URI of a document of a project, or of a guest."""
    if ":" in path.split("/", 1)[0] and is_guest(path, view.project.root):
        return path
    return uris.from_fs_path(str(view.project.root / path)) or path
