"""The errors that callers can act on: one type per remedy, each message naming the input."""

from __future__ import annotations


class RagLsError(Exception):
    """Base of every error whose message is written for the user or the agent."""


class InvalidRequest(RagLsError):
    """An argument is missing, of the wrong type, or out of range."""


class PathOutsideProject(RagLsError):
    """A path leads out of the project, directly or through a symbolic link."""


class VersionConflict(RagLsError):
    """A memory, or a file that was to be written, was changed since the caller read it; the message says what it is now."""


class NotFound(RagLsError):
    """Nothing has this id, path or name; the message says where to look."""


class HttpUnavailable(RagLsError):
    """HTTP cannot be served as asked; the message names the address or file, and the remedy."""


class AccessRefused(RagLsError):
    """The caller's token does not allow this; the message does not tell whether the thing exists."""


class TooManyAtOnce(RagLsError):
    """The caller already has as many requests in work as it may have at once."""


class NotConfirmed(RagLsError):
    """An operation that deletes files was not confirmed; nothing was done."""


class NotIndexed(RagLsError):
    """The folder is no project, and a question does not make it one; the message names the command that does."""


class ProjectUnavailable(RagLsError):
    """The project's folder or its data folder cannot be used."""


class ModelMissing(RagLsError):
    """The embedding model is not on this machine; the message says how to get it."""


class ModelDamaged(RagLsError):
    """A model's file is missing, differs from the pinned one, or cannot be run here; nothing was loaded."""


class EngineFailed(RagLsError):
    """The engine ended while it answered, again and again; the message names its log."""


class StoreError(RagLsError):
    """Base of what can go wrong with a store. `store` names it: `index`, `project memories`, `global memories`, ..."""

    def __init__(self, message: str, store: str = "") -> None:
        super().__init__(message)
        self.store = store


class StoreUnavailable(StoreError):
    """A store cannot be opened, read or written now; the message says which one and why."""


class StoreReadOnly(StoreUnavailable):
    """The user may read the store, but not write there."""


class ScopeRefused(StoreUnavailable):
    """A scope's memories are not for this client, which sees some projects alone."""


class StoreDamaged(StoreUnavailable):
    """The content of a store cannot be read; the message says what is done about it, or which backup is good."""


class StoreFull(StoreUnavailable):
    """There is no space left for a store to write; nothing was changed."""
