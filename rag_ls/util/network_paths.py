"""Paths of Windows that name another machine: looking one up asks that machine, and tells it who the user is.

A repository, an agent or a link in a text may name `\\\\host\\share\\file`, and Windows signs in there before it answers whether
the file exists. Other systems have no such paths. A project may lie on a share itself; then its own share is no other machine.
"""

from __future__ import annotations

import ntpath
import os

_IS_WINDOWS = os.name == "nt"


def share_of(path: str | os.PathLike[str]) -> str:
    r"""The share (`\\host\share`), device or pipe (`\\.\pipe`) that a path of Windows begins with, in lower case; else empty."""
    written = os.fspath(path).replace("/", "\\").lower()
    # Some spellings are network shares to Windows, but not to Python.
    return (ntpath.splitdrive(written)[0] or "\\\\") if written.startswith("\\\\") else ""


def is_elsewhere(
    path: str | os.PathLike[str], here: str | os.PathLike[str] = "", *, windows: bool = _IS_WINDOWS
) -> bool:
    """Whether Windows would ask another machine than that of `here`, or a device, about a path."""
    return windows and share_of(path) not in ("", share_of(here))
