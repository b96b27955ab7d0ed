"""Configures logging: to stderr or a file, never to stdout, and quiet by default."""

from __future__ import annotations

import logging
import sys
from logging.handlers import RotatingFileHandler
from pathlib import Path

from rag_ls.config import LogSettings
from rag_ls.project import make_private_folder

_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


_MAX_FILE_BYTES = 2_000_000
_KEPT_FILES = 3


def to_rotating_file(file: Path, settings: LogSettings, *, also_stderr: bool) -> None:
    """Log to a file that is rotated when it is full; a few former files are kept."""
    make_private_folder(file.parent)
    root = logging.getLogger("rag_ls")
    root.setLevel(min(logging.INFO, logging.getLevelNamesMapping()[settings.level.upper()]))
    handler = RotatingFileHandler(file, maxBytes=_MAX_FILE_BYTES, backupCount=_KEPT_FILES, encoding="utf-8")
    file.chmod(0o640)
    handlers: list[logging.Handler] = [handler]
    if also_stderr:
        handlers.append(logging.StreamHandler(sys.stderr))
    for former in root.handlers[:]:
        root.removeHandler(former)
        former.close()
    for new in handlers:
        new.setFormatter(logging.Formatter(_FORMAT))
        root.addHandler(new)
    root.propagate = False


def configure(settings: LogSettings) -> str:
    """Configure logging by the settings; returns the problem with their file, or an empty string.

    A more verbose level from the command line (`-v`) stays.
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
