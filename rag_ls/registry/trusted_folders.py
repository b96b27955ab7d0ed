"""The folders that the user trusts, remembered in the user's data, where no repository can write.

Until its folder is trusted, a repository's settings cannot switch on anything that costs or destroys, hooks pass none of its
rules to agents, and the memories that it brings are not used.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from rag_ls.errors import StoreUnavailable
from rag_ls.project import make_private_folder, user_data_folder
from rag_ls.util.foreign_text import read_json
from rag_ls.util.whole_files import check_readable, whole_file

_log = logging.getLogger(__name__)

FILE_NAME = "trusted.json"
_LOCK_S = 5.0


class TrustedFolders:
    """The folders that are trusted. A damaged file trusts none. Safe from several threads and processes."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def folders(self) -> tuple[str, ...]:
        """All of them, in the order in which they were added. Absolute, symbolic links resolved."""
        try:
            found = read_json(self._file.read_text(encoding="utf-8"))["trusted"]
        except FileNotFoundError:
            return ()
        except OSError as error:
            _log.warning("%s cannot be read, so no folder is trusted: %s", self._file, error.strerror)
            return ()
        except (ValueError, TypeError, KeyError) as error:
            _log.warning("%s is damaged, so no folder is trusted: %r", self._file, error)
            return ()
        kept = found if isinstance(found, list) else []
        return tuple(dict.fromkeys(each for each in kept if isinstance(each, str) and os.path.isabs(each)))

    def trusts(self, folder: Path) -> bool:
        """Whether a folder, or one above it, is trusted."""
        real = Path(os.path.realpath(folder))
        known = {Path(each) for each in self.folders()}
        return any(each in known for each in (real, *real.parents))

    def add(self, folder: Path) -> None:
        """Trust a folder with all below it. Raises `StoreUnavailable`."""
        with self._changing():
            self._write(dict.fromkeys((*self.folders(), os.path.realpath(folder))))

    def remove(self, folder: Path) -> None:
        """Trust a folder no longer; one above it may still be trusted. Raises `StoreUnavailable`."""
        with self._changing():
            real = os.path.realpath(folder)
            self._write([each for each in self.folders() if each != real])

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Keep other processes from changing the file, and say why it cannot be changed."""
        # Imported here: only writing needs it, and importing takes time.
        from filelock import FileLock

        try:
            make_private_folder(self._file.parent)
            # filelock.Timeout is an OSError.
            with FileLock(self._file.with_suffix(".lock"), timeout=_LOCK_S, mode=0o600):
                check_readable(self._file)
                yield
        except OSError as error:
            raise StoreUnavailable(
                f"{self._file} cannot be changed ({error.strerror or error}): it must be yours to read and write",
                "trust",
            ) from error

    def _write(self, folders: Collection[str]) -> None:
        with whole_file(self._file) as stream:
            stream.write(json.dumps({"trusted": list(folders)}, indent=2) + "\n")


def users_trusted_folders() -> TrustedFolders:
    """The trusted folders of this user."""
    return TrustedFolders(find_trusted_folders_file())


def find_trusted_folders_file() -> Path:
    """The file that keeps this user's trusted folders."""
    return user_data_folder() / FILE_NAME
