"""Dataclasses whose methods are made at their first use.

`dataclasses.dataclass` compiles every method of a class when the class is defined: half a millisecond a class, of which a start
defines hundreds and uses few. `dataclass` here defines the fields and the slots at once, and has the standard library make
`__init__`, `__repr__`, `__eq__` and `__hash__` when one of them is first called. Everything else is the standard library's.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError, asdict, field, fields, make_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["asdict", "dataclass", "field", "fields", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    import dataclasses

    _Class = TypeVar("_Class", bound=type)

    def dataclass(*, frozen=False, slots=False, eq=True, order=False, kw_only=False):
        """Return a decorator that makes a dataclass with these parameters of `dataclasses.dataclass`."""

        def define(cls: _Class) -> _Class:
            own = frozenset(cls.__dict__)
            defined = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(cls)
            _add_methods(defined, own, frozen=frozen, eq=eq, order=order)
            if frozen and slots:  # The usual way of `pickle` and `copy` sets attributes.
                defined.__getstate__, defined.__setstate__ = _get_state, _set_state
            return defined

        return define


def _add_methods(cls: Any, own: frozenset[str], *, frozen: bool, eq: bool, order: bool) -> None:
    """Give the class `__init__` and its like as stand-ins that the first call replaces, except those that it defines itself."""
    names = ["__init__", "__repr__"]
    names += ["__eq__"] if eq else []
    names += ["__hash__"] if eq and frozen else []
    names += ["__lt__", "__le__", "__gt__", "__ge__"] if order else []
    missing = [name for name in names if name not in own]
    for name in missing:
        setattr(cls, name, _stand_in(cls, name, missing))
    if eq and not frozen and "__hash__" not in own:
        cls.__hash__ = None
    if frozen:
        cls.__setattr__, cls.__delattr__ = _refuse_to_set, _refuse_to_delete


def _stand_in(cls: Any, name: str, missing: list[str]) -> Any:
    def call(self: Any, *args: Any, **named: Any) -> Any:
        _make_methods(cls, missing)
        return getattr(cls, name)(self, *args, **named)

    return call


def _make_methods(cls: Any, missing: list[str]) -> None:
    """Take the methods from a class with the same fields that the standard library makes whole."""
    namespace = {"__doc__": "A stand-in."} | (
        {"__post_init__": cls.__post_init__} if hasattr(cls, "__post_init__") else {}
    )
    made = make_dataclass(
        cls.__name__,
        [(each.name, each.type, each) for each in fields(cls)],
        namespace=namespace,
        frozen="__setattr__" in cls.__dict__,
        order="__lt__" in missing,
    )
    for name in missing:
        setattr(cls, name, getattr(made, name))


def _refuse_to_set(self: Any, name: str, value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
