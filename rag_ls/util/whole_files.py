"""Writes files as a whole or not at all."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from rag_ls.util.private_files import give_to_owner

# Windows cannot replace a file that somebody reads; a virus scanner reads each new file for a moment.
_READ_FOR_S = 2.0 if os.name == "nt" else 0.0
_LOOK_S = 0.02


def replace_file(
    source: str | os.PathLike[str], target: str | os.PathLike[str], *, patience_s: float = _READ_FOR_S
) -> None:
    """Give a file the name of another one, which ends; where others may not be reading that, wait until they are done.

    A file that root made becomes the folder owner's. Raises `OSError`.
    """
    give_to_owner(source)
    deadline = time.monotonic() + patience_s
    while True:
        try:
            os.replace(source, target)
            return
        except PermissionError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_LOOK_S)


@contextmanager
def whole_file(target: str | os.PathLike[str], mode: int = 0o600) -> Iterator[TextIO]:
    """Write a UTF-8 text file that replaces the former one once it is complete.

    Until then, or if an error ends the writing, the former file stays. The umask reduces `mode`. A link is replaced,
    not followed. Raises `OSError`.
    """
    folder, name = os.path.split(os.fspath(target))
    draft = os.path.join(folder, f".{name}.{os.getpid()}-{time.monotonic_ns()}")
    # O_EXCL, so that another user with access to the folder cannot redirect the write.
    number = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    try:
        with os.fdopen(number, "w", encoding="utf-8", newline="") as stream:
            yield stream
        replace_file(draft, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(draft)
        raise
