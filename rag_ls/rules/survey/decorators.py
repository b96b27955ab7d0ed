"""Counts the decorators, annotations and attributes in use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from rag_ls.languages import find_language
from rag_ls.languages.patterns import compile_lines
from rag_ls.rules.survey.findings import SurveyFinding, Tally
from rag_ls.rules.survey.sources import SurveyedFile

TOPIC = "decorators"
_MAX_FINDINGS = 15

_PROPERTY = re.compile(r"\.(?:setter|getter|deleter|register|fixture|mark)\b")
_ROUTE = re.compile(
    r"\.(?:get|post|put|patch|delete|head|options|route|websocket|api_route|on|event)$"
    r"|^(?:Get|Post|Put|Patch|Delete|All|Head|Options|Request)(?:Mapping)?$|^Http(?:Get|Post|Put|Patch|Delete)$"
)


@dataclass(slots=True)
class Decorators:
    """Gathers the decorators of all files."""

    tally: Tally = field(default_factory=Tally)

    def read(self, source: SurveyedFile) -> None:
        syntax = find_language(source.language).decorators
        if syntax is None or not any(mark in source.code for mark in "@[#"):
            return
        for match in source.find(compile_lines(syntax.pattern)):
            name = match[1].rstrip(".")
            if name not in syntax.ordinary and not _PROPERTY.search(name) and not _ROUTE.search(name):
                self.tally.add(f"{syntax.start}{name}{syntax.end}", source.place(match))

    def findings(self) -> Iterator[SurveyFinding]:
        for name in self.tally.most_common()[:_MAX_FINDINGS]:
            yield self.tally.finding(TOPIC, f"`{name}` is in use", name, 0)
