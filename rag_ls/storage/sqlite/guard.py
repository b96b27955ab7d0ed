"""Turns SQLite's errors into store errors, so that no `sqlite3` error leaves this package."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

C = TypeVar("C", bound=type)


def guarded(cls: C) -> C:
    """A class decorator: turns SQLite errors of public methods into `StoreUnavailable`, `StoreDamaged` or `StoreFull`.

    It also keeps the database open while such a method runs. The class must keep its `Database` in `_database`.
    Generators are not guarded, so public methods must return lists.
    """
    for name, member in list(vars(cls).items()):
        # `close` itself waits for the other calls, and may be called twice.
        if not name.startswith("_") and name != "close" and callable(member):
            setattr(cls, name, _guard(member))
    return cls


def _guard(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: Any, *values: Any, **named: Any) -> Any:
        with self._database.in_use():
            return method(self, *values, **named)

    return call
