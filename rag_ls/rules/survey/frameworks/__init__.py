"""Frameworks as data: one YAML file each says how its routes, middleware, answers and events are written.

A file has `languages`, `needs` (a source holds one of these texts), perhaps `unless` (and none of these), `like`
(another framework, whose forms it has too), `mounted` where other files may put its routes below a prefix, unless a `router`
that is an `application` is made in the file ("calls": not those that annotations declare), and `forms`. A form is found by
`call`, `annotation` (patterns of names) or `rule` (of ast-grep), and says by one of `router`, `mount`, `scope`,
`resource`, `route`, `middleware`, `answer`, `event`, `handler` what is taken from it; `facts` reads the terms.
A `middleware` whose first argument may be a path has `below`: the last name after a path may be a router.
A `handler` has `require` besides, the rule of ast-grep that one with the thing satisfies, with `{}` for the thing's name:
where nearly all handlers have a thing, set-up makes a rule of the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from rag_ls.rules.survey.nodes import BARE_CALLS, annotation_kinds
from rag_ls.util.records import dataclass, field

# The text before the dot of a call is short where it matters.
_MAX_RECEIVER = 80
_DOTTED = re.compile(r"(?:([\w$]+)[?!]?|[^\w$])(?:\.|->|::)[ \t]*$")
_WORD = re.compile(r"[\w$]+")
FACTS = (
    "router",
    "scope",
    "mount",
    "resource",
    "route",
    "middleware",
    "answer",
    "event",
    "handler",
)
_FORM_KEYS = {*FACTS, "require", "call", "annotation", "rule", "constraints", "receiver", "of", "mark", "languages"}
_KEYS = {"name", "languages", "files", "needs", "unless", "like", "routers", "paths", "slash", "mounted", "forms"}


_SAYING = frozenset({"through", "name"})
"""The values of routers and scopes that say something by themselves, or of what has no name of its framework."""


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write one thing."""

    fact: str
    """One of `FACTS`."""
    values: Mapping[str, tuple[str, ...]]
    """The terms that say where each value stands; terms of one value are alternatives, or all hold (see the reader)."""
    call: re.Pattern[str] | None = None
    annotation: re.Pattern[str] | None = None
    rule: Mapping[str, Any] | None = None
    receiver: str | re.Pattern[str] = ""
    """The receiver: "routers" for those of the framework and of the file, else a pattern of its name."""
    of: str = ""
    """The declaration that an annotation stands at: "class" or "function"."""
    marks: tuple[str, ...] = ()
    """The file holds one of these texts, if there are any."""
    languages: frozenset[str] = frozenset()
    require: Mapping[str, Any] | None = None
    """Of a handler, the rule that one with a thing satisfies, with `{}` for the thing's name."""

    @property
    def sort(self) -> tuple[str, ...]:
        """Of a handler, the words for it and for what it may have, and the languages that it is in."""
        return self.says("handlers"), self.says("shown"), *sorted(self.languages)

    def says(self, key: str) -> str:
        """The constant that a form gives; "" for none."""
        return next(iter(self.values.get(key, ())), "")

    def is_named(self, name: str) -> bool:
        """Whether a name is one that the form means: those of `only`, if it has any, and none of `without`."""
        only, without = self.says("only"), self.says("without")
        return bool(re.search(only, name)) and not (without and re.search(without, name))


@dataclass(frozen=True, slots=True)
class FormGate:
    """The texts that some forms need, perhaps with what they are called on."""

    names: re.Pattern[str]
    """The names of the calls and annotations, as lines of a text's words."""
    text: re.Pattern[str]
    marks: tuple[str, ...] = ()
    """Texts of which one alone opens the gate."""
    receiver: re.Pattern[str] | None = None
    """Of calls, the name before the dot; None for any."""
    makes_receiver: re.Pattern[str] | None = None
    """A file with such a text may call what it calls on by any name."""

    def opens(self, text: str, words: str) -> bool:
        """Whether a file may hold one of the forms; `words` are those of its text (`words_of`)."""
        if any(mark in text for mark in self.marks):
            return True
        # The words of a file are a tenth of its text.
        if not self.names.search(words):
            return False
        if self.receiver is None or (self.makes_receiver is not None and self.makes_receiver.search(text)):
            return bool(self.text.search(text))
        return any(
            self._is_called_on(text[max(0, each.start() - _MAX_RECEIVER) : each.start()])
            for each in self.text.finditer(text)
        )

    def _is_called_on(self, before: str) -> bool:
        dotted = _DOTTED.search(before)
        if self.receiver is None or (dotted is not None and not dotted[1]):
            # A chain of calls: only its tree shows what it begins with.
            return True
        return bool(self.receiver.search(dotted[1].lstrip("$") if dotted is not None else ""))


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
    gates: tuple[FormGate, ...]
    """A file without such a text holds nothing that the framework says: it need not be parsed."""
    joins_as_written: bool
    """Whether `/users` and `/` make `/users/`."""
    mounted: str
    forms: tuple[Form, ...] = field(repr=False)

    def is_mounted(self, form: Form) -> bool:
        """Return whether another file may put a route of some form below a prefix."""
        return self.mounted == "all" or (self.mounted == "calls" and form.annotation is None)

    def is_named(self, path: str, text: str) -> bool:
        """Whether a file's path and text are as the framework needs them."""
        if self.files is not None and not self.files.search("/" + path):
            return False
        has_need = not self.needs or any(need in text for need in self.needs)
        return has_need and not any(word in text for word in self.unless)

    def has_forms(self, text: str, words: str) -> bool:
        """Whether a text may hold a form of the framework; `words` are those of the text (`words_of`)."""
        return any(gate.opens(text, words) for gate in self.gates)


