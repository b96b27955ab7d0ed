"""The folders that the user trusts, remembered in the user's data, where no repository can write.

Until its folder is trusted, a repository's settings cannot switch on anything that costs or destroys, hooks pass none of its
rules to agents, and the memories that it brings are not used.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from rag_ls.config.json_file import JsonFile
from rag_ls.errors import StoreUnavailable
from rag_ls.locations import user_data_folder

_log = logging.getLogger(__name__)

FILE_NAME = "trusted.json"


class TrustedFolders:
    """The folders that are trusted; none while the file cannot be read. Safe from several threads and processes."""

    def __init__(self, file: Path) -> None:
        self._file = JsonFile[tuple[str, ...]](
            file,
            parse=_parse,
            dump=lambda folders: {"trusted": list(folders)},
            empty=(),
            holds="trust",
            remedy="then trust your folders again with `rag-ls trust`",
        )

    def folders(self) -> tuple[str, ...]:
        """All of them, in the order in which they were added. Absolute, symbolic links resolved."""
        try:
            return self._file.read()
        except StoreUnavailable as error:
            _log.warning("no folder is trusted: %s", error)
            return ()

    def trusts(self, folder: Path) -> bool:
        """Whether a folder, or one above it, is trusted."""
        real = Path(os.path.realpath(folder))
        known = {Path(each) for each in self.folders()}
        return any(each in known for each in (real, *real.parents))

    def add(self, folder: Path) -> None:
        """Trust a folder with all below it. Raises `StoreUnavailable`."""
        self._file.change(lambda held: tuple(dict.fromkeys((*held, os.path.realpath(folder)))))

    def remove(self, folder: Path) -> None:
        """Trust a folder no longer; one above it may still be trusted. Raises `StoreUnavailable`."""
        real = os.path.realpath(folder)
        self._file.change(lambda held: tuple(each for each in held if each != real))


def _parse(content: dict[str, Any]) -> tuple[str, ...]:
    folders = content["trusted"]
    if not isinstance(folders, list):
        raise ValueError(f"no list of folders: {folders!r}")
    if odd := [each for each in folders if not (isinstance(each, str) and os.path.isabs(each))]:
        raise ValueError(f"no absolute path: {odd[0]!r}")
    return tuple(dict.fromkeys(folders))


def users_trusted_folders() -> TrustedFolders:
    """The trusted folders of this user."""
    return TrustedFolders(find_trusted_folders_file())


def find_trusted_folders_file() -> Path:
    """The file that keeps this user's trusted folders."""
    return user_data_folder() / FILE_NAME
