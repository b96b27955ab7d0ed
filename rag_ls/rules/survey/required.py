"""Makes findings and rules of what nearly all handlers have: a middleware before them, a decorator, a key in their answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from rag_ls.rules.survey.file_facts import FileFacts, HandlerPlace
from rag_ls.rules.survey.findings import MIN_COUNT, MIN_SHARE, SourceLine, SurveyFinding, pick_examples
from rag_ls.rules.survey.frameworks import Form, load_frameworks

_WRITING = "Routes that write", "Handlers that write"


def required_findings(facts: Mapping[str, FileFacts], languages: Mapping[str, str]) -> Iterator[SurveyFinding]:
    """A finding for each thing that nearly all handlers of a sort have, with the rule that asks for it."""
    by_sort: dict[tuple[str, ...], list[tuple[str, HandlerPlace]]] = {}
    for path, each in facts.items():
        for handler in each.handlers:
            by_sort.setdefault(handler.sort, []).append((path, handler))
    said: set[str] = set()
    for form in _forms():
        places = by_sort.pop(form.sort, [])
        counts = Counter(name for _, handler in places for name in handler.names)
        used = sorted({languages[path] for path, _ in places})
        judged = frozenset(path for path, each in facts.items() if form.sort in each.judged)
        for name, count in counts.most_common():
            # A requirement of all routes is not repeated for the routes that write.
            if count < max(MIN_COUNT, MIN_SHARE * len(places)) or (name in said and form.sort[0] in _WRITING):
                continue
            said.add(name)
            claim = f"{form.sort[0]} {form.sort[1].format(name)}"
            rule = {
                "id": re.sub(r"[^A-Za-z0-9]+", "-", claim.lower()).strip("-"), "language": used,
                "match": (form.rule or {})["rule"], "require": form.require_name(name), "message": claim,
            }  # fmt: skip
            having = [SourceLine(path, handler.line) for path, handler in places if name in handler.names]
            yield SurveyFinding(
                topic=form.says("topic") or "middleware", claim=claim, count=count, total=len(places),
                examples=pick_examples(having), rule=rule, judged=judged, marks=form.marks,
                exceptions=tuple(dict.fromkeys(path for path, handler in places if name not in handler.names)),
            )  # fmt: skip


def _forms() -> Iterator[Form]:
    """The forms of handlers; those that one framework has from another count once."""
    forms = (form for framework in load_frameworks() for form in framework.forms if form.fact == "handler")
    # Writing routes come last.
    yield from sorted({form.sort: form for form in forms}.values(), key=lambda form: form.sort[0] in _WRITING)
