"""SQLite's errors as the ones that callers know: no `sqlite3` error leaves this package."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

C = TypeVar("C", bound=type)


def guarded(cls: C) -> C:
    """A class decorator: errors of SQLite leave public methods as `StoreUnavailable`, `StoreDamaged` or `StoreFull`.

    Nor does the database close while such a method runs. The class keeps its `Database` in `_database`. Generators are not
    guarded: public methods return lists.
    """
    for name, member in list(vars(cls).items()):
        # What closes the database waits for the other calls, and may come twice.
        if not name.startswith("_") and name != "close" and callable(member):
            setattr(cls, name, _guard(member))
    return cls


def _guard(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: Any, *values: Any, **named: Any) -> Any:
        with self._database.in_use():
            return method(self, *values, **named)

    return call
