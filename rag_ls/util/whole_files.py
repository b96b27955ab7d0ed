"""Text files that are written as a whole or not at all."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO


@contextmanager
def whole_file(target: str | os.PathLike[str], mode: int = 0o600) -> Iterator[TextIO]:
    """A new UTF-8 text file, which takes the place of the former one once all is written to it.

    Until then, and where an error ends the writing, the former one stays. `mode` is less what the umask forbids. A link
    is not followed. Raises `OSError`.
    """
    folder, name = os.path.split(os.fspath(target))
    draft = os.path.join(folder, f".{name}.{os.getpid()}-{time.monotonic_ns()}")
    # Another user who may write to the folder must not redirect this.
    number = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    try:
        with os.fdopen(number, "w", encoding="utf-8", newline="") as stream:
            yield stream
        os.replace(draft, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(draft)
        raise
