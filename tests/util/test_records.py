"""Dataclasses whose methods are made at their first use behave as those of the standard library."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, is_dataclass

import pytest

from rag_ls.util.records import asdict, dataclass, field, fields, replace


@dataclass(frozen=True, slots=True)
class Point:
    """A place on a plane."""

    x: int
    y: int = 0
    name: str = field(default="", compare=False)
    tags: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named(Point):
    """A place with a title, whose length is kept."""

    title: str
    length: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", len(self.title))


@dataclass(slots=True, eq=False)
class Counter:
    """A count that changes."""

    count: int = 0


@dataclass(slots=True)
class Box:
    """A value that changes and is compared."""

    value: int


@dataclass(frozen=True, order=True, slots=True)
class Version:
    """A number with an order."""

    number: int


def test_fields_defaults_and_post_init() -> None:
    named = Named(1, 2, title="abc")
    assert (named.x, named.y, named.title, named.length, named.tags) == (1, 2, "abc", 3, [])
    assert Point(1).tags is not Point(1).tags
    assert is_dataclass(Point)
    assert [each.name for each in fields(Named)] == [
        "x",
        "y",
        "name",
        "tags",
        "title",
        "length",
    ]
    with pytest.raises(TypeError, match=r"Point.__init__\(\) missing 1 required positional argument: 'x'"):
        Point()  # type: ignore[call-arg]


def test_equality_hash_order_and_text() -> None:
    assert Point(1, name="a") == Point(1, name="b") != Point(2)
    assert Version(1) < Version(2)
    assert sorted([Version(2), Version(1)])[0] == Version(1)
    assert hash(Version(1)) == hash(Version(1))
    assert Version(1) in {Version(1)}
    assert repr(Version(3)) == "Version(number=3)"
    assert Counter(1) != Counter(1)
    assert hash(Counter(1))
    assert Box(1) == Box(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(Box(1))


def test_what_is_frozen_cannot_be_set_and_what_has_slots_takes_no_other_name() -> None:
    point, counter = Point(1), Counter()
    with pytest.raises(FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del point.x
    counter.count += 1
    assert counter.count == 1
    with pytest.raises(AttributeError):
        counter.other = 1  # type: ignore[attr-defined]


def test_copies_changes_and_pickles() -> None:
    named = Named(1, title="abc", tags=["t"])
    assert replace(named, x=5) == Named(5, title="abc", tags=["t"])
    assert asdict(Point(1, tags=["t"])) == {"x": 1, "y": 0, "name": "", "tags": ["t"]}
    assert pickle.loads(pickle.dumps(named)) == named == copy.deepcopy(named) == copy.copy(named)
    assert Point.__match_args__ == ("x", "y", "name", "tags")
