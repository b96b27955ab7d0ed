"""Finds how handlers answer: the calls, and the keys of what they send."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from rag_ls.languages import family_of
from rag_ls.rules.survey.brackets import keys
from rag_ls.rules.survey.findings import MIN_COUNT, MIN_SHARE, SurveyFinding, Tally, shares
from rag_ls.rules.survey.forms import form
from rag_ls.rules.survey.sources import JAVASCRIPT, JVM, SurveyedFile

TOPIC = "responses"
_MIN_OTHER_SHARE = 0.15
_MAX_CHARACTERS_BEFORE_LITERAL = 60


_RES = r"\b(?:res|response|reply|_res)\s*(?:\.\s*(?:status|code|type|header|set)\s*\([^()\n]*\)\s*){0,3}"
_ANSWERS = (
    form(JAVASCRIPT, "res.json", "json", _RES + r"\.\s*json\s*\("),
    form(JAVASCRIPT, "res.send", "send", _RES + r"\.\s*send\s*\("),
    form(JAVASCRIPT, "c.json", "json", r"\b(?:c|ctx|context)\s*\.\s*json\s*\(", "hono", "Hono"),
    form(JAVASCRIPT, "ctx.body", "body", r"\bctx\s*\.\s*body\s*=(?!=)\s*"),
    form(JAVASCRIPT, "NextResponse.json", "json", r"\b(?:NextResponse|Response)\s*\.\s*json\s*\("),
    form(["python"], "jsonify", "jsonify", r"\bjsonify\("),
    form(["python"], "JSONResponse", "JSONResponse", r"(?<!class )\b(?:OR|UJ)?JSONResponse\("),
    form(["python"], "JsonResponse", "JsonResponse", r"(?<!class )\bJsonResponse\("),
    form(["python"], "Response", "Response", r"(?<![\w.])Response\(", "rest_framework"),
    form(
        ["go"],
        "c.JSON",
        "JSON",
        r"\b(?:c|ctx|gc|ec|context)\.(?:JSON|IndentedJSON|AbortWithStatusJSON)\(",
        "gin-gonic/gin",
        "labstack/echo",
        "gofiber/fiber",
    ),
    form(
        ["go"], "json.NewEncoder(w).Encode", "NewEncoder", r"\bjson\.NewEncoder\(\s*(?:w|rw|writer|res)\s*\)\.Encode\("
    ),
    form(["go"], "http.Error", "http.Error", r"\bhttp\.Error\("),
    form(["ruby"], "render json:", "render", r"\brender[ (]\s*json:\s*|\brender[ (]\s*:json\s*=>\s*"),
    form(["php"], "response()->json", "json", r"\bresponse\(\)->json\("),
    form(["php"], "JsonResponse", "JsonResponse", r"\bnew JsonResponse\("),
    form(
        JVM,
        "ResponseEntity",
        "ResponseEntity",
        r"\bResponseEntity\s*\.\s*\w+\s*\(|\bnew\s+ResponseEntity\s*<[^()\n]*>\s*\(",
    ),
    form(["rust"], "Json", "Json", r"(?<![\w:.<])Json\s*\(\s*(?!\w+\s*\)\s*[:,])", "axum", "actix"),
    form(["csharp"], "Ok", "Ok", r"\breturn\s+(?:\(?await\s+)?Ok\s*\(", "Controller"),
    form(["csharp"], "Results", "Results", r"\b(?:Typed)?Results\s*\.\s*\w+\s*\("),
    form(["elixir"], "json", "json", r"(?:\|>\s*|^[ \t]*)json\(", "conn"),
)
_MODEL = re.compile(r"^[ \t]*@[\w.]+\.(?:get|post|put|patch|delete)\(", re.MULTILINE)


@dataclass(slots=True)
class Responses:
    """Gathers the answers of all files."""

    calls: dict[str, Tally] = field(default_factory=dict)
    """The calls that answer, by language."""
    shapes: Tally = field(default_factory=Tally)
    """The sets of keys of the answers whose keys are written out."""
    single: Tally = field(default_factory=Tally)
    with_keys: int = 0
    handlers: int = 0
    models: Tally = field(default_factory=Tally)

    def read(self, source: SurveyedFile) -> None:
        family = family_of(source.language)
        for answer in _ANSWERS:
            for match in answer.find(source):
                self.calls.setdefault(family, Tally()).add(answer.label, source.place(match))
                self._keys(source, match)
        if source.language == "python" and "response_model" in source.code:
            self._models(source)

    def _keys(self, source: SurveyedFile, match: re.Match[str]) -> None:
        opening = _literal(source, match.end())
        found = keys(source, opening) if opening >= 0 else ()
        if not found:
            return
        self.with_keys += 1
        self.shapes.add("{" + ", ".join(found) + "}", source.place(match))
        for key in dict.fromkeys(found):
            self.single.add(key, source.place(match))

    def _models(self, source: SurveyedFile) -> None:
        for match in source.find(_MODEL):
            self.handlers += 1
            if "response_model" in source.code[match.end() : source.closing(match.end() - 1, 2000)]:
                self.models.add("response_model", source.place(match))

    def findings(self) -> Iterator[SurveyFinding]:
        for _, calls in sorted(self.calls.items(), key=lambda item: -item[1].total):
            for label in shares(calls, _MIN_OTHER_SHARE):
                yield calls.finding(TOPIC, f"Handlers answer with `{label}`", label)
        for shape in shares(self.shapes, _MIN_OTHER_SHARE):
            yield self.shapes.finding(TOPIC, f"The answer has the keys `{shape}`", shape, self.with_keys)
        for key in self.single.most_common():
            if self.single.count(key) >= MIN_SHARE * self.with_keys:
                yield self.single.finding(TOPIC, f"Answers have the key `{key}`", key, self.with_keys)
        if self.models.total >= MIN_COUNT:
            claim = "Endpoints declare their answer with `response_model`"
            yield self.models.finding(TOPIC, claim, "response_model", self.handlers)


def _literal(source: SurveyedFile, offset: int) -> int:
    """The offset at which the object, map or call with named arguments of an answer opens; -1 where it is a variable."""
    head = source.bare[offset : offset + _MAX_CHARACTERS_BEFORE_LITERAL]
    # `jsonify(a=1)` has its keys in its own brackets.
    if (
        re.match(r"\s*\w+\s*=(?!=)", head)
        and source.bare[offset - 1] == "("
        and not re.match(r"\s*(?:content|status)\b", head)
    ):
        return offset - 1
    # A status, the name of the map's type, or `content=` may come before the literal.
    match = re.match(
        r"\s*(?:[\w.]+\s*,\s*)?(?:content\s*=\s*)?(?:(?:data\s*=\s*)|[\w.]*\.?(?:H|Map|map\[string\]\w+(?:\{\})?)\b\s*)?([\[{])",
        head,
    )
    if match is None:
        match = re.match(r"\s*\w+\s*,\s*map\[string\](?:any|interface\{\})\s*(\{)", head) or re.match(r"\s*%(\{)", head)
    if match is None or (match[1] == "[" and source.language != "php"):
        return -1
    return offset + match.start(1)