def words_of(text: str) -> str:
    """The words of a text, each once on a line of its own."""
    return "\n".join(set(_WORD.findall(text)))


@cache
def load_frameworks() -> tuple[Framework, ...]:
    """The frameworks by name. Raises `ValueError` for a file with a key or a value that has no meaning."""
    folder = resources.files(__package__)
    data = {item.name[:-4]: _parse(item.read_text("utf-8")) for item in folder.iterdir() if item.name.endswith(".yml")}
    return tuple(_framework(name, data) for name in sorted(data))


@cache
def frameworks_of(language: str) -> tuple[Framework, ...]:
    """The frameworks of a language."""
    return tuple(each for each in load_frameworks() if language in each.languages)


def name_required(form: Form, name: str) -> dict[str, Any]:
    """The rule that a handler with the thing of this name satisfies."""
    return {key: _fill(value, re.escape(name)) for key, value in (form.require or {}).items()}


def _fill(value: Any, name: str) -> Any:
    if isinstance(value, str):
        return value.replace("{}", name)
    if isinstance(value, dict):
        return {key: _fill(each, name) for key, each in value.items()}
    return [_fill(each, name) for each in value] if isinstance(value, list) else value


def _parse(text: str) -> dict[str, Any]:
    import yaml

    return dict(yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


def _framework(name: str, data: Mapping[str, dict[str, Any]]) -> Framework:
    own = data[name]
    like: dict[str, Any] = data[own["like"]] if "like" in own else {}
    shared: dict[str, Any] = {key: like[key] for key in ("languages", "routers", "paths", "mounted") if key in like}
    found = {**shared, **own}
    if unknown := set(own) - _KEYS:
        raise ValueError(f"{name}.yml: {', '.join(sorted(unknown))} means nothing")
    forms = tuple(_form(f"{name}.yml", each) for each in [*like.get("forms", ()), *own.get("forms", ())])
    routers = found.get("routers", "(?!)")
    return Framework(
        name=found["name"], languages=frozenset(found["languages"]), needs=_texts(found.get("needs")),
        unless=_texts(found.get("unless")), files=re.compile(found["files"]) if "files" in found else None,
        routers=re.compile(routers), paths=re.compile(found.get("paths", "")), gates=tuple(_gates(forms, found["languages"], routers)),
        joins_as_written=found.get("slash") == "as written", mounted=found.get("mounted", ""), forms=forms,
    )  # fmt: skip


def _gates(forms: Iterable[Form], languages: Iterable[str], routers: str) -> Iterator[FormGate]:
    """The texts that the forms need which are more than preparation, and say something outside of routes too."""
    forms, opens = tuple(forms), r"\b" if BARE_CALLS & {*languages} else r"\s*[(<{]"
    marked = (
        r"@(?:[\w.]+[.:])?"
        if not any("attribute" in annotation_kinds(language) for language in languages)
        else r"[@\[,(:\s]"
    )
    marks, on = list[str](), dict[str, list[str]]()
    for form in forms:
        # A base class may have a route that those have which derive from it.
        is_preparation = form.fact in ("router", "scope", "handler") and not _SAYING & {*form.values}
        if is_preparation or form.says("inside") == "routes":
            continue
        if form.rule is not None:
            # A rule without marks shows no text.
            marks += form.marks or [""]
        elif form.annotation is not None:
            pattern = form.annotation.pattern
            yield FormGate(_lines([pattern]), re.compile(rf"{marked}(?:{pattern})\b"))
        elif form.call is not None and not form.receiver:
            pattern = form.call.pattern
            yield FormGate(_lines([pattern]), re.compile(rf"(?<![\w$])(?:{pattern}){opens}"))
        elif form.call is not None:
            receiver = routers if isinstance(form.receiver, str) else form.receiver.pattern
            on.setdefault(receiver, []).append(form.call.pattern)
    if marks:
        yield FormGate(_lines(()), re.compile(""), tuple(dict.fromkeys(marks)))
    makes = "|".join(form.call.pattern for form in forms if form.fact == "router" and form.call is not None)
    made = re.compile(rf"(?<![\w$])(?:{makes}){opens}") if makes else None
    for receiver, calls in on.items():
        text = re.compile(rf"(?<![\w$])(?:{'|'.join(calls)}){opens}")
        yield FormGate(_lines(calls), text, (), re.compile(receiver), made if receiver == routers else None)


def _lines(names: Sequence[str]) -> re.Pattern[str]:
    """A pattern of the lines that one of some patterns matches."""
    return re.compile(rf"(?m)^(?:{'|'.join(names)})$" if names else "(?!)")


def _form(file: str, data: Mapping[str, Any]) -> Form:
    facts = [fact for fact in FACTS if fact in data]
    if len(facts) != 1 or set(data) - _FORM_KEYS or not {"call", "annotation", "rule"} & set(data):
        raise ValueError(f"{file}: {dict(data)} is no form")
    on = data.get("receiver", "")
    rule = {key: data[key] for key in ("rule", "constraints") if key in data}
    return Form(
        fact=facts[0], values=dict(_values(data[facts[0]] or {})),
        call=re.compile(data["call"]) if "call" in data else None,
        annotation=re.compile(data["annotation"]) if "annotation" in data else None,
        rule=rule if "rule" in data else None, receiver=on if on in ("", "routers") else re.compile(on), of=data.get("of", ""),
        marks=_texts(data.get("mark")), languages=frozenset(_texts(data.get("languages"))),
        require=data.get("require"),
    )  # fmt: skip


def _values(data: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for key, value in data.items():
        yield key, _texts(value)


def _texts(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(map(str, value)) if isinstance(value, list) else (str(value),)
