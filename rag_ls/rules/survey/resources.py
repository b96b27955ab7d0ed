"""The routes behind one line of `resources`, as Rails and Laravel mean them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_LARAVEL_NAMES = {"store": "create", "create": "new"}
_OTHER_NAMES = {"delete": "destroy"}
"""Those of Phoenix."""
_ROUTES = (
    ("index", "GET", ""),
    ("create", "POST", ""),
    ("new", "GET", "/new"),
    ("show", "GET", "/{key}"),
    ("edit", "GET", "/{key}/edit"),
    ("update", "PATCH", "/{key}"),
    ("destroy", "DELETE", "/{key}"),
)
ALL_ACTIONS = frozenset(action for action, _, _ in _ROUTES)


def actions(only: Iterable[str] | None, without: Iterable[str] | None, laravel: bool = False) -> set[str]:
    """The actions that are left, by Rails' names."""

    def rails(names: Iterable[str]) -> set[str]:
        return {(_LARAVEL_NAMES if laravel else _OTHER_NAMES).get(name, name) for name in names}

    if only is not None:
        return rails(only) & ALL_ACTIONS
    return set(ALL_ACTIONS) - (rails(without) if without is not None else set())


def resource_routes(name: str, wanted: set[str], key: str, new: str = "new") -> Iterator[tuple[str, str]]:
    """Each method and route of the actions; `key` is the parameter as the framework writes it, "" for a resource that is one alone."""
    for action, method, ending in _ROUTES:
        if action in wanted and not (action == "index" and not key):
            ending = ending.replace("/{key}", f"/{key}" if key else "")
            yield method, name + (f"/{new}" if action == "new" else ending)


def singular(name: str) -> str:
    """The singular of a resource's name, as far as it can be told from its end."""
    if name.endswith("ies"):
        return name[:-3] + "y"
    if name.endswith(("sses", "xes", "ches", "shes")):
        return name[:-2]
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name
