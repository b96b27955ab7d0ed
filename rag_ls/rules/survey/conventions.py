"""Counts what the routes, the middleware and the answers of all files have in common."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from rag_ls.rules.survey.file_facts import Endpoint, FileFacts
from rag_ls.rules.survey.findings import (
    MAX_EXAMPLES,
    MIN_COUNT,
    MIN_SHARE,
    SourceLine,
    SurveyFinding,
    Tally,
    list_names,
    pick_examples,
)
from rag_ls.rules.survey.layout import MIN_NAMED, style_of

Facts = Mapping[str, FileFacts]
"""The facts of each file, by path."""
Endpoints = Sequence[tuple[str, Endpoint]]
"""Each endpoint with the path of its file."""

_USUAL_MIDDLEWARE = re.compile(
    r"express\.\w+|(?:bodyParser\.)?(?:json|urlencoded)|gin\.(?:Recovery|Logger|Default)|protect_from_forgery|fetch_\w+|(?:Plug|Phoenix)\.[\w.]+"
    r"|(?:Authentication|Common|CsrfView|Locale|Message|Security|Session|XFrameOptions)Middleware"
    r"|Use(?:Authentication|Authorization|HttpsRedirection|StaticFiles|Routing|Hsts|DeveloperExceptionPage|ExceptionHandler|Swagger(?:UI)?"
    r"|BlazorFrameworkFiles|Migrations?EndPoint|CookiePolicy|HealthChecks|Antiforgery|Middleware)"
)
"""Middleware that nearly any application of its framework has."""
_CARRIERS = "Handlers", "Controllers", "Views", "Routes"
"""The labels of what many places carry: one or two of them show nothing."""
_FEW_ROUTES = 2 * MIN_COUNT
"""A project with no more routes is small: half of them show a pattern."""
_ENVELOPE = (
    "success", "ok", "status", "code", "data", "result", "results", "items", "payload", "meta", "error", "errors", "message", "msg",
)  # fmt: skip
"""The keys of an envelope, in the order in which they are told; other keys are of the thing itself."""
_MAX_WORDS = 4
_MAX_FILES_FOR_ONE = 20
"""Of so many files, one that has all routes shows no convention."""
_PARAMETER = re.compile(r"^[:{<(*\[]|[{}<>()*$]")
_ONE_WORD = re.compile(r"[A-Z]?[a-z0-9]+(?:\.|$)|[A-Z0-9]+(?:\.|$)")
"""A part of a route that has no second word: `Storage`, `LNURL`."""
_MADE_STYLES = {(".rb", "snake_case"), (".cs", "PascalCase")}
"""The styles that Rails and ASP.NET give to the routes that they make of names in the code."""
_PROCEDURES = frozenset({"QUERY", "MUTATION", "SUBSCRIPTION", "RPC", "RESOURCES"})
"""Their routes are names of functions and tables."""
_ROUTE_FILES = re.compile(r"(^|/)(?:app|pages)/api/")
"""The files of Next.js whose folders are the routes."""


def middleware_findings(facts: Facts) -> Iterator[SurveyFinding]:
    """Make a finding of each way in which middleware is registered, with how often each name stands there."""
    by_label: dict[str, Tally] = {}
    for path, each in facts.items():
        for use in each.middleware:
            by_label.setdefault(use.label, Tally()).add(use.name, SourceLine(path, use.line))
    for label, names in sorted(by_label.items(), key=lambda item: (-item[1].total, item[0])):
        common = names.most_common(MIN_COUNT if label.startswith(_CARRIERS) else 1)
        told = [name for name in common if not _USUAL_MIDDLEWARE.fullmatch(name)]
        if names.total >= MIN_COUNT and told:
            # A label of several words is the beginning of the sentence.
            shown = list_names(told, counts=names.counts if len(told) > 1 else None)
            claim = f"{label} {shown}" if " " in label else f"`{label}` registers, among others, {shown}"
            yield names.sum_of(told, "middleware", claim)


def list_middleware(facts: Facts) -> tuple[str, ...]:
    """The middleware of applications and routers, and what is common before single routes; the most frequent first.

    Before single routes it is common with three uses, or on half of a small project's routes.
    """
    routes = sum(len(each.endpoints) for each in facts.values())
    of_routes, together = Tally(), Tally()
    for each in facts.values():
        for use in each.middleware:
            (of_routes if use.is_of_route else together).add(use.name)
    least = min(MIN_COUNT, max(1, (routes + 1) // 2)) if routes <= _FEW_ROUTES else MIN_COUNT
    for name in of_routes.most_common(least):
        together.counts[name] = together.count(name) + of_routes.count(name)
    return tuple(together.most_common(1))


def response_findings(facts: Facts, endpoints: Endpoints) -> Iterator[SurveyFinding]:
    """The keys that nearly all answers have together, in one claim; of two files, where more than two have routes."""
    answers = _answers_with_keys(facts)
    kept, having = list[str](), answers
    for key in _count_keys(answers).most_common():
        with_key = [each for each in having if key in each[1]]
        if len(with_key) >= max(MIN_COUNT, MIN_SHARE * len(answers)):
            kept.append(key)
            having = with_key
    files = {place.path for place, _ in having}
    if kept and (len(files) > 1 or len({path for path, _ in endpoints}) <= MAX_EXAMPLES):
        others = (place.path for place, keys in answers if not set(kept).issubset(keys))
        yield SurveyFinding(
            topic="responses", claim=f"Answers have the {'key' if len(kept) == 1 else 'keys'} {list_names(kept)}",
            count=len(having), total=len(answers), examples=pick_examples(place for place, _ in having),
            exceptions=tuple(dict.fromkeys(others)),
        )  # fmt: skip


def name_response_format(facts: Facts) -> str:
    """The envelope of nearly all answers as a word, "success_data_error"; "" where they share none."""
    answers = _answers_with_keys(facts)
    enveloped = sum(not set(_ENVELOPE).isdisjoint(keys) for _, keys in answers)
    if len(answers) < 2 or enveloped < MIN_SHARE * len(answers):
        return ""
    keys, least = _count_keys(answers), min(MIN_COUNT, max(1, len(answers) // 4))
    return "_".join([word for word in _ENVELOPE if keys.count(word) >= least][:_MAX_WORDS])


def _answers_with_keys(facts: Facts) -> list[tuple[SourceLine, tuple[str, ...]]]:
    return [
        (SourceLine(path, answer.line), answer.keys)
        for path, each in facts.items()
        for answer in each.answers
        if answer.keys
    ]


def _count_keys(answers: Collection[tuple[SourceLine, tuple[str, ...]]]) -> Tally:
    tally = Tally()
    for _, keys in answers:
        for key in dict.fromkeys(keys):
            tally.add(key)
    return tally


def route_findings(endpoints: Endpoints, files: int) -> Iterator[SurveyFinding]:
    """A prefix that nearly all routes have, and how their parts of several words are written."""
    if len({path for path, _ in endpoints}) == 1 and files > _MAX_FILES_FOR_ONE:
        return
    starts, styles, written = Tally(), Tally(), list[tuple[str, str, str]]()
    for path, endpoint in endpoints:
        place = SourceLine(path, endpoint.line)
        parts = [part for part in endpoint.route.split("/") if part]
        if parts:
            starts.add("/" + parts[0] if not _PARAMETER.search(parts[0]) else "", place)
        for part in parts if endpoint.method not in _PROCEDURES else ():
            style = style_of(part.partition(".")[0])
            if style not in ("", "other") and not (_PARAMETER.search(part) or _ONE_WORD.match(part)):
                styles.add(style, place)
                written.append((endpoint.route, part, style))
    if (start := starts.convention()) and not all(map(_ROUTE_FILES.search, starts.files[start])):
        subject = "Routes as written" if any(each.is_mounted for _, each in endpoints) else "Routes"
        found = starts.finding("endpoints", f"{subject} begin with `{start}`", start, len(endpoints))
        others = (each.route for _, each in endpoints if f"{each.route}/".partition(f"{start}/")[0])
        yield replace(found, exceptions=tuple(dict.fromkeys(others)))
    if style := styles.convention():
        suffixes = {posixpath.splitext(path)[1] for path in styles.files[style]}
        found = styles.finding("endpoints", f"Parts of a route with several words are in {style}", style)
        # One part of many routes is no style.
        has_parts = len({part for _, part, other in written if other == style}) >= MIN_COUNT
        is_made = all((suffix, style) in _MADE_STYLES for suffix in suffixes)
        if has_parts and not is_made and (found.count == found.total or found.total >= MIN_NAMED):
            yield replace(
                found, exceptions=tuple(dict.fromkeys(route for route, _, other in written if other != style))
            )
