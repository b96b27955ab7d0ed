"""The editor's open documents, their addresses (URIs), and the project that each belongs to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pygls import uris

from rag_ls.engine import Client, ProjectSession
from rag_ls.errors import PathOutsideProject
from rag_ls.indexing import Buffer
from rag_ls.lsp.text_buffer import TextBuffer
from rag_ls.project import find_marked_root, is_guest, is_path
from rag_ls.util.paths import share_of
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass, field

_SCHEME = lazy_pattern(r"([A-Za-z][A-Za-z0-9+.-]+):")
# Other schemes show no text of the user's, but another version of a file (git, fugitive, gitfs), a program's output, a folder's
# listing (oil) or the source of a library (jdt).
_CELL_SCHEME = "vscode-notebook-cell"
_SCRATCH_SCHEMES = frozenset({"untitled", "inmemory", "buffer", _CELL_SCHEME})
_UNNAMED = "file://"
"""Neovim calls a text so that has no name yet."""


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


def scheme_of(uri: str) -> str:
    """The scheme of an address, in lower case; empty without one."""
    found = _SCHEME.match(uri)
    return found[1].lower() if found else ""


def is_written_by_user(uri: str) -> bool:
    """Whether a document is a file or a text that was never saved, so that its text counts."""
    return uri == _UNNAMED or scheme_of(uri) in _SCRATCH_SCHEMES or file_path(uri) is not None


def file_path(uri: str) -> Path | None:
    """The path of a `file:` URI, or None for other schemes and machines, and where no file can be called so.

    Windows would sign in at whatever machine `file://host/share` names.
    """
    if scheme_of(uri) != "file":
        return None
    rest = uri[len("file:") :]
    if rest[:12].lower() == "//localhost/":
        rest = "//" + rest[11:]
    path = uris.to_fs_path("file:" + rest)
    return Path(os.path.normpath(path)) if path and is_path(path) and not share_of(path) else None


def notebook_path(uri: str) -> Path | None:
    """The file of the notebook that a cell's address names; None for other addresses."""
    if scheme_of(uri) != _CELL_SCHEME:
        return None
    return file_path("file:" + uri[len(_CELL_SCHEME) + 1 :].partition("#")[0])


@dataclass(frozen=True, slots=True)
class Spelling:
    """The names that an editor gives to places: it takes the same file at another address for another file."""

    encoding: str = "utf-16"
    """The units in which it counts characters of a line."""
    folders: Mapping[str, str] = field(default_factory=dict)
    """The address of each of its folders, by the folder's path without links."""
    open_files: Mapping[tuple[Path, str], str] = field(default_factory=dict)
    """The addresses of its open documents, by project root and path."""

    def uri_of(self, view: ProjectSession, path: str) -> str:
        """The address of a document of a project, or of a guest."""
        root = view.project.root
        if opened := self.open_files.get((root, path)):
            return opened
        if ":" in path.split("/", 1)[0] and is_guest(path, root):
            return path
        file = root / path
        for folder in map(str, file.parents):
            if address := self.folders.get(folder):
                # pygls encodes addresses as VS Code does.
                below = uris.from_fs_path("/" + file.relative_to(folder).as_posix()) or ""
                return address.rstrip("/") + below.removeprefix("file://")
        return uris.from_fs_path(str(file)) or path


DEFAULT_SPELLING = Spelling()
