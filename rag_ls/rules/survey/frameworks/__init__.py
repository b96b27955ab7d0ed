"""Frameworks as data: one YAML file each says how its routes, middleware, answers and events are written.

A file has `languages`, `needs` (a source holds one of these texts), perhaps `unless` (and none of these), `files` (a pattern of
paths, whose first group is the route), `like` (another framework, whose forms it has too), `mounted` where other files may put
its routes below a prefix ("calls": not those that annotations declare), and `forms`. A form is found by `call`, `annotation`
(patterns of names) or `rule` (of ast-grep), and says by one of `FACTS` what is taken from it; `found_forms` reads its terms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from rag_ls.util.records import dataclass

FACTS = ("router", "mount", "scope", "route", "middleware", "answer", "event")
"""In the order in which they are read: prefixes are known before routes, and routes before what stands in them."""
_FORM_KEYS = {*FACTS, "call", "annotation", "rule", "constraints", "receiver", "mark", "languages"}
_KEYS = {"name", "languages", "files", "needs", "unless", "like", "routers", "paths", "slash", "mounted", "forms"}
_SHARED = ("languages", "routers", "paths", "mounted")


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write one thing."""

    fact: str
    """One of `FACTS`."""
    values: Mapping[str, tuple[str, ...]]
    """The terms of each value; the first that stands for anything counts."""
    call: re.Pattern[str] | None
    annotation: re.Pattern[str] | None
    rule: Mapping[str, Any] | None
    receiver: str
    """A pattern of the name that a call is on; "routers" for those of the framework and of the file, "" for any."""
    marks: tuple[str, ...]
    """The file holds one of these texts, if there are any."""
    languages: frozenset[str]

    def says(self, key: str) -> str:
        """The constant that a form gives; "" for none."""
        return next(iter(self.values.get(key, ())), "")

    def is_named(self, name: str) -> bool:
        """Whether a name is one that the form means: those of `only`, if it has any, and none of `without`."""
        only, without = self.says("only"), self.says("without")
        return bool(re.search(only, name)) and not (without and re.search(without, name))

    def is_in(self, text: str, language: str) -> bool:
        """Whether a text of a language may hold the form."""
        return language in self.languages and (not self.marks or any(mark in text for mark in self.marks))


@dataclass(frozen=True, slots=True)
class Framework:
    """A framework, as its file describes it."""

    name: str
    languages: frozenset[str]
    needs: tuple[str, ...]
    unless: tuple[str, ...]
    files: re.Pattern[str] | None
    """The paths of its files; its first group is the route that a path stands for."""
    routers: re.Pattern[str]
    """The usual names of what routes are declared on."""
    paths: re.Pattern[str]
    """The beginning of a route."""
    joins_as_written: bool
    """Whether `/users` and `/` make `/users/`."""
    mounted: str
    forms: tuple[Form, ...]

    def is_mounted(self, form: Form) -> bool:
        """Whether another file may put a route of some form below a prefix."""
        return self.mounted == "all" or (self.mounted == "calls" and form.call is not None)

    def is_named(self, path: str, text: str) -> bool:
        """Whether a file's path and text are as the framework needs them."""
        if self.files is not None and not self.files.search("/" + path):
            return False
        has_need = not self.needs or any(need in text for need in self.needs)
        return has_need and not any(word in text for word in self.unless)


@cache
def load_frameworks() -> tuple[Framework, ...]:
    """The frameworks by name. Raises `ValueError` for a file with a key or a value that has no meaning."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    files = (item for item in resources.files(__package__).iterdir() if item.name.endswith(".yml"))
    data = {item.name[:-4]: dict(yaml.load(item.read_text("utf-8"), loader)) for item in files}
    return tuple(_read_framework(name, data) for name in sorted(data))


@cache
def frameworks_of(language: str) -> tuple[Framework, ...]:
    """The frameworks of a language."""
    return tuple(each for each in load_frameworks() if language in each.languages)


def _read_framework(name: str, data: Mapping[str, dict[str, Any]]) -> Framework:
    own = data[name]
    like: dict[str, Any] = data[own["like"]] if "like" in own else {}
    found = {**{key: like[key] for key in _SHARED if key in like}, **own}
    if unknown := set(own) - _KEYS:
        raise ValueError(f"{name}.yml: {', '.join(sorted(unknown))} means nothing")
    languages = frozenset(found["languages"])
    forms = [read_form(f"{name}.yml", each, languages) for each in [*like.get("forms", ()), *own.get("forms", ())]]
    return Framework(
        name=found["name"], languages=languages, needs=_list_texts(found.get("needs")), unless=_list_texts(found.get("unless")),
        files=_compile(found.get("files")), routers=re.compile(found.get("routers", "(?!)")), paths=re.compile(found.get("paths", "")),
        joins_as_written=found.get("slash") == "as written", mounted=found.get("mounted", ""), forms=tuple(forms),
    )  # fmt: skip


def read_form(file: str, data: Mapping[str, Any], languages: frozenset[str]) -> Form:
    """A form from its entry. Raises `ValueError` for an entry that is none."""
    facts = [fact for fact in FACTS if fact in data]
    if len(facts) != 1 or set(data) - _FORM_KEYS or not {"call", "annotation", "rule"} & set(data):
        raise ValueError(f"{file}: {dict(data)} is no form")
    values = {key: _list_texts(value) for key, value in (data[facts[0]] or {}).items()}
    rule = {key: data[key] for key in ("rule", "constraints") if key in data}
    return Form(
        fact=facts[0], values=values, call=_compile(data.get("call")), annotation=_compile(data.get("annotation")),
        rule=rule if "rule" in data else None, receiver=data.get("receiver", ""), marks=_list_texts(data.get("mark")),
        languages=frozenset(_list_texts(data.get("languages"))) or languages,
    )  # fmt: skip


def _compile(pattern: str | None) -> re.Pattern[str] | None:
    return None if pattern is None else re.compile(pattern)


def _list_texts(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(map(str, value)) if isinstance(value, list) else (str(value),)
