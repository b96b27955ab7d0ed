"""Declares the fields of requests and answers, each once with its meaning, limits and default."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar, get_type_hints

from rag_ls.util.records import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Argument:
    """The declaration of a request's argument, besides its type and default."""

    doc: str = ""
    required: bool = False
    least: int | None = None
    """The smallest allowed value of a whole number."""
    choices: tuple[str, ...] = ()
    flag: str = ""
    """Its option in the shell (`--path`); empty for its own name; `-` where the shell has no such option."""
    metavar: str = ""
    agents: str = ""
    """Its description for agents, if it needs one: each word costs every agent context on every turn."""
    agents_required: bool = False
    """Whether the schema for agents requires it, though other callers may omit it."""
    agents_type: str = ""
    """The JSON type in the schema for agents, where several types are accepted."""
    names: tuple[str, ...] = ()
    """The values in the schema for agents; others may be accepted too."""
    properties: type | None = None
    """The request of the arguments that an object holds."""
    beside: bool = False
    """Whether callers may give those of the object beside it, too."""
    shown: tuple[str, ...] = ()
    """The properties that agents see."""
    aliases: tuple[str, ...] = ()
    """Other names that callers may give it."""
    is_glob: bool = False
    """Whether it is a glob for paths; a list of globs is one text with commas between."""
    is_path: bool = False
    """Whether it names a file or folder of this machine: over HTTP it must lie in a project that the caller sees."""
    is_root: bool = False
    """Whether the path is that of a project: over HTTP, and for agents, it must be a known one already."""
    is_written: bool = False
    """Whether the file is written: over HTTP it must be a new one, of our own kinds."""
    shell_alone: bool = False
    """Whether only the user at this machine may set it, since it writes where others read."""
    local_alone: bool = False
    """Whether no caller over HTTP may set it, since it writes files anew."""


NO_ARGUMENT = Argument()


@dataclass(frozen=True, slots=True)
class NoArguments:
    """Nothing is asked for besides the operation itself."""


def argument(default: Any = dataclasses.MISSING, doc: str = "", **known: Any) -> Any:
    """A field of a request. Without a default it is required; a list's default is an empty tuple."""
    required = default is dataclasses.MISSING
    metadata = {"argument": Argument(doc=doc, required=required, **known)}
    if required:
        return field(default="", metadata=metadata)
    if default == {}:
        return field(default_factory=known.get("properties", dict), metadata=metadata)
    return field(default=default, metadata=metadata)


def optional(default: Any = None) -> Any:
    """A field of an answer that its JSON omits when it has its default."""
    metadata = {"optional": True}
    if isinstance(default, dict):
        return field(default_factory=dict, metadata=metadata)
    return field(default=default, metadata=metadata)


@cache
def arguments_of(request: type) -> dict[str, tuple[Any, Argument]]:
    """The type and the declaration of each argument of a request, in order."""
    hints = get_type_hints(request)
    return {
        item.name: (hints[item.name], item.metadata.get("argument", NO_ARGUMENT))
        for item in dataclasses.fields(request)
    }


@cache
def accepted_arguments(request: type) -> dict[str, tuple[Any, Argument]]:
    """The arguments of a request, and those of its objects that may be given beside these."""
    own = arguments_of(request)
    inner = [arguments_of(each.properties) for _, each in own.values() if each.properties is not None and each.beside]
    beside = {name: (hint, replace(each, doc="")) for known in inner for name, (hint, each) in known.items()}
    return own | {name: each for name, each in beside.items() if name not in own}


@cache
def answer_fields(answer: type) -> tuple[tuple[str, Any, bool, object], ...]:
    """Name, type, whether it may be left out, and default of each field of an answer."""
    hints = get_type_hints(answer)
    return tuple(
        (item.name, hints[item.name], bool(item.metadata.get("optional")), _default_of(item))
        for item in dataclasses.fields(answer)
    )


def _default_of(item: dataclasses.Field[Any]) -> object:
    if item.default_factory is not dataclasses.MISSING:
        return item.default_factory()
    return item.default


Json = dict[str, Any]
R = TypeVar("R")


def join_notes(*notes: str) -> str:
    """Several notes as one, each once; empty ones are left out."""
    return "; ".join(dict.fromkeys(filter(None, notes)))


def make_record(kind: type[R], source: object, **others: Any) -> R:
    """A record of the attributes of `source` that have the names of its fields, and of `others`."""
    names = [item.name for item in dataclasses.fields(kind) if item.name not in others and hasattr(source, item.name)]  # type: ignore[arg-type]
    return kind(**{name: getattr(source, name) for name in names}, **others)


def make_json(answer: object, without: Collection[str] = (), instead: Mapping[str, Any] = MappingProxyType({})) -> Json:
    """An answer as a JSON object, without optional fields that have their defaults, and without the fields `without`.

    `instead` has the JSON of fields that are shown otherwise than they are.
    """
    return {
        name: instead[name] if name in instead else _make_plain(value)
        for name, value in _stated_fields(answer)
        if name not in without
    }


def _stated_fields(answer: object) -> Iterator[tuple[str, Any]]:
    """Names and values of a record, without optional fields that have their defaults."""
    if isinstance(answer, Mapping):
        yield from ((str(name), value) for name, value in answer.items())
        return
    kind: type = type(answer)
    for name, _, is_optional, default in answer_fields(kind):
        value = getattr(answer, name)
        if not (is_optional and value == default):
            yield name, value


# Checked first, because most values have these types and the other checks cost more.
_PLAIN = frozenset({str, int, float, bool, type(None)})


def _make_plain(value: object) -> Any:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Mapping) or (dataclasses.is_dataclass(value) and not isinstance(value, type)):
        return make_json(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, list | tuple):
        return [_make_plain(item) for item in value]
    return value
