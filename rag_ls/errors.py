"""The errors that callers can act on: one type per remedy, each message naming the input."""

from __future__ import annotations


class RagLsError(Exception):
    """Base of every error whose message is written for the user or the agent."""


class InvalidRequest(RagLsError):
    """An argument is missing, of the wrong type, or out of range."""


class PathOutsideProject(RagLsError):
    """A path leads out of the project, directly or through a symbolic link."""


class VersionConflict(RagLsError):
    """A memory was changed since the caller read it; the message says what it is now."""


class NotFound(RagLsError):
    """Nothing has this id, path or name; the message says where to look."""


class NotConfirmed(RagLsError):
    """What deletes files was not confirmed; nothing was done."""


class ProjectUnavailable(RagLsError):
    """The project's folder or its data folder cannot be used."""


class ModelMissing(RagLsError):
    """The embedding model is not on this machine; the message says how to get it."""


class ModelDamaged(RagLsError):
    """A model file's checksum differs from the pinned one; nothing was loaded."""


class MemoriesUnavailable(RagLsError):
    """A scope's memories cannot be opened; the message says why."""


class MemoriesDamaged(MemoriesUnavailable):
    """`memories.db` cannot be read; the message names the newest good backup."""


class DiskFull(RagLsError):
    """There is no space left to write; nothing was changed."""


class IndexUnavailable(RagLsError):
    """The index could not be read or written; the message says why."""
