"""Finds what the endpoints of a project have in common."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rag_ls.rules.survey.findings import MAX_EXAMPLES, SourceLine, SurveyFinding, Tally
from rag_ls.rules.survey.naming import style_of
from rag_ls.rules.survey.routes import Endpoint

TOPIC = "endpoints"

_PARAMETER = re.compile(r"^[:{<(*\[]|[{}<>()*$]")


def route_findings(endpoints: Sequence[tuple[str, Endpoint]]) -> Iterator[SurveyFinding]:
    """A prefix that nearly all have, and how parts of several words are written."""
    starts, styles, written = Tally(), Tally(), list[tuple[str, str]]()
    for path, endpoint in endpoints:
        place = SourceLine(path, endpoint.line)
        parts = [part for part in endpoint.route.split("/") if part]
        if parts:
            starts.add("/" + parts[0] if not _PARAMETER.search(parts[0]) else "", place)
        for part in parts:
            if not _PARAMETER.search(part) and (style := style_of(part.partition(".")[0])) not in ("", "other"):
                styles.add(style, place)
                written.append((endpoint.route, style))
    if (start := starts.convention()) and len(endpoints) > starts.count(start) // 2:
        yield starts.finding(TOPIC, f"Routes begin with `{start}`", start, len(endpoints))
    if style := styles.convention():
        found = styles.finding(TOPIC, f"Parts of a route with several words are in {style}", style)
        yield replace(found, exceptions=tuple(dict.fromkeys(route for route, other in written if other != style)))


def unknown_findings(places: Sequence[SourceLine], known: int) -> Iterator[SurveyFinding]:
    """The routes that the code makes when it runs: of variables, in loops."""
    if places:
        what = "1 route has a path" if len(places) == 1 else f"{len(places)} routes have paths"
        shows = "shows" if len(places) == 1 else "show"
        claim = f"{what} that only {shows} when the program runs (of variables, in loops): unknown here"
        yield SurveyFinding(TOPIC, claim, len(places), len(places) + known, tuple(places[:MAX_EXAMPLES]))
