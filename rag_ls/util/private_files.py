"""Files that the user alone can read, whatever the umask, and whatever an earlier version made of them.

A file that root makes in a folder belongs to the folder's owner, who could not open it otherwise.
"""

from __future__ import annotations

import contextlib
import os
import stat

PRIVATE_MODE = 0o600
_ROOT_USER_ID = 0
# On Linux, a path to each of the files that the process has open.
_OPEN_FILES = "/proc/self/fd"


def create_private_file(file: str | os.PathLike[str], text: str = "") -> None:
    """Make a file with this text unless there is one, and let nobody else read it. Follows no link. Raises `OSError`."""
    try:
        number = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_MODE)
    except FileExistsError:
        restrict_to_user(file)
        return
    with os.fdopen(number, "w", encoding="utf-8") as stream:
        stream.write(text)
    restrict_to_user(file)
    give_to_owner(file)


def restrict_to_user(file: str | os.PathLike[str]) -> None:
    """Let nobody else read a file, if it is one of the user's and no link."""
    with contextlib.suppress(OSError):
        found = os.lstat(file)
        if not stat.S_ISREG(found.st_mode) or stat.S_IMODE(found.st_mode) == PRIVATE_MODE:
            return
        if not os.path.isdir(_OPEN_FILES):
            os.chmod(file, PRIVATE_MODE)
            return
        # The owner of the folder may have put a link in its place meanwhile. A file opened so keeps SQLite's locks when it is closed.
        number = os.open(file, os.O_PATH | os.O_NOFOLLOW)
        try:
            if stat.S_ISREG(os.fstat(number).st_mode):
                os.chmod(f"{_OPEN_FILES}/{number}", PRIVATE_MODE)
        finally:
            os.close(number)


def give_to_owner(place: str | os.PathLike[str]) -> None:
    """Give what this process made, if it is root's, to the owner of the folder around it: a container works so on a project.

    Not for a database that is open: closing the file here would end SQLite's locks on it.
    """
    if not hasattr(os, "geteuid") or os.geteuid() != _ROOT_USER_ID:
        return
    with contextlib.suppress(OSError):
        around = os.stat(os.path.dirname(os.path.abspath(place)))
        if around.st_uid == _ROOT_USER_ID or os.lstat(place).st_uid != _ROOT_USER_ID:
            return
        # That owner may have put a link in its place meanwhile.
        number = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            found = os.fstat(number)
            if stat.S_ISDIR(found.st_mode) or (stat.S_ISREG(found.st_mode) and found.st_nlink == 1):
                os.fchown(number, around.st_uid, around.st_gid)
        finally:
            os.close(number)
