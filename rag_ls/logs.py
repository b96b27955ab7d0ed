"""Where the log goes: stderr or a file, never stdout, and quiet by default."""

from __future__ import annotations

import logging
import sys

from rag_ls.config import LogSettings

_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def configure(settings: LogSettings) -> str:
    """Log as the settings say; returns what is wrong with the file that they name, or an empty string.

    A level that was set on the command line (`-v`) stays where it shows more.
    """
    root = logging.getLogger("rag_ls")
    wanted = logging.getLevelNamesMapping()[settings.level.upper()]
    root.setLevel(min(wanted, root.level or wanted))
    problem = ""
    handler: logging.Handler = logging.StreamHandler(sys.stderr)
    if settings.file:
        try:
            handler = logging.FileHandler(settings.file, encoding="utf-8")
        except OSError as error:
            problem = f"log.file = {settings.file!r} cannot be written ({error.strerror}); logging to stderr"
    handler.setFormatter(logging.Formatter(_FORMAT))
    for former in root.handlers[:]:
        root.removeHandler(former)
        former.close()
    root.addHandler(handler)
    root.propagate = False
    return problem
