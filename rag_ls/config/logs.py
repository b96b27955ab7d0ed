"""Configures logging: to stderr or a file, never to stdout, and quiet by default."""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import os
import sys
from collections.abc import Sequence
from logging.handlers import RotatingFileHandler
from pathlib import Path

from rag_ls.config.engine_settings import LogSettings
from rag_ls.project import make_private_folder
from rag_ls.util.files import create_private_file, restrict_to_user

_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
# A message may quote a client's text, which may end in half a character.
_ERRORS = "backslashreplace"
_MAX_FILE_BYTES = 2_000_000
_MAX_KEPT_FILES = 3


def to_rotating_file(file: Path, settings: LogSettings, *, also_stderr: bool) -> None:
    """Log to a file that is rotated when it is full; a few former files are kept.

    A crash of this process is told there too and, without `also_stderr`, all that is printed to standard error, by
    processes that it starts as well.
    """
    make_private_folder(file.parent)
    root = logging.getLogger("rag_ls")
    root.setLevel(min(logging.INFO, logging.getLevelNamesMapping()[settings.level.upper()]))
    for number in range(1, _MAX_KEPT_FILES + 1):
        restrict_to_user(file.with_name(f"{file.name}.{number}"))
    create_private_file(file)
    handler = RotatingFileHandler(
        file, maxBytes=_MAX_FILE_BYTES, backupCount=_MAX_KEPT_FILES, encoding="utf-8", errors=_ERRORS
    )
    crashes = _Crashes(file, takes_stderr=not also_stderr)
    handler.rotator = crashes.rotate
    handlers: list[logging.Handler] = [handler]
    if also_stderr:
        handlers.append(logging.StreamHandler(sys.stderr))
    _set_handlers(root, handlers)


def _set_handlers(root: logging.Logger, handlers: Sequence[logging.Handler]) -> None:
    for former in root.handlers[:]:
        root.removeHandler(former)
        former.close()
    for new in handlers:
        new.setFormatter(logging.Formatter(_FORMAT))
        root.addHandler(new)
    root.propagate = False


class _Crashes:
    """The last words of a process, at the end of its log. The file is always open: a crash is too late to open it."""

    def __init__(self, file: Path, *, takes_stderr: bool) -> None:
        self._file = file
        self._takes_stderr = takes_stderr
        self._open()

    def rotate(self, source: str, target: str) -> None:
        """Rename the full log, and go on in a new one. Windows renames no file that is open, here or elsewhere."""
        faulthandler.disable()
        self._stream.close()
        if self._takes_stderr:
            with open(os.devnull, "wb") as nothing:
                os.dup2(nothing.fileno(), 2)
        try:
            # If another process is reading the log, go on in the same file.
            with contextlib.suppress(FileNotFoundError, PermissionError):
                os.replace(source, target)
        finally:
            self._open()

    def _open(self) -> None:
        create_private_file(self._file)
        self._stream = self._file.open("ab", buffering=0)
        if self._takes_stderr:
            os.dup2(self._stream.fileno(), 2)
        faulthandler.enable(self._stream)


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
            if not os.path.lexists(settings.file):
                create_private_file(settings.file)
            handler = logging.FileHandler(settings.file, encoding="utf-8", errors=_ERRORS)
        except OSError as error:
            problem = f"log.file = {settings.file!r} cannot be written ({error.strerror}); logging to stderr"
    # Enabled before the former file is closed.
    if (stream := handler.stream if isinstance(handler, logging.FileHandler) else sys.__stderr__) is not None:
        faulthandler.enable(stream)
    _set_handlers(root, [handler])
    return problem
