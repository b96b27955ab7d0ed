"""Counts the decorators, annotations and attributes in use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from rag_ls.rules.survey.findings import Finding, Tally
from rag_ls.rules.survey.sources import JAVASCRIPT, Source

TOPIC = "decorators"
_MAX_FINDINGS = 15

_AT = re.compile(r"^[ \t]*@(?!interface\b)([A-Za-z_][\w.]*)", re.MULTILINE)
_JAVASCRIPT_AT = re.compile(r"(?<![^\s(])@([A-Z]\w*)\s*\(")
_CSHARP = re.compile(r"^[ \t]*\[([A-Z]\w*)(?=\(|\]|,)", re.MULTILINE)
_PHP = re.compile(r"^[ \t]*#\[\\?([A-Z][\w\\]*)", re.MULTILINE)
_RUST = re.compile(r"^[ \t]*#\[((?:\w+::)*\w+)", re.MULTILINE)
_PATTERNS = {
    "python": _AT, "java": _AT, "kotlin": _AT, "scala": _AT, "csharp": _CSHARP, "php": _PHP, "rust": _RUST,
    **dict.fromkeys(JAVASCRIPT, _JAVASCRIPT_AT),
}  # fmt: skip
# Parts of the language, and those of every project.
_TRIVIAL = {
    "python": frozenset(
        "property staticmethod classmethod abstractmethod abc.abstractmethod overload override dataclass dataclasses.dataclass "
        "wraps functools.wraps contextmanager contextlib.contextmanager asynccontextmanager contextlib.asynccontextmanager "
        "cached_property functools.cached_property lru_cache functools.lru_cache cache functools.cache final typing.final "
        "typing.overload t.overload deprecated".split()
    ),
    "java": frozenset("Override SuppressWarnings Deprecated Test FunctionalInterface SafeVarargs Nullable NonNull NotNull".split()),
    "kotlin": frozenset("Override Suppress Deprecated JvmStatic JvmOverloads JvmField JvmName Throws OptIn file param get set".split()),
    "csharp": frozenset("Obsolete Flags Fact Theory Test".split()),
    "php": frozenset("Override ReturnTypeWillChange Route".split()),
    "rust": frozenset(
        "derive cfg cfg_attr allow warn deny expect test inline must_use doc non_exhaustive default feature path macro_use macro_export "
        "repr ignore deprecated cold track_caller automatically_derived no_mangle rustfmt::skip error from source".split()
    ),
}  # fmt: skip
_PROPERTY = re.compile(r"\.(?:setter|getter|deleter|register|fixture|mark)\b")
_ROUTE = re.compile(
    r"\.(?:get|post|put|patch|delete|head|options|route|websocket|api_route|on|event)$"
    r"|^(?:Get|Post|Put|Patch|Delete|All|Head|Options|Request)(?:Mapping)?$|^Http(?:Get|Post|Put|Patch|Delete)$"
)


@dataclass(slots=True)
class Decorators:
    """Gathers the decorators of all files."""

    tally: Tally = field(default_factory=Tally)

    def read(self, source: Source) -> None:
        pattern = _PATTERNS.get(source.language)
        if pattern is None or not any(mark in source.code for mark in "@[#"):
            return
        trivial = _TRIVIAL.get(source.language, frozenset())
        for match in source.find(pattern):
            name = match[1].rstrip(".")
            if name not in trivial and not _PROPERTY.search(name) and not _ROUTE.search(name):
                self.tally.add(_written(source.language, name), source.place(match))

    def findings(self) -> Iterator[Finding]:
        for name in self.tally.most_common()[:_MAX_FINDINGS]:
            yield self.tally.finding(TOPIC, f"`{name}` is in use", name, 0)


def _written(language: str, name: str) -> str:
    return {"csharp": f"[{name}]", "php": f"#[{name}]", "rust": f"#[{name}]"}.get(language, f"@{name}")
