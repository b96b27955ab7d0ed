"""Finds what nearly all handlers have: a middleware before them, a decorator on them, a key in their answer.

Each form is a row: how ast-grep sees a handler in a language, and how it sees what the handler has. The rule that is
made of it counts; what is found here by words alone are candidates.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rag_ls.rules.survey.findings import MIN_COUNT, SurveyFinding

TOPIC = "middleware"

_MAX_CANDIDATES = 6
_MAX_FILES = 1500
"""With more such files a form is passed over: set-up must not take minutes."""
_JS_ROUTE = r"^\w*(?:[Rr]outer|[Aa]pp|[Rr]outes|server)\.(?:{})$"
_PY_ROUTE = r"^@\w+(?:\.\w+)*\.(?:{})\("
_WRITES, _ALL = "post|put|patch|delete", "get|post|put|patch|delete"


@dataclass(frozen=True, slots=True)
class HandlerForm:
    """A form of handlers, and of what they may have."""

    languages: tuple[str, ...]
    handler: str
    """The handlers, in words."""
    mark: str
    """A regular expression that the text of a file with such handlers matches."""
    named: str
    """A regular expression whose first group is the name of a candidate."""
    match: Mapping[str, object]
    require: str
    """The regular expression that a part must match, with `{}` for the name."""
    part: str
    """The kind of node in which the name is looked for; the handler has it."""
    shown: str
    """The words for what a handler has, with `{}` for the name."""


def _js(methods: str, handler: str) -> HandlerForm:
    call = {
        "kind": "call_expression",
        "all": [
            {"has": {"field": "function", "regex": _JS_ROUTE.format(methods)}},
            {"has": {"field": "arguments", "regex": r"^\(\s*[\"'`]/"}},
        ],
    }
    return HandlerForm(
        languages=("javascript", "typescript"), handler=handler, mark=r"\.(?:post|put|patch|delete|get)\(\s*[\"'`]/",
        named=r"\.(?:" + methods + r")\(\s*[\"'`]/[^\"'`]*[\"'`]\s*,\s*\[?\s*(\w+)\s*[,(]", match=call,
        require=r"^\(\s*[\"'`][^\"'`]*[\"'`]\s*,[^{>]*?\b{}\b", part="arguments", shown="take `{}`",
    )  # fmt: skip


def _decorated(methods: str, handler: str) -> HandlerForm:
    return HandlerForm(
        languages=("python",), handler=handler, mark=r"(?m)^[ \t]*@\w+(?:\.\w+)*\.(?:route|get|post|put|patch|delete)\(",
        named=r"(?m)^[ \t]*@(\w+(?:\.\w+)*)[ \t]*(?:\([^\n]*\))?[ \t]*\n(?=[ \t]*(?:@|def |async def ))",
        match={"kind": "decorated_definition", "has": {"kind": "decorator", "regex": _PY_ROUTE.format(methods)}},
        require=r"^@{}\b", part="decorator", shown="carry `@{}`",
    )  # fmt: skip


_JVM_ROUTE = r"@(?:Get|Post|Put|Patch|Delete|Request)Mapping\b"
_FORMS = (
    _js(_ALL, "Routes"),
    _js(_WRITES, "Routes that write"),
    _decorated("route|" + _ALL, "Handlers"),
    _decorated(_WRITES, "Handlers that write"),
    HandlerForm(
        languages=("python",), handler="Handlers", mark=r"\bDepends\(", named=r"\b(?:Depends|Security)\(\s*([\w.]+)",
        match={"kind": "decorated_definition", "has": {"kind": "decorator", "regex": _PY_ROUTE.format(_ALL)}},
        require=r"^\((?:.|\n)*\b(?:Depends|Security)\(\s*{}\b", part="parameters", shown="depend on `{}`",
    ),
    HandlerForm(
        languages=("python",), handler="Endpoints", mark=r"\bresponse_model\s*=", named=r"\b(response_model)\s*=",
        match={"kind": "decorated_definition", "has": {"kind": "decorator", "regex": _PY_ROUTE.format(_ALL)}},
        require=r"^@(?:.|\n)*\b{}\b", part="decorator", shown="declare their answer with `{}`",
    ),
    HandlerForm(
        languages=("java", "kotlin"), handler="Handlers", mark=_JVM_ROUTE, named=r"@(\w+)",
        match={"kind": "method_declaration", "has": {"kind": "modifiers", "regex": _JVM_ROUTE}},
        require=r"@{}\b", part="modifiers", shown="carry `@{}`",
    ),
    HandlerForm(
        languages=("typescript",), handler="Controllers", mark=r"@Controller\(", named=r"(?m)^@(\w+)\(",
        match={"kind": "export_statement", "has": {"kind": "decorator", "regex": r"^@Controller\("}},
        require=r"^@{}\b", part="decorator", shown="carry `@{}`",
    ),
    HandlerForm(
        languages=("csharp",), handler="Controllers", mark=r"\[ApiController\]|: Controller(?:Base)?\b", named=r"(?m)^[ \t]*\[(\w+)",
        match={"kind": "class_declaration", "regex": r"^(?:\[[^\n]*\]\s*)*public[^\n{]*Controller\b"},
        require=r"^\[{}\b", part="attribute_list", shown="carry `[{}]`",
    ),
)  # fmt: skip
_ROUTES = re.compile(
    r"^(?:route|get|post|put|patch|delete|Controller|Override|ApiController|Route|\w+Mapping|RestController|async|function|req|res|ctx|c)$"
    r"|\.(?:route|get|post|put|patch|delete)$|^catchAsync|^asyncHandler$|Http(?:Get|Post|Put|Delete|Patch)$"
)
_ANSWER_KEYS = re.compile(r"^(?:The answer has the keys|Answers have the key) `\{?([\w, ]+)\}?`$")
_ABSOLUTE = re.compile(r"^Python modules import one another by the package's full name$")


def required_findings(texts: Mapping[str, str], languages: Mapping[str, str]) -> Iterator[SurveyFinding]:
    """Candidates: their rules are still to be counted, so count and total are 0."""
    for number, form in enumerate(_FORMS):
        mark, named = re.compile(form.mark), re.compile(form.named)
        files = [
            path for path, language in languages.items() if language in form.languages and mark.search(texts[path])
        ]
        counts = Counter(name for path in files for name in named.findall(texts[path]) if not _ROUTES.search(name))
        if len(files) > _MAX_FILES:
            continue
        for name, count in counts.most_common(_MAX_CANDIDATES):
            if count < MIN_COUNT:
                continue
            used = sorted({languages[path] for path in files})
            claim = f"{form.handler} {form.shown.format(name)}"
            rule = {
                "id": f"{form.handler.lower().replace(' ', '-')}-{re.sub(r'[^A-Za-z0-9]+', '-', name)}-{number}", "language": used,
                "match": dict(form.match), "require": _having(form.part, form.require.replace("{}", re.escape(name))),
                "message": claim,
            }  # fmt: skip
            yield SurveyFinding(topic=TOPIC, claim=claim, count=0, total=0, examples=(), rule=rule)


def _having(part: str, regex: str) -> dict[str, object]:
    # Parameters lie within the function that is decorated.
    deep = {"stopBy": "end"} if part == "parameters" else {}
    return {"has": {"kind": part, "regex": regex, **deep}}


def ruled(finding: SurveyFinding, languages: Mapping[str, str]) -> Mapping[str, object] | None:
    """The rule that checks a finding of another topic; None where there is none."""
    if _ABSOLUTE.match(finding.claim):
        rule = {"kind": "relative_import"}
        return {"id": "absolute-imports", "language": "python", "forbid": rule, "message": finding.claim}
    keys = _ANSWER_KEYS.match(finding.claim)
    used = sorted({language for language in languages.values() if language in ("javascript", "typescript")})
    if finding.topic != "responses" or keys is None or not used or not finding.examples:
        return None
    if languages.get(finding.examples[0].path) not in used:
        return None
    names = [name.strip() for name in keys[1].split(",")]
    call = {"kind": "call_expression", "has": {"field": "function", "regex": r"\.(?:json|send)$"}}
    has = [
        {
            "any": [
                {"has": {"kind": "pair", "regex": rf"^[\"']?{name}\b"}},
                {"has": {"kind": "shorthand_property_identifier", "regex": f"^{name}$"}},
            ]
        }
        for name in names
    ]
    return {
        "id": "answers-have-" + "-".join(names), "language": used,
        "match": {"kind": "object", "inside": {"kind": "arguments", "inside": call}}, "require": {"all": has}, "message": finding.claim,
    }  # fmt: skip
