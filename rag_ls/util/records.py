"""Dataclasses whose methods are made at their first use.

`dataclasses.dataclass` compiles every method of a class when the class is defined: half a millisecond a class, of which a start
defines hundreds and uses few. `dataclass` here defines the fields and the slots at once, and has the standard library make
`__init__`, `__repr__`, `__eq__` and `__hash__` when one of them is first called. Everything else is the standard library's.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError, asdict, field, fields, make_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["asdict", "dataclass", "field", "fields", "replace"]

_ORDER = ["__lt__", "__le__", "__gt__", "__ge__"]

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
    names += _ORDER if order else []
    for name in names:
        if name not in own:
            setattr(cls, name, _stand_in(cls, name))
    if eq and not frozen and "__hash__" not in own:
        cls.__hash__ = None
    if frozen:
        cls.__setattr__, cls.__delattr__ = _refuse_to_set, _refuse_to_delete


def _stand_in(cls: Any, name: str) -> Any:
    def call(self: Any, *args: Any, **named: Any) -> Any:
        method = _make_method(cls, name)
        setattr(cls, name, method)
        return method(self, *args, **named)

    return call


def _make_method(cls: Any, name: str) -> Any:
    """Return the method that the standard library makes for a class with the same fields."""
    is_order = name in _ORDER
    made = make_dataclass(
        cls.__name__,
        [(each.name, each.type, each) for each in fields(cls)],
        namespace={key: value for key in ("__doc__", "__post_init__") if (value := getattr(cls, key, None))},
        init=name == "__init__",
        repr=name == "__repr__",
        eq=is_order or name in ("__eq__", "__hash__"),
        order=is_order,
        frozen=cls.__setattr__ is _refuse_to_set and name in ("__init__", "__hash__"),
    )
    return getattr(made, name)


def _refuse_to_set(self: Any, name: str, value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
