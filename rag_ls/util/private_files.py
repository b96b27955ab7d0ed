"""Files that the user alone can read, whatever the umask, and whatever an earlier version made of them."""

from __future__ import annotations

import contextlib
import os
import stat

PRIVATE_MODE = 0o600


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


def restrict_to_user(file: str | os.PathLike[str]) -> None:
    """Let nobody else read a file, if it is one of the user's and no link."""
    with contextlib.suppress(OSError):
        found = os.lstat(file)
        if stat.S_ISREG(found.st_mode) and stat.S_IMODE(found.st_mode) != PRIVATE_MODE:
            os.chmod(file, PRIVATE_MODE)
