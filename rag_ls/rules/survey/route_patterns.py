"""Finds what the endpoints of a project have in common."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rag_ls.rules.survey.file_facts import Endpoint
from rag_ls.rules.survey.findings import MIN_COUNT, SourceLine, SurveyFinding, Tally
from rag_ls.rules.survey.naming import MIN_NAMED, style_of

TOPIC = "endpoints"

_MAX_FILES_FOR_ONE = 20
_PARAMETER = re.compile(r"^[:{<(*\[]|[{}<>()*$]")
_ONE_WORD = re.compile(r"[A-Z]?[a-z0-9]+(?:\.|$)|[A-Z0-9]+(?:\.|$)")
"""A part that has no second word: `Storage`, `LNURL`."""
_MADE_STYLES = {(".rb", "snake_case"), (".cs", "PascalCase")}
"""The styles that Rails and ASP.NET give to the routes that they make of names in the code."""
_PROCEDURES = frozenset({"QUERY", "MUTATION", "SUBSCRIPTION", "RPC", "RESOURCES"})
"""Their routes are names of functions and tables."""
_ROUTE_FILES = re.compile(r"(^|/)(?:app|pages)/api/")
"""The files of Next.js whose folders are the routes."""


def route_findings(endpoints: Sequence[tuple[str, Endpoint]], files: int) -> Iterator[SurveyFinding]:
    """A prefix that nearly all have, and how parts of several words are written; of one among many files they show nothing."""
    if len({path for path, _ in endpoints}) == 1 and files > _MAX_FILES_FOR_ONE:
        return
    starts, styles, written = Tally(), Tally(), list[tuple[str, str, str]]()
    for path, endpoint in endpoints:
        place = SourceLine(path, endpoint.line)
        parts = [part for part in endpoint.route.split("/") if part]
        if parts:
            starts.add("/" + parts[0] if not _PARAMETER.search(parts[0]) else "", place)
        for part in parts if endpoint.method not in _PROCEDURES else ():
            if (
                not _PARAMETER.search(part)
                and not _ONE_WORD.match(part)
                and (style := style_of(part.partition(".")[0])) not in ("", "other")
            ):
                styles.add(style, place)
                written.append((endpoint.route, part, style))
    if (start := starts.convention()) and not all(map(_ROUTE_FILES.search, starts.files[start])):
        subject = "Routes as written" if any(each.is_mounted for _, each in endpoints) else "Routes"
        found = starts.finding(TOPIC, f"{subject} begin with `{start}`", start, len(endpoints))
        others = (each.route for _, each in endpoints if f"{each.route}/".partition(f"{start}/")[0])
        yield replace(found, exceptions=tuple(dict.fromkeys(others)))
    if style := styles.convention():
        suffixes = {posixpath.splitext(path)[1] for path in styles.files[style]}
        # One part of many routes is no style.
        if len({part for _, part, other in written if other == style}) < MIN_COUNT or all(
            (suffix, style) in _MADE_STYLES for suffix in suffixes
        ):
            return
        found = styles.finding(TOPIC, f"Parts of a route with several words are in {style}", style)
        if found.count < found.total < MIN_NAMED:
            return
        yield replace(found, exceptions=tuple(dict.fromkeys(route for route, _, other in written if other != style)))
