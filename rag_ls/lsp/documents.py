"""The editor's open documents, and the project that each belongs to."""

from __future__ import annotations

from rag_ls.engine.client import Client
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import PathOutsideProject
from rag_ls.indexing import Buffer
from rag_ls.lsp.addresses import Spelling, file_path, is_written_by_user, notebook_path
from rag_ls.lsp.text_buffer import TextBuffer
from rag_ls.project import find_marked_root
from rag_ls.util.records import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A document's project, and its path in the project."""

    view: ProjectSession
    path: str
    guest: bool
    """Whether it is none of the project's files: untitled, or outside every folder."""
    notebook: str = ""
    """Of a cell, the path of the project's notebook that it is in."""


@dataclass(slots=True)
class OpenDocument:
    """A document that is open in the editor."""

    uri: str
    language: str
    buffer: TextBuffer
    counts: bool
    """Whether its text counts (`is_written_by_user`)."""
    place: Place | None = None
    """The project that received it; None until it was handed over."""


class Documents:
    """Maps the editor's URIs to projects and keeps the open texts. Used on the LSP thread alone."""

    def __init__(self, encoding: str) -> None:
        self.encoding = encoding
        self._open: dict[str, OpenDocument] = {}
        self._folders: dict[str, str] = {}

    def open(self, uri: str, language: str, text: str) -> OpenDocument:
        """A document was opened (or opened again)."""
        document = OpenDocument(uri, language, TextBuffer(text, self.encoding), is_written_by_user(uri))
        # The latest comes last, so that it counts if another address means the same file.
        self._open.pop(uri, None)
        self._open[uri] = document
        return document

    def get(self, uri: str) -> OpenDocument | None:
        """An open document, perhaps opened at another address of the same file; None if it is not open."""
        if found := self._open.get(uri):
            return found
        file = file_path(uri)
        same = [each for each in self._open.values() if file is not None and file_path(each.uri) == file]
        return same[-1] if same else None

    def close(self, uri: str) -> OpenDocument | None:
        """A document was closed; returns it if it was open."""
        document = self.get(uri)
        return self._open.pop(document.uri) if document else None

    def all(self) -> list[OpenDocument]:
        return list(self._open.values())

    def note_folder(self, path: str, uri: str) -> None:
        """Remember how the editor spells a folder, whose path has no links."""
        self._folders[path] = uri

    def spelling(self) -> Spelling:
        """The names that the editor gives to its folders and open documents at this moment."""
        places = [(each.place, each.uri) for each in self.all()]
        open_files = {(place.view.project.root, place.path): uri for place, uri in places if place}
        return Spelling(self.encoding, dict(self._folders), open_files)


def place_of(uri: str, client: Client) -> Place | None:
    """The project of a document; a guest goes to the first project. None while no project is open."""
    file = file_path(uri)
    if file is not None and (view := client.project_of(file)):
        try:
            return Place(view, view.project.folder.relative(file), guest=False)
        except PathOutsideProject:
            pass
    notebook = notebook_path(uri)
    if notebook is not None and (view := client.project_of(notebook)):
        try:
            return Place(view, uri, guest=True, notebook=view.project.folder.relative(notebook))
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


def as_buffer(document: OpenDocument, place: Place, text: str) -> Buffer:
    """A document's text as the index takes it."""
    return Buffer(place.path, text, document.language or None, place.guest, place.notebook)
