"""The addresses (URIs) of documents: the file that one means, whose text counts, and how the editor spells them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pygls import uris

from rag_ls.engine.session import ProjectSession
from rag_ls.project import is_guest, is_path
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
